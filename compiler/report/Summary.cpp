//===- Summary.cpp - an artifact in a dozen lines ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/Summary.h"
#include "compiler/report/Describe.h"
#include "compiler/report/ErrorFigures.h"
#include "compiler/report/Inspect.h"
#include "compiler/report/LaunchNames.h"
#include "compiler/report/MemoryFigures.h"
#include "compiler/report/Meta.h"
#include "compiler/report/SizeFormula.h"
#include "compiler/report/Table.h"
#include "compiler/report/WeightFormats.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace tenon;

std::vector<std::string> tenon::listTensors(const ArtifactView &view, const std::vector<rt::Tensor> &tensors) {
  std::vector<std::string> items;
  for (const rt::Tensor &tensor : tensors)
    items.push_back(getPrintable(tensor.name) + ": " + getType(view, tensor));
  return items;
}

std::vector<std::string> tenon::listSymbols(const rt::Plan &plan) {
  std::vector<std::string> items;
  for (const rt::Symbol &symbol : plan.symbols)
    if (symbol.isEarly())
      items.push_back(getPrintable(symbol.name) +
                      (symbol.max == INT64_MAX ? " from " + std::to_string(symbol.min)
                                               : " " + std::to_string(symbol.min) + ".." + std::to_string(symbol.max)));
  return items;
}

std::vector<std::string> tenon::listTargets(const ArtifactView &view) {
  std::vector<std::string> items;
  for (const fmt::Section &section : view.getContainer().sections) {
    if (section.kind != fmt::SectionKind::code)
      continue;
    auto [processor, features] = llvm::StringRef(rt::targetNeeds(section)).split(':');
    std::string name = getPrintable(rt::targetName(section));
    std::string needs = getPrintable(processor);
    if (!features.empty())
      needs += " with " + std::to_string(features.count(',') + 1) + " features";
    items.push_back(name.empty() ? needs : name + " (" + needs + ")");
  }
  return items;
}

namespace {
/// Example sizes for which figures are shown if the model is dynamic.
struct Example {
  std::string where; ///< "N=1, M=64"
  PlanSizes sizes;
};
} // namespace

/// Returns an example with all symbols at `size`, clamped to their ranges; none if the sizes are invalid.
static std::optional<Example> makeExample(const ArtifactView &view, int64_t size) {
  SizeArguments arguments;
  Example example;
  for (const rt::Symbol &symbol : view.getPlan().symbols)
    if (symbol.isEarly()) {
      std::string text = std::string(symbol.name) + "=" + std::to_string(std::clamp(size, symbol.min, symbol.max));
      example.where += (example.where.empty() ? "" : ", ") + getPrintable(text);
      arguments.sizes.push_back(text);
    }
  if (evaluateSizes(view.getPlan(), arguments, MissingSizes::refused, example.sizes).failed())
    return std::nullopt;
  return example;
}

/// Lists a small and a larger example, if there is a choice.
static std::vector<Example> listExamples(const ArtifactView &view) {
  std::vector<Example> examples;
  if (!view.getSizes())
    for (int64_t size : {1, 64})
      if (std::optional<Example> example = makeExample(view, size))
        if (examples.empty() || examples.back().where != example->where)
          examples.push_back(std::move(*example));
  return examples;
}

std::vector<std::string> tenon::listMemoryItems(const ArtifactView &view) {
  const rt::Plan &plan = view.getPlan();
  std::vector<std::string> items;
  uint64_t total = 0;
  bool isKnown = true;
  for (const MemoryFigure &figure : listMemory(plan, view.getWeightBytes(), view.getSizes())) {
    llvm::StringRef key = figure.key;
    bool isZero = figure.bytes == uint64_t(0), isArena = key == "arena_bytes";
    if (key == "total_bytes" || key == "input_bytes" || (isZero && !isArena))
      continue;
    isKnown &= figure.bytes.has_value();
    total += figure.bytes.value_or(0);
    if (figure.bytes)
      items.push_back(std::string(figure.title) + " " + bytesText(*figure.bytes));
    else if (figure.most != UINT64_MAX)
      items.push_back(std::string(figure.title) + " up to " + bytesText(figure.most));
    else
      items.push_back(std::string(figure.title) + (key == "heap_bytes" ? " by data" : " by size"));
  }
  if (isKnown && items.size() > 1)
    items.back() += " = " + bytesText(total);
  return items;
}

