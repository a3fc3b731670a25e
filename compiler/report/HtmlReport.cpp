//===- HtmlReport.cpp - an artifact as a page ------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names come from models, which may be hostile: all text is printed as Html, which
// escapes it.
//
//===----------------------------------------------------------------------===//

#include "compiler/report/HtmlReport.h"
#include "compiler/artifact/OutputFile.h"
#include "compiler/report/CodeSection.h"
#include "compiler/report/Describe.h"
#include "compiler/report/ErrorFigures.h"
#include "compiler/report/GraphSection.h"
#include "compiler/report/Html.h"
#include "compiler/report/HtmlPage.h"
#include "compiler/report/LaunchNames.h"
#include "compiler/report/Measurements.h"
#include "compiler/report/MemoryFigures.h"
#include "compiler/report/MemoryMap.h"
#include "compiler/report/Meta.h"
#include "compiler/report/Roofline.h"
#include "compiler/report/Summary.h"
#include "compiler/report/Table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <numeric>

using namespace tenon;
using rt::Storage;

/// Upper bound for the inputs, outputs or symbols in the summary.
static constexpr size_t kMaxItems = 6;
/// Instructions that a cell links to.
static constexpr size_t kMaxLinks = 8;

namespace {
class Page {
public:
  /// `types` are those of inputs and outputs with the names of their dynamic dimensions.
  Page(const ArtifactView &view, const ReportOptions &options, llvm::ArrayRef<std::string> types,
       const Measurements *measured, llvm::raw_ostream &os)
      : view(view), plan(view.getPlan()), options(options), types(types), measured(measured), meta(readMeta(view)),
        paths(readPaths(view)), weightTypes(readWeightTypes(view)), os(os) {
    findUses();
  }
  /// `whyNoSizes` is empty if all sizes are known.
  void print(const std::string &whyNoSizes);

private:
  void printTable(llvm::StringRef title, const HtmlTable &table, const Html &note = {});
  void printItems(llvm::StringRef title, llvm::ArrayRef<std::string> items, llvm::StringRef separator);
  std::string getCommand() const;
  void printSizes(const std::string &whyNoSizes);
  void printChoice();
  void printTensors(llvm::StringRef title, const std::vector<rt::Tensor> &tensors, llvm::ArrayRef<std::string> general);
  void printTargets();
  void printSummary();
  void printMap(const std::string &whyNoSizes);
  void printSymbols();
  void printMemory();
  void printCompilation();
  void printPhases();
  void printTargetTable();
  void findUses();
  Html getInstructionLinks(llvm::ArrayRef<uint32_t> instructions) const;
  void printKernelRow(uint32_t index, const RunWork &work, double share, HtmlTable &table) const;
  void printKernels();
  Html getFieldLinks(const rt::Instruction &instruction) const;
  Html getBufferLinks(const rt::Instruction &instruction) const;
  void printInstructions();
  void printBuffers();
  void printWeights();
  std::string getWeightType(uint32_t buffer) const;

  const ArtifactView &view;
  const rt::Plan &plan;
  const ReportOptions &options;
  llvm::ArrayRef<std::string> types; // of inputs, then of outputs
  const Measurements *measured;
  nlohmann::ordered_json meta, paths; // what the compiler wrote of the artifact, and of it the paths of kernels
  std::map<uint64_t, std::string> weightTypes;       // by the offset in their section
  std::vector<std::vector<uint32_t>> launches, uses; // the instructions that name a kernel, and a buffer
  llvm::raw_ostream &os;
};
} // namespace

void Page::printTable(llvm::StringRef title, const HtmlTable &table, const Html &note) {
  if (table.empty())
    return;
  os << beginSection(title);
  if (!note.empty())
    os << "<p class=\"note\">" << note << "</p>\n";
  table.print(os);
  os << "</section>\n";
}

