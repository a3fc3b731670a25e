//===- Compare.cpp - what differs between two artifacts --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/Compare.h"
#include "compiler/artifact/OutputFile.h"
#include "compiler/report/Describe.h"
#include "compiler/report/Disassembly.h"
#include "compiler/report/ErrorFigures.h"
#include "compiler/report/MemoryFigures.h"
#include "compiler/report/Meta.h"
#include "compiler/report/Summary.h"
#include "compiler/report/Table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace tenon;
using rt::Storage;

bool Comparison::KernelPair::isEqual() const {
  if (!a || !b)
    return false;
  // Names are not compared: kernels are numbered, so an additional one renames all that follow.
  return a->path == b->path && a->flops == b->flops && a->bytes == b->bytes && a->code == b->code;
}

/// "N = 1 (assumed), M = 3".
static std::string describeSizes(const ArtifactView &view) {
  const PlanSizes *sizes = view.getSizes();
  if (!sizes)
    return "not known";
  std::vector<std::string> items;
  for (auto [i, symbol] : llvm::enumerate(view.getPlan().symbols))
    if (symbol.isEarly() && symbol.min != symbol.max)
      items.push_back(getPrintable(symbol.name) + " = " + std::to_string(sizes->symbols[i]) +
                      (sizes->symbolAssumed[i] ? " (assumed)" : ""));
  return items.empty() ? "static" : llvm::join(items, ", ");
}

namespace {
/// What is known of one artifact.
class Side {
public:
  explicit Side(const ArtifactView &view)
      : view(view), plan(view.getPlan()), paths(readPaths(view)), work(view.addUpKernels()),
        code(measureFunctions(view.getCode())) {}

  /// Lists the launches by what they compute; equal ones are numbered.
  std::map<std::pair<std::string, unsigned>, uint32_t> listLaunches() const;
  Comparison::KernelPair::Side describe(uint32_t kernel) const;
  /// Lists the bytes of weights by name; unnamed ones by the nodes that read them first.
  std::map<std::string, uint64_t> listWeights() const;
  std::vector<std::pair<std::string, std::string>> listFacts() const;
  std::vector<Comparison::Figure> listFigures() const;

  const ArtifactView &view;
  const rt::Plan &plan;

private:
  nlohmann::ordered_json paths;
  std::vector<RunWork> work;
  std::map<std::string, uint64_t> code;
};
} // namespace

std::map<std::pair<std::string, unsigned>, uint32_t> Side::listLaunches() const {
  std::map<std::string, unsigned> seen;
  std::map<std::pair<std::string, unsigned>, uint32_t> launches;
  for (auto [i, instruction] : llvm::enumerate(plan.instructions)) {
    if (instruction.op != fmt::Opcode::launch)
      continue;
    std::string nodes = *instruction.name ? instruction.name : plan.kernels[instruction.a].display;
    launches[{nodes, seen[nodes]++}] = i;
  }
  return launches;
}

Comparison::KernelPair::Side Side::describe(uint32_t index) const {
  Comparison::KernelPair::Side side;
  const rt::Kernel &kernel = plan.kernels[index];
  side.kernel = getPrintable(kernel.name);
  side.path = getPathName(paths, kernel.name);
  if (const RunWork &own = work[index]; own.launches && !own.open) {
    side.flops = own.flops / own.launches;
    side.bytes = own.bytes / own.launches;
  }
  if (auto own = code.find(kernel.name); own != code.end())
    side.code = own->second;
  return side;
}

std::map<std::string, uint64_t> Side::listWeights() const {
  std::map<std::string, uint64_t> weights;
  for (auto [i, buffer] : llvm::enumerate(plan.buffers)) {
    if (buffer.storage != Storage::weight)
      continue;
    std::string name = view.getBufferName(i);
    std::optional<rt::LiveRange> range = view.getLiveRange(i);
    if (!*buffer.name)
      name = "of " + (range ? getShortNodes(getPrintable(plan.instructions[range->first].name)) : "nothing");
    weights[name] += std::max<int64_t>(view.getConstant(buffer.size).value_or(0), 0);
  }
  return weights;
}