static void printMemory(const ArtifactView &view, llvm::ArrayRef<Example> examples, size_t width,
                        llvm::raw_ostream &os) {
  const rt::Plan &plan = view.getPlan();
  printList("memory", listMemoryItems(view), " +", width, os);
  if (view.getSizes() || view.getConstant(plan.arenaSize))
    return;
  // limit: a formula of more than two lines is less informative than an example.
  constexpr size_t kFormulaWidth = 160;
  if (std::optional<std::string> formula =
          SizeFormulas(plan).getText(plan.arenaSize, width ? width - 40 : kFormulaWidth))
    printList("", {"activations are " + *formula + " bytes:"}, "", width, os);
  std::vector<std::string> texts;
  for (const Example &example : examples)
    if (example.sizes.exprKnown[plan.arenaSize])
      texts.push_back(bytesText(example.sizes.exprs[plan.arenaSize]) + " at " + example.where);
  if (!texts.empty())
    printList("", texts, ";", width, os);
}

static std::string getGiga(uint64_t number) {
  if (number < 100'000)
    return groupDigits(number) + " FLOP";
  return number < 10'000'000 ? llvm::formatv("{0:F3} MFLOP", double(number) / 1e6).str()
                             : llvm::formatv("{0:F2} GFLOP", double(number) / 1e9).str();
}

std::vector<std::string> tenon::listWork(const ArtifactView &view) {
  RunWork work = view.addUpWork();
  size_t kernels = view.getPlan().kernels.size();
  std::vector<std::string> items = {groupDigits(work.launches) +
                                    (work.launches == 1 ? " launch of " : " launches of ") + groupDigits(kernels) +
                                    (kernels == 1 ? " kernel" : " kernels")};
  if (work.open == 0 && work.launches) {
    items.push_back(getGiga(work.flops));
    items.push_back(bytesText(work.bytes) + " moved");
    if (std::string intensity = getIntensity(work.flops, work.bytes); !intensity.empty())
      items.back() += " (" + intensity + " flops a byte)";
  }
  return items;
}

std::vector<std::string> tenon::listPrograms(const ArtifactView &view) {
  std::vector<std::string> programs;
  for (const ArtifactView::Program &program : view.getPrograms())
    programs.push_back(program.sizes.empty() ? "all sizes" : program.sizes);
  return programs;
}

static void printWork(const ArtifactView &view, llvm::ArrayRef<Example> examples, size_t width, llvm::raw_ostream &os) {
  printList("work", listWork(view), ",", width, os);
  std::vector<std::string> texts;
  for (const Example &example : examples) {
    RunWork sum = view.addUpWork(&example.sizes);
    texts.push_back(getGiga(sum.flops) + " and " + bytesText(sum.bytes) + " moved at " + example.where +
                    (sum.open ? ", without " + groupDigits(sum.open) + " launches" : ""));
  }
  if (!texts.empty())
    printList("", texts, ";", width, os);
}

/// Prints the kernels with the most arithmetic or, if there is none, those that move the most bytes.
static void printKernels(const ArtifactView &view, llvm::ArrayRef<Example> examples, size_t width,
                         llvm::raw_ostream &os) {
  constexpr size_t kMaxShown = 6;
  const rt::Plan &plan = view.getPlan();
  const PlanSizes *sizes = examples.empty() ? nullptr : &examples.back().sizes;
  RunWork work = view.addUpWork(sizes);
  std::vector<RunWork> own = view.addUpKernels(sizes);
  bool hasFlops = work.flops > 0;
  uint64_t whole = hasFlops ? work.flops : work.bytes;
  if (!whole)
    return;
  std::vector<uint32_t> kernels(plan.kernels.size());
  std::iota(kernels.begin(), kernels.end(), 0);
  auto getWork = [&](uint32_t i) { return hasFlops ? own[i].flops : own[i].bytes; };
  llvm::stable_sort(kernels, [&](uint32_t a, uint32_t b) { return getWork(a) > getWork(b); });
  os << "\nkernels by their share of the " << (hasFlops ? "arithmetic" : "bytes moved")
     << (examples.empty() ? "" : " at " + examples.back().where) << "\n";
  nlohmann::ordered_json meta = readMeta(view), paths = readPaths(view);
  Table table({">share", ">runs", "~kernel", "path", "~computes"});
  for (uint32_t i : llvm::ArrayRef(kernels).take_front(kMaxShown))
    if (getWork(i)) {
      std::string path = getPathName(paths, plan.kernels[i].name);
      table.add({llvm::formatv("{0:F1}%", 100.0 * double(getWork(i)) / double(whole)), std::to_string(own[i].launches),
                 getPrintable(plan.kernels[i].name), path.empty() ? "-" : path,
                 width ? nameKernel(view, meta, i) : getPrintable(plan.kernels[i].display)});
    }
  table.print(os, width);
}

/// Prints the artifact, its size and its origin on one line of the page's width.
static void printTitle(const ArtifactView &view, const InspectOptions &options, llvm::raw_ostream &os) {
  std::string size = "  " + bytesText(view.getFileSize());
  std::string source =
      "from " + getPrintable(view.getPlan().modelName) + ", by " + getPrintable(view.getPlan().compiler);
  std::string artifact = options.artifact;
  if (options.width) {
    // The source gets at most half of the line, and the artifact the rest.
    size_t width = options.width - std::min(options.width, size.size() + 2);
    source = shorten(source, std::max(width / 2, width - std::min(width, artifact.size())));
    artifact = shortenPath(artifact, width - std::min(width, source.size()));
  }
  os << artifact << size << "  " << source << "\n\n";
}

void tenon::printSummary(const ArtifactView &view, const InspectOptions &options, llvm::raw_ostream &os) {
  const rt::Plan &plan = view.getPlan();
  size_t width = options.width;
  printTitle(view, options, os);
  printList("inputs", listTensors(view, plan.inputs), ",", width, os);
  printList("outputs", listTensors(view, plan.outputs), ",", width, os);
  std::vector<std::string> states;
  for (const rt::State &state : plan.states)
    states.push_back(getPrintable(state.name) + ": " + getStateText(view, state));
  if (!states.empty())
    printList("states", states, ";", width, os);
  if (std::vector<std::string> symbols = listSymbols(plan); !symbols.empty())
    printList("symbols", symbols, ",", width, os);
  std::vector<std::string> targets = listTargets(view);
  printList(targets.size() == 1 ? "target" : "targets", targets, ",", width, os);
  if (view.getPrograms().size() > 1)
    printList("programs", listPrograms(view), ";", width, os);
  std::vector<Example> examples = listExamples(view);
  printMemory(view, examples, width, os);
  printWork(view, examples, width, os);
  constexpr size_t kMaxErrors = 3;
  std::vector<std::string> errors = listErrors(view.getMeta());
  for (auto [i, line] : llvm::enumerate(llvm::ArrayRef(errors).take_front(kMaxErrors)))
    printWords(i ? "" : "error", line, width, os);
  for (const std::string &line : listWeightFormats(view.getMeta()))
    printWords("formats", line, width, os);
  for (const std::string &line : listPlanTimes(view.getMeta()))
    printWords("time", line, width, os);
  if (std::string forms = getFormsText(view); !forms.empty())
    printWords("forms", forms, width, os);
  if (std::string records = getRecordsText(view); !records.empty())
    printWords("records", records, width, os);
  printKernels(view, examples, width, os);
  os << "\nMore with --kernels, --instructions, --memory, --weights, --symbols, --sections or --all.\n";
}
