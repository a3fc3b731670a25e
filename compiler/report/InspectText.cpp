//===- InspectText.cpp - an artifact as tables -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/Describe.h"
#include "compiler/report/ErrorFigures.h"
#include "compiler/report/Inspect.h"
#include "compiler/report/LaunchNames.h"
#include "compiler/report/MemoryFigures.h"
#include "compiler/report/Meta.h"
#include "compiler/report/Table.h"
#include "compiler/report/WeightFormats.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace tenon;
using rt::Storage;

/// The number of weights in the full listing; `--weights` lists all.
static constexpr size_t kLargestWeights = 10;

static std::string getHex(uint64_t hash) { return llvm::utohexstr(hash, /*LowerCase=*/true, /*Width=*/16); }

static void printHeader(const ArtifactView &view, const InspectOptions &options, llvm::raw_ostream &os) {
  const rt::Plan &plan = view.getPlan();
  const fmt::Header &header = view.getContainer().header;
  std::string size = ": " + groupDigits(view.getFileSize()) + " bytes";
  size_t width = options.width ? options.width - std::min(options.width, size.size()) : options.artifact.size();
  os << shortenPath(options.artifact, width) << size << '\n'
     << "  format    version " << header.version << "\n"
     << "  compiler  " << getPrintable(plan.compiler) << "\n"
     << "  source    " << getPrintable(plan.modelName) << ", xxh3 " << getHex(header.sourceHash) << "\n";
  auto printLine = [&](llvm::StringRef title, const std::string &text) { printWords(title, text, options.width, os); };
  for (const rt::Tensor &input : plan.inputs)
    printLine("input", getPrintable(input.name) + ": " + getType(view, input));
  for (const rt::Tensor &output : plan.outputs)
    printLine("output", getPrintable(output.name) + ": " + getType(view, output));
  for (const rt::State &state : plan.states)
    printLine("state", getPrintable(state.name) + ": " + getStateText(view, state));
  for (const std::string &line : listErrors(view.getMeta()))
    printLine("error", line);
  for (const std::string &line : listWeightFormats(view.getMeta()))
    printLine("formats", line);
  for (const std::string &line : listPlanTimes(view.getMeta()))
    printLine("time", line);
  if (std::string forms = getFormsText(view); !forms.empty())
    printLine("forms", forms);
  if (std::string records = getRecordsText(view); !records.empty())
    printLine("records", records);
  for (const ArtifactView::Target &target : view.getTargets())
    printLine("target", target.name + ": " + getMachineText(view, target.name));
}

/// Only where there is a choice.
static void printTargets(const ArtifactView &view, size_t width, llvm::raw_ostream &os) {
  if (view.getTargets().size() == 1)
    return;
  os << "\ntargets (the first that the processor can run is used)\n";
  Table table({"name", ">code bytes", ">plan bytes", ">weights used", ">programs"});
  for (const ArtifactView::Target &target : view.getTargets())
    table.add({target.name, groupDigits(target.codeBytes), groupDigits(target.planBytes),
               groupDigits(target.weightBytes), std::to_string(target.programs.size())});
  table.print(os, width);
}

/// Only where there is a choice.
static void printPrograms(const ArtifactView &view, size_t width, llvm::raw_ostream &os) {
  if (view.getPrograms().size() == 1)
    return;
  os << "\nprograms (the first whose sizes match is used)\n";
  Table table({">#", "sizes", ">instructions", ">kernels"});
  for (auto [i, program] : llvm::enumerate(view.getPrograms()))
    table.add({std::to_string(i), program.sizes.empty() ? "all" : program.sizes, std::to_string(program.instructions),
               std::to_string(program.kernels)});
  table.print(os, width);
}