/// Prints one entry of the summary; only the first items are shown, and the others are collapsed.
void Page::printItems(llvm::StringRef title, llvm::ArrayRef<std::string> items, llvm::StringRef separator) {
  if (items.empty())
    return;
  os << "<dt>" << Html(title) << "</dt><dd>" << Html(llvm::join(items.take_front(kMaxItems), separator));
  if (items.size() > kMaxItems)
    os << Html::folded("and " + groupDigits(items.size() - kMaxItems) + " more",
                       llvm::join(items.drop_front(kMaxItems), separator));
  os << "</dd>\n";
}

/// Quotes a word for a POSIX shell.
static std::string quote(const std::string &word) {
  auto isPlain = [](char c) { return llvm::isAlnum(c) || llvm::StringRef("_-./=:+,@%").contains(c); };
  if (!word.empty() && llvm::all_of(word, isPlain))
    return word;
  std::string quoted = "'";
  for (char c : word)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// Returns the command that writes this page, to be run in the folder of the artifact; the user may change its sizes.
std::string Page::getCommand() const {
  auto getFile = [](const std::string &path) {
    std::string name = getPrintable(llvm::sys::path::filename(path));
    return quote(llvm::StringRef(name).starts_with("-") ? "./" + name : name);
  };
  std::string command = "tenon inspect " + getFile(options.artifact);
  if (!options.choice.target.empty())
    command += " --target " + quote(options.choice.target);
  if (options.choice.program)
    command += " --program " + std::to_string(*options.choice.program);
  const PlanSizes *sizes = view.getSizes();
  for (auto [i, symbol] : llvm::enumerate(plan.symbols))
    if (symbol.isEarly() && symbol.min != symbol.max)
      command += " --size " +
                 quote(getPrintable(symbol.name) + "=" +
                       std::to_string(sizes ? sizes->symbols[i] : std::clamp<int64_t>(1, symbol.min, symbol.max)));
  if (!options.measurements.empty())
    command += " --measured " + getFile(options.measurements);
  return command + " --report " + getFile(options.report);
}

/// Prints the sizes for which the figures hold, since a reader might mistake those of assumed sizes for requirements of
/// the model.
void Page::printSizes(const std::string &whyNoSizes) {
  const PlanSizes *sizes = view.getSizes();
  std::vector<std::string> given, assumed;
  for (auto [i, symbol] : llvm::enumerate(plan.symbols))
    if (sizes && symbol.isEarly() && symbol.min != symbol.max)
      (sizes->symbolAssumed[i] ? assumed : given)
          .push_back(getPrintable(symbol.name) + " = " + std::to_string(sizes->symbols[i]));
  if (whyNoSizes.empty() && given.empty() && assumed.empty())
    return;
  os << "<p class=\"sizes\">";
  if (!whyNoSizes.empty())
    os << "No sizes are known: " << Html(getPrintable(whyNoSizes)) << ". Figures are bounds for all sizes.";
  if (!given.empty())
    os << "All figures are for " << Html(llvm::join(given, ", ")) << '.';
  if (!given.empty() && !assumed.empty())
    os << " Without a size given, ";
  else if (!assumed.empty())
    os << "All figures are for assumed sizes: ";
  if (!assumed.empty())
    os << Html(llvm::join(assumed, ", "))
       << (given.empty()         ? "."
           : assumed.size() == 1 ? " is assumed."
                                 : " are assumed.");
  os << (whyNoSizes.empty() ? " For others: " : " For some sizes: ") << Html::element("code", getCommand()) << "</p>\n";
}

/// Prints which of several plans in the file the page describes.
void Page::printChoice() {
  const std::vector<ArtifactView::Program> &programs = view.getPrograms();
  size_t numTargets = view.getTargets().size(), program = options.choice.program.value_or(programs.size() - 1);
  if (numTargets == 1 && programs.size() == 1)
    return;
  os << "<p class=\"sizes\">This page is about";
  if (numTargets > 1)
    os << " target " << Html(view.getTarget().name) << ", one of " << numTargets << " (<code>--target</code>)";
  if (programs.size() > 1)
    os << (numTargets > 1 ? ", and" : "") << " program " << program << ", for " << Html(listPrograms(view)[program])
       << ", one of " << programs.size() << " (<code>--program</code>)";
  os << ".</p>\n";
}

/// Prints types with the names of dynamic dimensions, and with their sizes.
void Page::printTensors(llvm::StringRef title, const std::vector<rt::Tensor> &tensors,
                        llvm::ArrayRef<std::string> general) {
  std::vector<std::string> items;
  for (auto [item, type, tensor] : llvm::zip_equal(listTensors(view, tensors), general, tensors)) {
    bool isStatic = getType(view, tensor) == type;
    items.push_back(isStatic ? item : getPrintable(tensor.name) + ": " + type + ", here " + getType(view, tensor));
  }
  printItems(title, items, "; ");
}

/// Processor features are collapsed, because dozens of them would fill the first screen.
void Page::printTargets() {
  std::vector<std::string> targets = listTargets(view);
  os << "<dt>" << (targets.size() == 1 ? "target" : "targets") << "</dt><dd>" << Html(llvm::join(targets, ", "))
     << "\n<details><summary>processor features</summary>";
  for (const fmt::Section &section : view.getContainer().sections)
    if (section.kind == fmt::SectionKind::code)
      os << "<p>"
         << Html(getPrintable(rt::targetName(section)) + ": " +
                 llvm::join(llvm::split(getPrintable(rt::targetNeeds(section)), ','), ", "))
         << "</p>";
  os << "</details></dd>\n";
}

void Page::printSummary() {
  os << "<dl>\n";
  printTensors("inputs", plan.inputs, types.take_front(plan.inputs.size()));
  printTensors("outputs", plan.outputs, types.drop_front(plan.inputs.size()));
  printItems("symbols", listSymbols(plan), ", ");
  printTargets();
  if (view.getPrograms().size() > 1)
    printItems("programs", listPrograms(view), "; ");
  printItems("memory", listMemoryItems(view), " + ");
  printItems("work", listWork(view), ", ");
  printItems("error", listErrors(view.getMeta()), "; ");
  os << "</dl>\n";
}

void Page::printMap(const std::string &whyNoSizes) {
  os << beginSection("Memory map");
  if (view.getLiveness())
    printMemoryMap(view, os);
  else
    os << "<p>There is none: " << (whyNoSizes.empty() ? "the plan is too large" : "it needs sizes") << "</p>\n";
  os << "</section>\n";
}

void Page::printSymbols() {
  HtmlTable table({"name", ">from", ">to", ">here", "bound by"});
  const PlanSizes *sizes = view.getSizes();
  for (auto [i, symbol] : llvm::enumerate(plan.symbols))
    table.add({getPrintable(symbol.name), std::to_string(symbol.min),
               symbol.max == INT64_MAX ? "any" : std::to_string(symbol.max),
               sizes && sizes->symbolKnown[i] ? std::to_string(sizes->symbols[i]) : "", view.getBinding(i)});
  printTable("Symbols", table);
}

void Page::printMemory() {
  HtmlTable table({"on device 'cpu'", ">bytes", "~"});
  for (const MemoryFigure &figure : listMemory(plan, view.getWeightBytes(), view.getSizes()))
    table.add(
        {figure.title,
         figure.bytes ? groupDigits(*figure.bytes) : groupDigits(figure.least) + " to " + getBoundText(figure.most),
         figure.note});
  printTable("Memory", table);
}

void Page::printCompilation() {
  const fmt::Header &header = view.getContainer().header;
  os << beginSection("Compilation") << "<dl class=\"wide\">\n";
  printItems("model", {getPrintable(plan.modelName)}, "");
  printItems("xxh3 of the model", {llvm::utohexstr(header.sourceHash, /*LowerCase=*/true, /*Width=*/16)}, "");
  printItems("compiler", {getPrintable(plan.compiler)}, "");
  printItems("artifact format", {"version " + std::to_string(header.version)}, "");
  for (const auto &[title, text] : listCompilation(view))
    printItems(title, {text}, "");
  os << "</dl></section>\n";
}

/// How long each phase of the compilation took.
void Page::printPhases() {
  if (!options.record)
    return;
  double whole = 0;
  for (const CompileRecord::Phase &phase : options.record->phases)
    whole += phase.seconds;
  HtmlTable table({"phase", ">seconds", ">share", ""});
  for (const CompileRecord::Phase &phase : options.record->phases) {
    double share = whole > 0 ? phase.seconds / whole : 0;
    table.add({phase.name, llvm::formatv("{0:F3}", phase.seconds).str(), llvm::formatv("{0:F1} %", 100 * share).str(),
               Html::bar(share)});
  }
  printTable("Compile time", table,
             llvm::formatv("{0:F2} s in all, without this page; --timing prints the time of each pass.", whole).str());
}

void Page::printTargetTable() {
  HtmlTable table({"name", ">code", ">plans", ">weights", ">programs", "~machine model"});
  for (const ArtifactView::Target &target : view.getTargets())
    table.add({target.name.empty() ? "any" : target.name, bytesText(target.codeBytes), bytesText(target.planBytes),
               bytesText(target.weightBytes), std::to_string(target.programs.size()),
               getMachineText(view, target.name)});
  printTable("Targets", table);
}

void Page::findUses() {
  launches.resize(plan.kernels.size());
  uses.resize(plan.buffers.size());
  for (auto [i, instruction] : llvm::enumerate(plan.instructions)) {
    if (instruction.op == fmt::Opcode::launch)
      launches[instruction.a].push_back(i);
    for (uint32_t operand = 0; operand < instruction.buffers.count; ++operand) {
      std::vector<uint32_t> &users = uses[plan.operands[instruction.buffers.begin + operand]];
      if (users.empty() || users.back() != i)
        users.push_back(i);
    }
  }
}

/// "#4 #7 and 12 more".
Html Page::getInstructionLinks(llvm::ArrayRef<uint32_t> instructions) const {
  Html links;
  for (uint32_t i : instructions.take_front(kMaxLinks))
    links += (links.empty() ? Html() : Html(" ")) + getInstructionLink(i);
  if (instructions.size() > kMaxLinks)
    links += " and " + groupDigits(instructions.size() - kMaxLinks) + " more";
  return links;
}

/// Describes the alternatives: "winograd-2 (3.3× the cycles), fixed16 (0.5×, not exact enough)".
static Html describeAlternatives(llvm::ArrayRef<PathEstimate> estimates) {
  std::string text;
  for (const PathEstimate &estimate : estimates.drop_front(estimates.empty() ? 0 : 1)) {
    const PathEstimate &taken = estimates.front();
    bool areMeasured = estimate.nanoseconds && taken.nanoseconds;
    double factor = areMeasured ? double(*estimate.nanoseconds) / std::max<double>(double(*taken.nanoseconds), 1)
                                : double(estimate.cycles) / std::max<double>(double(taken.cycles), 1);
    text += (text.empty() ? "" : ", ") + estimate.path + " (" +
            llvm::formatv(factor < 10 ? "{0:F2}" : "{0:F0}", factor).str() + "×" + (areMeasured ? " measured" : "") +
            (estimate.isTooInexact ? ", not exact enough)" : ")");
  }
  return text;
}

/// Returns "1.234 ms" and "56 %" of what the machine can reach; empty if it was not measured.
static std::pair<std::string, std::string> describeTime(const std::string &kernel, const Measurements &measured) {
  auto own = measured.kernels.find(kernel);
  if (own == measured.kernels.end())
    return {};
  double seconds = own->second.seconds, share = std::max(double(own->second.flops) / seconds / measured.flopsPerSecond,
                                                         double(own->second.bytes) / seconds / measured.bytesPerSecond);
  return {llvm::formatv("{0:F3} ms", 1e3 * seconds).str(),
          own->second.bytes ? llvm::formatv("{0:F0} %", 100 * share).str() : ""};
}

/// Returns the short name of a kernel's operations, which expands to all of its nodes.
static Html foldName(const std::string &name, const std::string &nodes) {
  return name == nodes ? Html(nodes) : Html::folded(name, nodes);
}

/// `share` is the fraction of a run's work; negative if it is unknown.
void Page::printKernelRow(uint32_t index, const RunWork &work, double share, HtmlTable &table) const {
  const rt::Kernel &kernel = plan.kernels[index];
  // The mean of all launches, whose sizes may differ.
  uint64_t count = std::max<uint64_t>(work.launches, 1);
  uint64_t flops = work.open ? 0 : work.flops / count, bytes = work.open ? 0 : work.bytes / count;
  std::vector<PathEstimate> estimates = listPathEstimates(paths, kernel.name);
  std::string path = getPathName(paths, kernel.name);
  auto [time, limit] = measured ? describeTime(kernel.name, *measured) : std::pair<std::string, std::string>();
  table.add({Html::link("c" + std::to_string(index), getPrintable(kernel.name)),
             share < 0 ? "" : llvm::formatv("{0:F1} %", 100 * share).str(), std::to_string(view.getLaunches(index)),
             time, limit, flops ? groupDigits(flops) : "", bytes ? groupDigits(bytes) : "", getIntensity(flops, bytes),
             path.empty() ? Html() : Html::element("span", path, "name"),
             estimates.empty() ? "" : groupDigits(estimates.front().cycles), describeAlternatives(estimates),
             getInstructionLinks(launches[index]),
             foldName(nameKernel(view, meta, index), getPrintable(kernel.display))},
            "k" + std::to_string(index));
}

/// Prints the kernels with the most arithmetic first or, if there is none, those that move the most bytes.
void Page::printKernels() {
  RunWork work = view.addUpWork();
  uint64_t whole = work.flops ? work.flops : work.bytes;
  std::vector<RunWork> own = view.addUpKernels();
  auto getWork = [&](uint32_t i) { return work.flops ? own[i].flops : own[i].bytes; };
  std::vector<uint32_t> order(plan.kernels.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::stable_sort(order, [&](uint32_t a, uint32_t b) { return getWork(a) > getWork(b); });
  HtmlTable table({"kernel", work.flops ? ">of all flops" : ">of all bytes", ">launches", ">time", ">of limit",
                   ">flops", ">bytes", ">flops/byte", "path", ">cycles", "~alternatives", "~launched by", "~computes"});
  for (uint32_t i : order)
    printKernelRow(i, own[i], whole && !own[i].open ? double(getWork(i)) / double(whole) : -1, table);
  printTable(
      "Kernels", table,
      "Flops and bytes are those of one launch" +
          std::string(work.open ? "; where they depend on data they are not known, and shares leave them out" : "") +
          ". Cycles are what the compiler estimated for one launch, dynamic dimensions at "
          "their size hints or 64; the factor of an alternative is relative to them. Names of kernels link to their "
          "code." +
          (measured && !measured->kernels.empty() ? " Times are those of all launches in a run." : ""));
  printCodeSection(view, options.record, order, os);
}

Html Page::getFieldLinks(const rt::Instruction &instruction) const {
  std::string fields = getFields(view, instruction);
  if (instruction.op != fmt::Opcode::launch)
    return fields;
  // The kernel is the first of them.
  std::string kernel = getPrintable(plan.kernels[instruction.a].name);
  llvm::StringRef rest = fields;
  rest.consume_front(kernel);
  return Html::link("k" + std::to_string(instruction.a), kernel) + rest;
}

Html Page::getBufferLinks(const rt::Instruction &instruction) const {
  Html links;
  for (uint32_t i = 0; i < instruction.buffers.count; ++i) {
    uint32_t buffer = plan.operands[instruction.buffers.begin + i];
    std::string name = view.getBufferName(buffer), storage = getStorageName(plan.buffers[buffer].storage);
    // Unnamed buffers are called "weight#27".
    bool hasOwnName = !llvm::StringRef(name).starts_with(storage + "#");
    links += Html(i ? ", " : "") + (hasOwnName ? storage + " " : "") +
             Html::link("b" + std::to_string(buffer), getShortNodes(name), name);
  }
  return links;
}

void Page::printInstructions() {
  HtmlTable table({">#", "operation", "~what", "sizes", "~nodes", "~buffers"});
  for (auto [i, instruction] : llvm::enumerate(plan.instructions))
    table.add({std::to_string(i), fmt::kInstructions[static_cast<uint8_t>(instruction.op)].name,
               getFieldLinks(instruction), getSizes(view, instruction), foldNodes(getPrintable(instruction.name)),
               getBufferLinks(instruction)},
              "i" + std::to_string(i));
  printTable("Instructions", table);
}

/// All but weights, which have a table of their own.
void Page::printBuffers() {
  HtmlTable table({"storage", ">offset", ">bytes", ">live range", "~used by", "~name"});
  for (auto [i, buffer] : llvm::enumerate(plan.buffers)) {
    if (buffer.storage == Storage::weight)
      continue;
    std::optional<rt::LiveRange> range = view.getLiveRange(i);
    table.add({getStorageName(buffer.storage), view.getBytes(buffer.offset), view.getBytes(buffer.size),
               range ? getInstructionLink(range->first) + "–" + getInstructionLink(range->last) : Html("unused"),
               getInstructionLinks(uses[i]), foldNodes(view.getBufferName(i))},
              "b" + std::to_string(i));
  }
  printTable("Buffers", table);
}

/// Returns "f32: 12 in 3,000,000 bytes, i8: ..." for weights of these types, those with the most bytes first.
static std::string describeTypes(llvm::ArrayRef<std::pair<std::string, uint64_t>> weights) {
  std::map<std::string, std::pair<uint64_t, uint64_t>> byType; // bytes and number
  for (const auto &[type, bytes] : weights) {
    auto &[sum, count] = byType[llvm::StringRef(type).split('[').first.str()];
    sum += bytes;
    ++count;
  }
  std::vector<std::pair<std::string, std::pair<uint64_t, uint64_t>>> sorted(byType.begin(), byType.end());
  llvm::stable_sort(sorted, [](const auto &a, const auto &b) { return a.second.first > b.second.first; });
  std::string text;
  for (const auto &[type, sum] : sorted)
    text += (text.empty() ? "" : "; ") + (type.empty() ? "other" : type) + ": " + groupDigits(sum.second) + " in " +
            groupDigits(sum.first) + " bytes";
  return text;
}

/// The largest first.
void Page::printWeights() {
  HtmlTable table({">bytes", ">of all", "type", ">offset", "~used by", "~name"});
  std::vector<uint32_t> weights;
  for (auto [i, buffer] : llvm::enumerate(plan.buffers))
    if (buffer.storage == Storage::weight)
      weights.push_back(i);
  auto getSize = [&](uint32_t i) { return view.getConstant(plan.buffers[i].size).value_or(0); };
  llvm::sort(weights, [&](uint32_t a, uint32_t b) { return std::pair(getSize(b), a) < std::pair(getSize(a), b); });
  double whole = std::max<double>(view.getWeightBytes(), 1);
  std::vector<std::pair<std::string, uint64_t>> types;
  for (uint32_t i : weights) {
    std::string type = getWeightType(i);
    types.emplace_back(type, getSize(i));
    table.add({view.getBytes(plan.buffers[i].size), llvm::formatv("{0:F1} %", 100 * double(getSize(i)) / whole).str(),
               type.empty() ? Html() : Html::element("span", type, "name"), view.getBytes(plan.buffers[i].offset),
               getInstructionLinks(uses[i]), foldNodes(view.getBufferName(i))},
              "b" + std::to_string(i));
  }
  std::string note = groupDigits(weights.size()) + " in " + groupDigits(view.getWeightBytes()) + " bytes";
  if (!weightTypes.empty())
    note += ". " + describeTypes(types);
  printTable("Weights", table, note + ".");
}

std::string Page::getWeightType(uint32_t buffer) const {
  std::optional<int64_t> offset = view.getConstant(plan.buffers[buffer].offset);
  auto type = offset ? weightTypes.find(*offset) : weightTypes.end();
  return type == weightTypes.end() ? "" : type->second;
}

void Page::print(const std::string &whyNoSizes) {
  os << "<p>"
     << Html(getPrintable(llvm::sys::path::filename(options.artifact)) + ", " + bytesText(view.getFileSize()) +
             ", written by " + getPrintable(plan.compiler))
     << "</p>\n";
  printSizes(whyNoSizes);
  printChoice();
  os << "<div class=\"first\">\n";
  printSummary();
  printMap(whyNoSizes);
  os << "</div>\n";
  printGraphSection(view, options.record, os);
  os << "<div class=\"facts\">\n";
  if (view.getLiveness())
    printPeak(view, os);
  printMemory();
  printSymbols();
  printCompilation();
  printPhases();
  printTargetTable();
  os << "</div>\n";
  printRoofline(view, measured, os);
  printKernels();
  printInstructions();
  printBuffers();
  printWeights();
}

/// Times must be of kernels of the artifact.
static llvm::Expected<Measurements> readMeasurements(const std::string &path, const ArtifactView &view) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return llvm::errorCodeToError(file.getError());
  llvm::Expected<Measurements> measured = parseMeasurements((*file)->getBuffer());
  if (!measured || measured->kernels.empty())
    return measured;
  if (llvm::none_of(view.getPlan().kernels,
                    [&](const rt::Kernel &kernel) { return measured->kernels.count(kernel.name) != 0; }))
    return llvm::createStringError("its times are of no kernel of this artifact");
  return measured;
}

int tenon::writeHtmlReport(const ReportOptions &options, llvm::raw_ostream &errors) {
  auto fail = [&](const rt::Status &status) {
    errors << "tenon: error: " << options.artifact << ": " << status.message() << '\n';
    return static_cast<int>(status.code());
  };
  ArtifactView view;
  if (rt::Status status = view.open(options.artifact, /*verify=*/false, options.choice); status.failed())
    return fail(status);
  std::vector<std::string> types;
  for (const std::vector<rt::Tensor> *tensors : {&view.getPlan().inputs, &view.getPlan().outputs})
    for (const rt::Tensor &tensor : *tensors)
      types.push_back(getType(view, tensor));
  rt::Status status = view.chooseSizes(options.sizes, MissingSizes::assumed);
  if (status.failed() && options.sizes.isAnyGiven())
    return fail(status);
  std::string whyNoSizes = status.failed() ? status.message() : "";
  std::optional<Measurements> measured;
  if (!options.measurements.empty()) {
    llvm::Expected<Measurements> read = readMeasurements(options.measurements, view);
    if (!read) {
      errors << "tenon: error: " << options.measurements << ": " << llvm::toString(read.takeError()) << '\n';
      return 1;
    }
    measured = std::move(*read);
  }
  auto write = [&](llvm::raw_ostream &os) {
    std::string content;
    llvm::raw_string_ostream contentStream(content);
    Page(view, options, types, measured ? &*measured : nullptr, contentStream).print(whyNoSizes);
    printPage(getPrintable(view.getPlan().modelName), content, os);
  };
  if (llvm::Error error = writeOutputFile(options.report, write)) {
    errors << "tenon: error: cannot write " << options.report << ": " << llvm::toString(std::move(error)) << '\n';
    return 4;
  }
  return 0;
}
