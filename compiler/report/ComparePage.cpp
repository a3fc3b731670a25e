//===- ComparePage.cpp - two artifacts as a page ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/Compare.h"
#include "compiler/report/GraphSection.h"
#include "compiler/report/Html.h"
#include "compiler/report/HtmlPage.h"
#include "compiler/report/MemoryMap.h"
#include "compiler/report/Table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace tenon;

static std::string getNumber(std::optional<uint64_t> number) { return number ? groupDigits(*number) : ""; }

static void printTable(const char *title, const HtmlTable &table, const Html &note, llvm::raw_ostream &os) {
  os << beginSection(title);
  if (!note.empty())
    os << "<p class=\"note\">" << note << "</p>\n";
  if (!table.empty())
    table.print(os);
  os << "</section>\n";
}

static void printFacts(const Comparison &comparison, llvm::raw_ostream &os) {
  HtmlTable table({"", "~a", "~b"});
  for (const Comparison::Fact &fact : comparison.facts)
    if (!fact.isEqual())
      table.add({fact.key, fact.a, fact.b});
  std::vector<std::string> equal = listEqual(comparison);
  printTable("What differs", table, equal.empty() ? "" : "Equal: " + llvm::join(equal, ", ") + ".", os);
}

static void printFigures(const Comparison &comparison, llvm::raw_ostream &os) {
  HtmlTable table({"", ">a", ">b", ">change"});
  for (const Comparison::Figure &figure : comparison.figures)
    if (figure.a || figure.b)
      table.add({figure.title, getNumber(figure.a), getNumber(figure.b), describeChange(figure.a, figure.b)});
  printTable("Figures", table, {}, os);
}

/// What a picture shows of both, side by side.
static void printPair(const char *title, llvm::function_ref<void(bool isFirst)> print, llvm::raw_ostream &os) {
  os << beginSection(title) << "<div class=\"graphs\"><div><h3>a</h3>\n";
  print(/*isFirst=*/true);
  os << "</div><div><h3>b</h3>\n";
  print(/*isFirst=*/false);
  os << "</div></div>\n</section>\n";
}

static void printKernels(const Comparison &comparison, llvm::raw_ostream &os) {
  size_t numEqual = llvm::count_if(comparison.kernels, [](const auto &pair) { return pair.isEqual(); });
  HtmlTable table({">launches", "kernel of a", "kernel of b", "path of a", "path of b", ">flops of a", ">flops of b",
                   ">bytes of a", ">bytes of b", ">code of a", ">code of b", "~computes"});
  for (const Comparison::KernelPair &pair : comparison.kernels) {
    if (pair.isEqual())
      continue;
    Comparison::KernelPair::Side none, a = pair.a.value_or(none), b = pair.b.value_or(none);
    table.add({std::to_string(pair.launches), a.kernel, b.kernel, Html::element("span", a.path, "name"),
               Html::element("span", b.path, "name"), getNumber(a.flops), getNumber(b.flops), getNumber(a.bytes),
               getNumber(b.bytes), getNumber(a.code), getNumber(b.code), foldNodes(pair.nodes)});
  }
  printTable("Kernels", table,
             "Kernels that are launched for the same nodes of the model and differ, then those of only one artifact. "
             "Flops and bytes are those of one launch; " +
                 groupDigits(numEqual) + (numEqual == 1 ? " more is" : " more are") + " equal.",
             os);
}

static void printWeights(const Comparison &comparison, llvm::raw_ostream &os) {
  HtmlTable table({">bytes of a", ">bytes of b", ">change", "~name"});
  for (const Comparison::Weight &weight : comparison.weights)
    table.add({weight.bytesOfA ? groupDigits(weight.bytesOfA) : "", weight.bytesOfB ? groupDigits(weight.bytesOfB) : "",
               describeChange(weight.bytesOfA, weight.bytesOfB), weight.name});
  printTable("Weights", table,
             "By their names, or the nodes that read them: " + groupDigits(comparison.equalWeights) + " equal, " +
                 groupDigits(comparison.weights.size()) + " different in size.",
             os);
}

void tenon::printComparisonPage(const Comparison &comparison, const ArtifactView &a, const ArtifactView &b,
                                const CompareOptions &options, llvm::raw_ostream &page) {
  auto getName = [](const std::string &path) { return getPrintable(llvm::sys::path::filename(path)); };
  std::string content;
  llvm::raw_string_ostream os(content);
  os << "<dl><dt>a</dt><dd>" << Html(getPrintable(options.a)) << "</dd>\n<dt>b</dt><dd>"
     << Html(getPrintable(options.b)) << "</dd></dl>\n<div class=\"facts\">\n";
  printFacts(comparison, os);
  printFigures(comparison, os);
  os << "</div>\n";
  printPair(
      "Memory maps",
      [&](bool isFirst) {
        const ArtifactView &view = isFirst ? a : b;
        if (view.getLiveness())
          printMemoryMap(view, os, /*isLinked=*/false);
        else
          os << "<p>There is none: it needs sizes, and a plan that is not too large</p>\n";
      },
      os);
  printKernels(comparison, os);
  printPair("Graphs", [&](bool isFirst) { printPlanGraph(isFirst ? a : b, isFirst ? "a" : "b", os); }, os);
  printWeights(comparison, os);
  printPage(getName(options.a) + " and " + getName(options.b), content, page);
}