static void printSections(const ArtifactView &view, size_t width, llvm::raw_ostream &os) {
  os << "\nsections\n";
  Table table({"kind", ">offset", ">bytes", "xxh3", "target", "~needs"});
  for (const fmt::Section &section : view.getContainer().sections) {
    // What a plan needs is what its code does.
    bool isCode = section.kind == fmt::SectionKind::code;
    table.add({rt::sectionName(section.kind), groupDigits(section.offset), groupDigits(section.size),
               getHex(section.hash), getPrintable(rt::targetName(section)),
               isCode ? getPrintable(rt::targetNeeds(section)) : ""});
  }
  table.print(os, width);
}

static void printSymbols(const ArtifactView &view, size_t width, llvm::raw_ostream &os) {
  const rt::Plan &plan = view.getPlan();
  if (plan.symbols.empty())
    return;
  os << "\nsymbols\n";
  Table table({"~name", ">from", ">to", "~bound by"});
  for (auto [i, symbol] : llvm::enumerate(plan.symbols))
    table.add({getPrintable(symbol.name), std::to_string(symbol.min),
               symbol.max == INT64_MAX ? "any" : std::to_string(symbol.max), view.getBinding(i)});
  table.print(os, width);
}

static void printKernels(const ArtifactView &view, size_t width, llvm::raw_ostream &os) {
  const rt::Plan &plan = view.getPlan();
  nlohmann::ordered_json meta = readMeta(view), paths = readPaths(view);
  os << "\nkernels\n";
  Table table({">#", "~entry point", ">launches", ">flops", ">bytes", ">flops/byte", "~computes", "~path"});
  std::vector<RunWork> work = view.addUpKernels();
  for (auto [i, kernel] : llvm::enumerate(plan.kernels)) {
    // The mean of all launches, whose sizes may differ.
    uint64_t launches = std::max<uint64_t>(work[i].launches, 1);
    uint64_t flops = work[i].open ? 0 : work[i].flops / launches, bytes = work[i].open ? 0 : work[i].bytes / launches;
    table.add({std::to_string(i), getPrintable(kernel.name), std::to_string(view.getLaunches(i)),
               flops ? groupDigits(flops) : "", bytes ? groupDigits(bytes) : "", getIntensity(flops, bytes),
               width ? nameKernel(view, meta, i) : getPrintable(kernel.display), getPathText(paths, kernel.name)});
  }
  table.print(os, width);
  os << getWorkText(view.addUpWork()) << "\n";
}

static void printInstructions(const ArtifactView &view, size_t width, llvm::raw_ostream &os) {
  const rt::Plan &plan = view.getPlan();
  os << "\ninstructions\n";
  Table table({">#", "operation", "~what", "~sizes", "~nodes", "~buffers"});
  for (auto [i, instruction] : llvm::enumerate(plan.instructions)) {
    const fmt::InstructionInfo &info = fmt::kInstructions[static_cast<uint8_t>(instruction.op)];
    table.add({std::to_string(i), info.name, getFields(view, instruction), getSizes(view, instruction),
               getPrintable(instruction.name), getBuffers(view, instruction)});
  }
  table.print(os, width);
}

static void printFigures(const ArtifactView &view, size_t width, llvm::raw_ostream &os) {
  std::vector<MemoryFigure> figures = listMemory(view.getPlan(), view.getWeightBytes(), view.getSizes());
  bool isKnown = llvm::all_of(figures, [](const MemoryFigure &figure) { return figure.bytes.has_value(); });
  os << "\nmemory in bytes" << (view.getSizes() ? "" : ", for all sizes that the symbols' ranges allow") << "\n";
  Table table(isKnown ? std::vector<std::string>{"", ">bytes", ""}
                      : std::vector<std::string>{"", ">at least", ">at most", ""});
  for (const MemoryFigure &figure : figures) {
    std::string note = figure.note;
    if (view.getLiveness() && figure.key == llvm::StringRef("arena_bytes"))
      note = groupDigits(view.getLiveness()->peak()) + " are live at once: no placement needs fewer";
    if (isKnown)
      table.add({figure.title, groupDigits(*figure.bytes), note});
    else
      table.add({figure.title, groupDigits(figure.least), getBoundText(figure.most), note});
  }
  table.print(os, width);
}

