//===- HtmlTests.cpp - text in pages, and what the JSON section may hold ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/Describe.h"
#include "compiler/report/Html.h"
#include "compiler/report/HtmlPage.h"
#include "compiler/report/Meta.h"
#include "llvm/Support/raw_ostream.h"
#include <catch2/catch.hpp>

using namespace tenon;

static std::string print(const HtmlTable &table) {
  std::string text;
  llvm::raw_string_ostream os(text);
  table.print(os);
  return text;
}

TEST_CASE("text is escaped wherever it becomes a part of a page") {
  CHECK(Html("<b>&\"'").getMarkup() == "&lt;b&gt;&amp;&quot;&apos;");
  CHECK((Html("<") + ">").getMarkup() == "&lt;&gt;");
  CHECK(Html::element("small", "<", "dim").getMarkup() == "<small class=\"dim\">&lt;</small>");
  CHECK(Html::link("b1", "<", "\" onload=\"").getMarkup() == "<a href=\"#b1\" title=\"&quot; onload=&quot;\">&lt;</a>");
  HtmlTable table({"<", ">n"});
  table.add({"<i>", "1"}, "\"x");
  std::string text = print(table);
  CHECK(text.find("<th>&lt;</th><th class=\"n\">n</th>") != std::string::npos);
  CHECK(text.find("<tr id=\"&quot;x\"><td>&lt;i&gt;</td><td class=\"n\">1</td></tr>") != std::string::npos);
}

TEST_CASE("a page begins with links to its sections, and text cannot be one") {
  CHECK(beginSection("Live at <it>").getMarkup() == "<section id=\"liveatit\"><h2>Live at &lt;it&gt;</h2>\n");
  Html content = beginSection("A b") + "<section id=\"x\"><h2>X</h2>" + beginSection("C");
  std::string text;
  llvm::raw_string_ostream os(text);
  printPage("<t>", content.getMarkup(), os);
  CHECK(text.find("<title>&lt;t&gt;</title>") != std::string::npos);
  CHECK(text.find("<nav><a href=\"#ab\">A b</a> <a href=\"#c\">C</a> </nav>\n" + content.getMarkup() + "<script>") !=
        std::string::npos);
}

TEST_CASE("columns without content are left out, and long tables scroll") {
  HtmlTable table({"a", "b", "c"});
  for (int i = 0; i < 24; ++i)
    table.add({std::to_string(i), "", i == 7 ? "x" : ""});
  std::string text = print(table);
  CHECK(text.find("<tr><th>a</th><th>c</th></tr>") != std::string::npos);
  CHECK(text.find("<tr><td>6</td><td></td></tr>\n<tr><td>7</td><td>x</td></tr>") != std::string::npos);
  CHECK(text.find("<div class=\"table\">") != std::string::npos);
  table.add({"24", "", ""});
  CHECK(print(table).find("<div class=\"table long\">") != std::string::npos);
}

TEST_CASE("fused nodes are shortened to the first and the number of the others") {
  CHECK(getShortNodes("conv1") == "conv1");
  CHECK(getShortNodes("conv1 + norm1") == "conv1 +1");
  CHECK(getShortNodes("conv1 + norm1 + relu1") == "conv1 +2");
  CHECK(getShortNodes("a+b") == "a+b");
  CHECK(foldNodes("a & b").getMarkup() == "a &amp; b");
  CHECK(foldNodes("<a> + b").getMarkup() == "<details><summary>&lt;a&gt; +1</summary>&lt;a&gt; + b</details>");
}

TEST_CASE("estimates of paths begin with the one that was taken, whatever the section holds") {
  auto paths = nlohmann::ordered_json::parse(R"({
    "good": {"path": "b", "cycles": {"a": 1, "b": 2, "c": 4, "d": -1, "e": "5"}},
    "same": {"path": "b", "cycles": {"a": 2, "b": 2}},
    "text": "b", "number": {"path": 1, "cycles": {"a": 1}}, "bare": {"path": "b"},
    "list": {"path": "b", "cycles": [1]}, "other": {"path": "b", "cycles": {"a": 1}}})");
  std::vector<PathEstimate> estimates = listPathEstimates(paths, "good");
  REQUIRE(estimates.size() == 3);
  CHECK((estimates[0].path == "b" && estimates[0].cycles == 2 && !estimates[0].isTooInexact));
  CHECK((estimates[1].path == "a" && estimates[1].cycles == 1 && estimates[1].isTooInexact));
  CHECK((estimates[2].path == "c" && estimates[2].cycles == 4 && !estimates[2].isTooInexact));
  CHECK(getPathText(paths, "good") == "b (2 cycles; a 1, not exact enough; c 4)");
  CHECK(!listPathEstimates(paths, "same")[1].isTooInexact);
  for (const char *kernel : {"absent", "text", "number", "bare", "list", "other"})
    CHECK(listPathEstimates(paths, kernel).empty());
  CHECK(getPathText(paths, "bare") == "b");
  CHECK(getPathText(paths, "number").empty());
}
