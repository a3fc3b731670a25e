//===- Html.cpp - markup in which text cannot become markup ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/Html.h"
#include "compiler/report/Describe.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cassert>

using namespace tenon;

/// Rows of a table that are shown in full height.
static constexpr size_t kMaxUnscrolledRows = 24;

Html::Html(llvm::StringRef text) {
  llvm::raw_string_ostream os(markup);
  llvm::printHTMLEscaped(text, os);
}

Html Html::element(llvm::StringRef tag, const Html &content, llvm::StringRef classes) {
  Html html;
  html.markup = ("<" + tag + (classes.empty() ? "" : " class=\"" + classes.str() + "\"") + ">").str() + content.markup +
                ("</" + tag + ">").str();
  return html;
}

Html Html::link(llvm::StringRef anchor, const Html &label, llvm::StringRef tooltip) {
  Html html;
  html.markup = "<a href=\"#" + Html(anchor).markup + "\"" +
                (tooltip.empty() ? "" : " title=\"" + Html(tooltip).markup + "\"") + ">" + label.markup + "</a>";
  return html;
}

Html Html::bar(double share) {
  Html html;
  html.markup = llvm::formatv("<span class=\"bar\" style=\"width:{0:F2}rem\"></span>", 8 * share).str();
  return html;
}

Html Html::folded(const Html &summary, const Html &details) {
  return element("details", element("summary", summary) + details);
}

Html &Html::operator+=(const Html &other) {
  markup += other.markup;
  return *this;
}

Html tenon::operator+(Html first, const Html &second) { return first += second; }

llvm::raw_ostream &tenon::operator<<(llvm::raw_ostream &os, const Html &html) { return os << html.getMarkup(); }

Html tenon::beginSection(llvm::StringRef title) {
  std::string id;
  for (char c : title)
    if (llvm::isAlpha(c))
      id += llvm::toLower(c);
  Html html;
  html.markup = "<section id=\"" + id + "\"><h2>" + Html(title).markup + "</h2>\n";
  return html;
}

Html tenon::getInstructionLink(uint32_t instruction) {
  std::string number = std::to_string(instruction);
  return Html::link("i" + number, "#" + number);
}

Html tenon::foldNodes(llvm::StringRef nodes) {
  std::string shortened = getShortNodes(nodes);
  return shortened == nodes ? Html(nodes) : Html::folded(shortened, nodes);
}

void HtmlTable::add(std::vector<Html> cells, std::string id) {
  assert(cells.size() == titles.size() && "each column has a cell");
  rows.push_back({std::move(id), std::move(cells)});
}

void HtmlTable::printCell(const char *tag, size_t column, const Html &content, llvm::raw_ostream &os) const {
  char kind = titles[column].empty() ? ' ' : titles[column].front();
  os << '<' << tag
     << (kind == '>'   ? " class=\"n\">"
         : kind == '~' ? " class=\"w\">"
                       : ">")
     << content << "</" << tag << '>';
}

void HtmlTable::print(llvm::raw_ostream &os) const {
  std::vector<size_t> columns;
  for (size_t column = 0; column < titles.size(); ++column)
    if (llvm::any_of(rows, [&](const Row &row) { return !row.cells[column].empty(); }))
      columns.push_back(column);
  os << "<div class=\"table" << (rows.size() > kMaxUnscrolledRows ? " long" : "") << "\"><table>\n<tr>";
  for (size_t column : columns)
    printCell("th", column, llvm::StringRef(titles[column]).ltrim(">~"), os);
  os << "</tr>\n";
  for (const Row &row : rows) {
    os << "<tr";
    if (!row.id.empty())
      os << " id=\"" << Html(row.id) << '"';
    os << '>';
    for (size_t column : columns)
      printCell("td", column, row.cells[column], os);
    os << "</tr>\n";
  }
  os << "</table></div>\n";
}