static void printMemory(const ArtifactView &view, size_t width, llvm::raw_ostream &os) {
  const rt::Plan &plan = view.getPlan();
  printFigures(view, width, os);
  os << "\nmemory: arena " << view.getBytes(plan.arenaSize) << " bytes, aligned to " << plan.arenaAlign << "; scratch "
     << view.getBytes(plan.scratchSize) << " bytes a thread; state " << groupDigits(plan.stateSize) << " bytes\n";
  Table table({"storage", "~offset", "~bytes", ">live range", "~name"});
  for (Storage storage : {Storage::arena, Storage::state, Storage::heap})
    for (auto [i, buffer] : llvm::enumerate(plan.buffers)) {
      if (buffer.storage != storage)
        continue;
      auto range = view.getLiveRange(i);
      table.add({getStorageName(storage), view.getBytes(buffer.offset), view.getBytes(buffer.size),
                 range ? std::to_string(range->first) + ".." + std::to_string(range->last) : "unused",
                 view.getBufferName(i)});
    }
  table.print(os, width);
}

static void printWeights(const ArtifactView &view, bool all, size_t width, llvm::raw_ostream &os) {
  const rt::Plan &plan = view.getPlan();
  std::vector<uint32_t> weights;
  for (auto [i, buffer] : llvm::enumerate(plan.buffers))
    if (buffer.storage == Storage::weight)
      weights.push_back(i);
  const fmt::Section *section = view.getContainer().find(fmt::SectionKind::weights);
  os << "\nweights: " << weights.size() << " in " << groupDigits(section ? section->size : 0) << " bytes\n";
  if (weights.empty())
    return;
  llvm::sort(weights, [&](uint32_t a, uint32_t b) {
    int64_t bytesOfA = view.getConstant(plan.buffers[a].size).value_or(0);
    int64_t bytesOfB = view.getConstant(plan.buffers[b].size).value_or(0);
    return std::pair(-bytesOfA, a) < std::pair(-bytesOfB, b);
  });
  size_t shown = all ? weights.size() : std::min(weights.size(), kLargestWeights);
  std::map<uint64_t, std::string> types = readWeightTypes(view);
  Table table({">offset", ">bytes", ">live range", "type", "~name"});
  for (uint32_t i : llvm::ArrayRef(weights).take_front(shown)) {
    auto range = view.getLiveRange(i);
    auto type = types.find(view.getConstant(plan.buffers[i].offset).value_or(-1));
    table.add({view.getBytes(plan.buffers[i].offset), view.getBytes(plan.buffers[i].size),
               range ? std::to_string(range->first) + ".." + std::to_string(range->last) : "unused",
               type == types.end() ? "" : type->second, view.getBufferName(i)});
  }
  table.print(os, width);
  if (shown < weights.size())
    os << "  and " << weights.size() - shown << " smaller ones, which --weights lists\n";
}

void tenon::printText(const ArtifactView &view, const InspectOptions &options, llvm::raw_ostream &os) {
  bool all = options.show.all;
  printHeader(view, options, os);
  printTargets(view, options.width, os);
  printPrograms(view, options.width, os);
  if (all || options.show.sections)
    printSections(view, options.width, os);
  if (all || options.show.symbols)
    printSymbols(view, options.width, os);
  if (all || options.show.kernels)
    printKernels(view, options.width, os);
  if (all || options.show.instructions)
    printInstructions(view, options.width, os);
  if (all || options.show.memory)
    printMemory(view, options.width, os);
  if (all || options.show.weights) {
    printWeights(view, options.show.weights, options.width, os);
    printWeightFormats(view.getMeta(), options.show.weights, options.width, os);
  }
}