std::vector<std::pair<std::string, std::string>> Side::listFacts() const {
  const fmt::Header &header = view.getContainer().header;
  std::vector<std::pair<std::string, std::string>> facts = {
      {"model", getPrintable(plan.modelName)},
      {"source", "xxh3 " + llvm::utohexstr(header.sourceHash, /*LowerCase=*/true, /*Width=*/16)},
      {"compiler", getPrintable(plan.compiler)},
      {"inputs", llvm::join(listTensors(view, plan.inputs), ", ")},
      {"outputs", llvm::join(listTensors(view, plan.outputs), ", ")},
      {"symbols", llvm::join(listSymbols(plan), ", ")},
      {"sizes", describeSizes(view)},
      {"targets", llvm::join(listTargets(view), ", ")},
      {"programs", llvm::join(listPrograms(view), "; ")},
      {"error", llvm::join(listErrors(view.getMeta()), "; ")}};
  for (const auto &[title, text] : listCompilation(view))
    facts.emplace_back(title, text);
  for (const auto &[name, value] : listMachineFigures(view, view.getTarget().name))
    facts.emplace_back("machine " + name, groupDigits(value));
  return facts;
}

std::vector<Comparison::Figure> Side::listFigures() const {
  RunWork sum = view.addUpWork();
  auto getKnown = [&](uint64_t value) { return sum.open ? std::nullopt : std::optional(value); };
  std::vector<Comparison::Figure> figures = {{"file_bytes", "file, bytes", view.getFileSize(), {}},
                                             {"code_bytes", "code, bytes", view.getTarget().codeBytes, {}},
                                             {"plan_bytes", "plans, bytes", view.getTarget().planBytes, {}},
                                             {"instructions", "instructions", plan.instructions.size(), {}},
                                             {"kernels", "kernels", plan.kernels.size(), {}},
                                             {"launches", "launches", sum.launches, {}},
                                             {"flops", "flops of a run", getKnown(sum.flops), {}},
                                             {"moved_bytes", "bytes that a run moves", getKnown(sum.bytes), {}}};
  for (const MemoryFigure &figure : listMemory(plan, view.getWeightBytes(), view.getSizes()))
    figures.push_back({figure.key, std::string(figure.title) + ", bytes", figure.bytes, {}});
  return figures;
}

/// Pairs launches that compute the same nodes, and groups the pairs by their kernels.
static std::vector<Comparison::KernelPair> compareKernels(const Side &a, const Side &b) {
  constexpr uint32_t kNone = UINT32_MAX;
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> pairs; // launches in a, or else in b
  auto launchesOfA = a.listLaunches(), launchesOfB = b.listLaunches();
  for (const auto &[nodes, launch] : launchesOfA) {
    auto other = launchesOfB.find(nodes);
    uint32_t kernel = other == launchesOfB.end() ? kNone : b.plan.instructions[other->second].a;
    pairs[{a.plan.instructions[launch].a, kernel}].push_back(launch);
  }
  for (const auto &[nodes, launch] : launchesOfB)
    if (!launchesOfA.count(nodes))
      pairs[{kNone, b.plan.instructions[launch].a}].push_back(launch);
  std::vector<Comparison::KernelPair> kernels;
  for (auto &[pair, launches] : pairs) {
    Comparison::KernelPair &entry = kernels.emplace_back();
    if (pair.first != kNone)
      entry.a = a.describe(pair.first);
    if (pair.second != kNone)
      entry.b = b.describe(pair.second);
    entry.launches = launches.size();
    const rt::Plan &plan = pair.first == kNone ? b.plan : a.plan;
    entry.nodes = getPrintable(plan.instructions[*llvm::min_element(launches)].name);
  }
  auto getRank = [](const Comparison::KernelPair &pair) { return pair.isEqual() ? 2 : pair.a && pair.b ? 0 : 1; };
  llvm::stable_sort(kernels, [&](const auto &x, const auto &y) {
    return std::pair(getRank(x), y.launches) < std::pair(getRank(y), x.launches);
  });
  return kernels;
}

static void compareWeights(const Side &a, const Side &b, Comparison &result) {
  std::map<std::string, uint64_t> weightsOfA = a.listWeights(), weightsOfB = b.listWeights();
  auto add = [&](const std::string &name, uint64_t bytesOfA, uint64_t bytesOfB) {
    if (bytesOfA == bytesOfB)
      ++result.equalWeights;
    else
      result.weights.push_back({name, bytesOfA, bytesOfB});
  };
  for (const auto &[name, bytes] : weightsOfA) {
    auto other = weightsOfB.find(name);
    add(name, bytes, other == weightsOfB.end() ? 0 : other->second);
  }
  for (const auto &[name, bytes] : weightsOfB)
    if (!weightsOfA.count(name))
      add(name, 0, bytes);
  auto getDifference = [](const Comparison::Weight &weight) {
    return std::max(weight.bytesOfA, weight.bytesOfB) - std::min(weight.bytesOfA, weight.bytesOfB);
  };
  llvm::stable_sort(result.weights, [&](const auto &x, const auto &y) { return getDifference(x) > getDifference(y); });
}

