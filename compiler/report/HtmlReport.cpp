//===- HtmlReport.cpp - an artifact as a page ------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names come from models, which may be hostile: all text goes through Page::text.
//
//===----------------------------------------------------------------------===//

#include "compiler/report/HtmlReport.h"
#include "compiler/artifact/OutputFile.h"
#include "compiler/report/ArtifactView.h"
#include "compiler/report/Describe.h"
#include "compiler/report/ErrorFigures.h"
#include "compiler/report/MemoryFigures.h"
#include "compiler/report/MemoryMap.h"
#include "compiler/report/Table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace tenon;
using rt::Storage;

static constexpr const char *kStyle = R"css(
:root { color-scheme: light dark; --text: #1a1d21; --dim: #5c6570; --line: #d5dae0; --back: #fff; --panel: #f6f7f9;
  --own: #4c8dd6; --shared: #d9932f; --live: #b3261e; --edge: #fff; --label: #08111b; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e7eb; --dim: #9aa4b0; --line: #363c44; --back: #16191d; --panel: #1e2227;
    --own: #4a86c9; --shared: #b97b23; --live: #ff8a80; --edge: #16191d; --label: #fff; } }
body { margin: 0 auto; padding: 1.5rem; max-width: 90rem; color: var(--text); background: var(--back);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
p { margin: .25rem 0 .5rem; overflow-wrap: anywhere; }
small, .axis, .legend { color: var(--dim); font-size: .85rem; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; }
th { text-align: left; color: var(--dim); font-weight: 600; }
th, td { padding: .2rem .9rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top;
  overflow-wrap: break-word; max-width: 34rem; }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
summary { cursor: pointer; color: var(--dim); }
.map { overflow-x: auto; padding: 1.6rem 0 1.8rem 4.5rem; background: var(--panel); }
.area { position: relative; height: 30rem; margin-right: 1rem; border-left: 1px solid var(--dim);
  border-bottom: 1px solid var(--dim); border-top: 1px dotted var(--dim); }
.area svg { position: absolute; inset: 0; width: 100%; height: 100%; }
rect { fill: var(--own); fill-opacity: .55; stroke: var(--edge); stroke-width: .5; vector-effect: non-scaling-stroke; }
rect.shared { fill: var(--shared); }
rect.peak { fill-opacity: .95; }
rect:hover { stroke: var(--text); stroke-width: 2; }
path, line { fill: none; vector-effect: non-scaling-stroke; pointer-events: none; }
.live { stroke: var(--live); stroke-width: 1.5; }
.bound { stroke: var(--live); stroke-width: 1; stroke-dasharray: 6 4; }
.at { stroke: var(--text); stroke-width: 1; stroke-dasharray: 2 3; }
.label { position: absolute; box-sizing: border-box; padding: 0 .3rem; font-size: .72rem; line-height: 1.3; color: var(--label);
  white-space: nowrap; overflow: hidden; text-overflow: ellipsis; pointer-events: none; }
.tick { position: absolute; font-size: .72rem; color: var(--dim); white-space: nowrap; pointer-events: none; }
.tick.y { right: 100%; transform: translateY(-50%); padding-right: .4rem; }
.tick.top { bottom: 100%; padding-bottom: .2rem; transform: translateX(-50%); color: var(--text); }
.tick.x { top: 100%; transform: translateX(-50%); padding-top: .2rem; }
.legend span { white-space: nowrap; margin-right: .8rem; }
.legend i { display: inline-block; width: .9rem; height: .7rem; margin-right: .35rem; }
.legend .own { background: var(--own); opacity: .55; }
.legend .shared { background: var(--shared); opacity: .55; }
.legend .peak { opacity: 1; }
.legend .live, .legend .bound { height: 0; border-top: 2px solid var(--live); vertical-align: middle; }
.legend .bound { border-top-style: dashed; }
)css";

/// Rows that stand open; a longer table is folded.
static constexpr size_t kOpenRows = 40;

namespace {
class Page {
public:
  Page(const ArtifactView &view, llvm::raw_ostream &os) : view(view), plan(view.getPlan()), os(os) {}
  void print(const std::string &artifact, const std::string &whyNoMap);

private:
  /// A table; cells of columns whose title begins with '>' are numbers.
  struct Rows {
    std::vector<std::string> titles;
    std::vector<std::vector<std::string>> cells;
  };
  void text(llvm::StringRef value) { llvm::printHTMLEscaped(value, os); }
  void printRows(const Rows &rows);
  void printTable(llvm::StringRef title, const Rows &rows);
  void printSummary(const std::string &artifact);
  void printValues();
  void printSymbols();
  void printMemory(const std::string &whyNoMap);
  void printKernels();
  void printInstructions();
  void printWeights();

  const ArtifactView &view;
  const rt::Plan &plan;
  llvm::raw_ostream &os;
};
} // namespace

void Page::printRows(const Rows &rows) {
  auto tag = [&](const char *name, size_t column, llvm::StringRef value) {
    bool isNumber = llvm::StringRef(rows.titles[column]).starts_with(">");
    os << '<' << name << (isNumber ? " class=\"n\">" : ">");
    text(value);
    os << "</" << name << '>';
  };
  os << "<div class=\"table\"><table>\n<tr>";
  for (auto [i, title] : llvm::enumerate(rows.titles))
    tag("th", i, llvm::StringRef(title).ltrim('>'));
  os << "</tr>\n";
  for (const auto &row : rows.cells) {
    os << "<tr>";
    for (auto [i, cell] : llvm::enumerate(row))
      tag("td", i, cell);
    os << "</tr>\n";
  }
  os << "</table></div>\n";
}

void Page::printTable(llvm::StringRef title, const Rows &rows) {
  if (rows.cells.empty())
    return;
  os << "<h2>" << title << "</h2>\n";
  bool isLong = rows.cells.size() > kOpenRows;
  if (isLong)
    os << "<details><summary>" << rows.cells.size() << " rows</summary>\n";
  printRows(rows);
  if (isLong)
    os << "</details>\n";
}

void Page::printSummary(const std::string &artifact) {
  os << "<h1>";
  text(getPrintable(plan.modelName));
  os << "</h1>\n<p>";
  text(getPrintable(llvm::sys::path::filename(artifact)));
  os << ", " << groupDigits(view.getFileSize()) << " bytes, written by ";
  text(getPrintable(plan.compiler));
  for (const fmt::Section &section : view.getContainer().sections)
    if (section.kind == fmt::SectionKind::code) {
      os << "; code for ";
      text(getPrintable(rt::targetName(section)) + " (" + getPrintable(rt::targetNeeds(section)) + ")");
    }
  os << "</p>\n";
}

void Page::printValues() {
  Rows rows{{"", "name", "type"}, {}};
  for (const rt::Tensor &input : plan.inputs)
    rows.cells.push_back({"input", getPrintable(input.name), getType(view, input)});
  for (const rt::Tensor &output : plan.outputs)
    rows.cells.push_back({"output", getPrintable(output.name), getType(view, output)});
  for (const std::string &line : listErrors(view.getMeta()))
    rows.cells.push_back({"error", "", line});
  printTable("Inputs and outputs", rows);
}

void Page::printSymbols() {
  Rows rows{{"name", ">from", ">to", ">here", "bound by"}, {}};
  const PlanSizes *sizes = view.getSizes();
  for (auto [i, symbol] : llvm::enumerate(plan.symbols))
    rows.cells.push_back({getPrintable(symbol.name), std::to_string(symbol.min),
                          symbol.max == INT64_MAX ? "any" : std::to_string(symbol.max),
                          sizes && sizes->symbolKnown[i] ? std::to_string(sizes->symbols[i]) : "", view.getBinding(i)});
  printTable("Symbols", rows);
}

void Page::printMemory(const std::string &whyNoMap) {
  Rows rows{{"on device 'cpu'", ">bytes", ""}, {}};
  for (const MemoryFigure &figure : listMemory(plan, view.getWeightBytes(), view.getSizes()))
    rows.cells.push_back(
        {figure.title,
         figure.bytes ? groupDigits(*figure.bytes) : groupDigits(figure.least) + " to " + getBoundText(figure.most),
         figure.note});
  printTable("Memory", rows);
  os << "<h2>Memory map</h2>\n";
  if (view.getLiveness()) {
    printMemoryMap(view, os);
    return;
  }
  os << "<p>There is none: ";
  text(getPrintable(whyNoMap));
  os << "</p>\n";
}

void Page::printKernels() {
  Rows rows{{">#", "entry point", ">launches", ">flops", ">bytes", ">flops/byte", "computes"}, {}};
  for (auto [i, kernel] : llvm::enumerate(plan.kernels))
    rows.cells.push_back({std::to_string(i), getPrintable(kernel.name), std::to_string(view.getLaunches(i)),
                          kernel.flops ? groupDigits(kernel.flops) : "", kernel.bytes ? groupDigits(kernel.bytes) : "",
                          getIntensity(kernel.flops, kernel.bytes), getPrintable(kernel.display)});
  printTable("Kernels", rows);
}

void Page::printInstructions() {
  Rows rows{{">#", "operation", "what", "sizes", "nodes", "buffers"}, {}};
  for (auto [i, instruction] : llvm::enumerate(plan.instructions))
    rows.cells.push_back({std::to_string(i), fmt::kInstructions[static_cast<uint8_t>(instruction.op)].name,
                          getFields(view, instruction), getSizes(view, instruction), getPrintable(instruction.name),
                          getBuffers(view, instruction)});
  printTable("Instructions", rows);
}

void Page::printWeights() {
  Rows rows{{">offset", ">bytes", "name"}, {}};
  std::vector<uint32_t> weights;
  for (auto [i, buffer] : llvm::enumerate(plan.buffers))
    if (buffer.storage == Storage::weight)
      weights.push_back(i);
  auto getSize = [&](uint32_t i) { return view.getConstant(plan.buffers[i].size).value_or(0); };
  llvm::sort(weights, [&](uint32_t a, uint32_t b) { return std::pair(getSize(b), a) < std::pair(getSize(a), b); });
  for (uint32_t i : weights)
    rows.cells.push_back(
        {view.getBytes(plan.buffers[i].offset), view.getBytes(plan.buffers[i].size), view.getBufferName(i)});
  printTable("Weights", rows);
}

void Page::print(const std::string &artifact, const std::string &whyNoMap) {
  os << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'\">\n<title>";
  text(getPrintable(plan.modelName));
  os << "</title>\n<style>" << kStyle << "</style>\n</head>\n<body>\n";
  printSummary(artifact);
  printValues();
  printSymbols();
  printMemory(whyNoMap);
  printKernels();
  printInstructions();
  printWeights();
  os << "</body>\n</html>\n";
}

int tenon::writeHtmlReport(const std::string &artifact, const SizeArguments &sizes, const std::string &report,
                           llvm::raw_ostream &errors) {
  auto fail = [&](const rt::Status &status) {
    errors << "tenon: error: " << artifact << ": " << status.message() << '\n';
    return static_cast<int>(status.code());
  };
  ArtifactView view;
  if (rt::Status status = view.open(artifact, /*verify=*/false, {}); status.failed())
    return fail(status);
  rt::Status status = view.chooseSizes(sizes, MissingSizes::madeUp);
  if (status.failed() && sizes.isAnyGiven())
    return fail(status);
  std::string whyNoMap = status.failed() ? std::string(status.message()) + "; say sizes to tenon inspect --report"
                                         : "the plan is too large";
  auto write = [&](llvm::raw_ostream &os) { Page(view, os).print(artifact, whyNoMap); };
  if (llvm::Error error = writeOutputFile(report, write)) {
    errors << "tenon: error: cannot write " << report << ": " << llvm::toString(std::move(error)) << '\n';
    return 4;
  }
  return 0;
}
