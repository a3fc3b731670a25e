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
#include "compiler/report/ArtifactView.h"
#include "compiler/report/Describe.h"
#include "compiler/report/ErrorFigures.h"
#include "compiler/report/Html.h"
#include "compiler/report/HtmlStyle.h"
#include "compiler/report/MemoryFigures.h"
#include "compiler/report/MemoryMap.h"
#include "compiler/report/Summary.h"
#include "compiler/report/Table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace tenon;
using rt::Storage;

namespace {
class Page {
public:
  Page(const ArtifactView &view, llvm::raw_ostream &os) : view(view), plan(view.getPlan()), os(os) {}
  void print(const std::string &artifact, const std::string &whyNoMap);

private:
  void printTable(llvm::StringRef title, const HtmlTable &table);
  void printItems(llvm::StringRef title, llvm::ArrayRef<std::string> items, llvm::StringRef separator);
  void printTargets();
  void printSummary();
  void printMap(const std::string &whyNoMap);
  void printSymbols();
  void printMemory();
  void printKernels();
  void printInstructions();
  void printWeights();

  const ArtifactView &view;
  const rt::Plan &plan;
  llvm::raw_ostream &os;
};
} // namespace

void Page::printTable(llvm::StringRef title, const HtmlTable &table) {
  if (table.empty())
    return;
  os << "<section><h2>" << Html(title) << "</h2>\n";
  table.print(os);
  os << "</section>\n";
}

/// One entry of the summary.
void Page::printItems(llvm::StringRef title, llvm::ArrayRef<std::string> items, llvm::StringRef separator) {
  if (!items.empty())
    os << "<dt>" << Html(title) << "</dt><dd>" << Html(llvm::join(items, separator)) << "</dd>\n";
}

/// Dozens of processor features would fill the first screen: they are folded.
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
  printItems("inputs", listTensors(view, plan.inputs), ", ");
  printItems("outputs", listTensors(view, plan.outputs), ", ");
  printItems("symbols", listSymbols(plan), ", ");
  printTargets();
  if (view.getPrograms().size() > 1)
    printItems("programs", listPrograms(view), "; ");
  printItems("memory", listMemoryItems(view), " + ");
  printItems("work", listWork(view), ", ");
  printItems("error", listErrors(view.getMeta()), "; ");
  os << "</dl>\n";
}

void Page::printMap(const std::string &whyNoMap) {
  os << "<section><h2>Memory map</h2>\n";
  if (view.getLiveness())
    printMemoryMap(view, os);
  else
    os << "<p>There is none: " << Html(getPrintable(whyNoMap)) << "</p>\n";
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
  HtmlTable table({"on device 'cpu'", ">bytes", ""});
  for (const MemoryFigure &figure : listMemory(plan, view.getWeightBytes(), view.getSizes()))
    table.add(
        {figure.title,
         figure.bytes ? groupDigits(*figure.bytes) : groupDigits(figure.least) + " to " + getBoundText(figure.most),
         figure.note});
  printTable("Memory", table);
}

void Page::printKernels() {
  HtmlTable table({">#", "entry point", ">launches", ">flops", ">bytes", ">flops/byte", "computes"});
  for (auto [i, kernel] : llvm::enumerate(plan.kernels))
    table.add({std::to_string(i), getPrintable(kernel.name), std::to_string(view.getLaunches(i)),
               kernel.flops ? groupDigits(kernel.flops) : "", kernel.bytes ? groupDigits(kernel.bytes) : "",
               getIntensity(kernel.flops, kernel.bytes), getPrintable(kernel.display)});
  printTable("Kernels", table);
}

void Page::printInstructions() {
  HtmlTable table({">#", "operation", "what", "sizes", "nodes", "buffers"});
  for (auto [i, instruction] : llvm::enumerate(plan.instructions))
    table.add({std::to_string(i), fmt::kInstructions[static_cast<uint8_t>(instruction.op)].name,
               getFields(view, instruction), getSizes(view, instruction), getPrintable(instruction.name),
               getBuffers(view, instruction)});
  printTable("Instructions", table);
}

void Page::printWeights() {
  HtmlTable table({">offset", ">bytes", "name"});
  std::vector<uint32_t> weights;
  for (auto [i, buffer] : llvm::enumerate(plan.buffers))
    if (buffer.storage == Storage::weight)
      weights.push_back(i);
  auto getSize = [&](uint32_t i) { return view.getConstant(plan.buffers[i].size).value_or(0); };
  llvm::sort(weights, [&](uint32_t a, uint32_t b) { return std::pair(getSize(b), a) < std::pair(getSize(a), b); });
  for (uint32_t i : weights)
    table.add({view.getBytes(plan.buffers[i].offset), view.getBytes(plan.buffers[i].size), view.getBufferName(i)});
  printTable("Weights", table);
}

void Page::print(const std::string &artifact, const std::string &whyNoMap) {
  Html title = getPrintable(plan.modelName);
  os << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'\">\n<title>"
     << title << "</title>\n<style>" << kHtmlStyle << "</style>\n</head>\n<body>\n<h1>" << title << "</h1>\n<p>"
     << Html(getPrintable(llvm::sys::path::filename(artifact)) + ", " + getShortBytes(view.getFileSize()) +
             ", written by " + getPrintable(plan.compiler))
     << "</p>\n<div class=\"first\">\n";
  printSummary();
  printMap(whyNoMap);
  os << "</div>\n";
  if (view.getLiveness())
    printPeak(view, os);
  os << "<div class=\"facts\">\n";
  printMemory();
  printSymbols();
  os << "</div>\n";
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