Comparison tenon::compareArtifacts(const ArtifactView &viewOfA, const ArtifactView &viewOfB) {
  Side a(viewOfA), b(viewOfB);
  Comparison result;
  for (const auto &[key, text] : a.listFacts())
    result.facts.push_back({key, text, ""});
  for (const auto &[key, text] : b.listFacts()) {
    auto known = llvm::find_if(result.facts, [&](const Comparison::Fact &fact) { return fact.key == key; });
    if (known == result.facts.end())
      result.facts.push_back({key, "", text});
    else
      known->b = text;
  }
  result.figures = a.listFigures();
  for (auto [figure, other] : llvm::zip_equal(result.figures, b.listFigures()))
    figure.b = other.a;
  result.kernels = compareKernels(a, b);
  compareWeights(a, b, result);
  return result;
}

std::vector<std::string> tenon::listEqual(const Comparison &comparison) {
  std::vector<std::string> equal;
  for (const Comparison::Fact &fact : comparison.facts)
    if (fact.isEqual() && !fact.a.empty() && !llvm::StringRef(fact.key).starts_with("machine "))
      equal.push_back(fact.key);
  return equal;
}

std::string tenon::describeChange(std::optional<uint64_t> a, std::optional<uint64_t> b) {
  if (!a || !b || *a == *b)
    return "";
  if (*a == 0)
    return "new";
  double factor = double(*b) / double(*a);
  if (factor >= 2)
    return llvm::formatv("{0:F1}×", factor).str();
  return llvm::formatv("{0}{1:F1} %", factor > 1 ? "+" : "", 100 * (factor - 1)).str();
}

/// True if the argument "N=128" names a dynamic dimension of the inputs.
static bool hasSymbol(const ArtifactView &view, llvm::StringRef argument) {
  return llvm::any_of(view.getPlan().symbols, [&](const rt::Symbol &symbol) {
    return symbol.isEarly() && argument.rsplit('=').first == symbol.name;
  });
}

/// Selects the sizes for `view`: a dimension that is only dynamic in the other artifact is static in this one.
static SizeArguments selectSizes(const SizeArguments &given, const ArtifactView &view, const ArtifactView &other) {
  SizeArguments selected = given;
  llvm::erase_if(selected.sizes,
                 [&](const std::string &size) { return !hasSymbol(view, size) && hasSymbol(other, size); });
  return selected;
}

int tenon::compareArtifacts(const CompareOptions &options, llvm::raw_ostream &os, llvm::raw_ostream &errors) {
  ArtifactView a, b;
  auto fail = [&](const std::string &path, const rt::Status &status) {
    errors << "tenon: error: " << path << ": " << status.message() << '\n';
    return static_cast<int>(status.code());
  };
  for (auto [view, path] : {std::pair(&a, &options.a), std::pair(&b, &options.b)})
    if (rt::Status status = view->open(*path, options.verify, options.choice); status.failed())
      return fail(*path, status);
  for (auto [view, other, path] : {std::tuple(&a, &b, &options.a), std::tuple(&b, &a, &options.b)}) {
    SizeArguments sizes = selectSizes(options.sizes, *view, *other);
    // If no assumed sizes are valid, figures that depend on sizes are omitted.
    if (rt::Status status = view->chooseSizes(sizes, MissingSizes::assumed); status.failed() && sizes.isAnyGiven())
      return fail(*path, status);
  }
  Comparison comparison = compareArtifacts(a, b);
  if (options.report.empty()) {
    (options.json ? printComparisonJson : printComparison)(comparison, options, os);
    return 0;
  }
  auto write = [&](llvm::raw_ostream &page) { printComparisonPage(comparison, a, b, options, page); };
  if (llvm::Error error = writeOutputFile(options.report, write)) {
    errors << "tenon: error: cannot write " << options.report << ": " << llvm::toString(std::move(error)) << '\n';
    return 4;
  }
  return 0;
}
