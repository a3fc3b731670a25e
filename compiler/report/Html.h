//===- Html.h - markup in which text cannot become markup ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_HTML_H
#define TENON_COMPILER_REPORT_HTML_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace tenon {

/// A fragment of a page. Text is escaped on conversion, so that names from a file, which may be hostile, cannot
/// accidentally become markup.
class Html {
  friend Html beginSection(llvm::StringRef title);

public:
  Html() = default;
  Html(llvm::StringRef text);
  Html(const std::string &text) : Html(llvm::StringRef(text)) {}
  Html(const char *text) : Html(llvm::StringRef(text)) {}

  /// `tag` and `classes` are written unescaped, and must not come from a file.
  static Html element(llvm::StringRef tag, const Html &content, llvm::StringRef classes = "");
  /// Returns a link to the element with the id `anchor`, with an optional tooltip.
  static Html link(llvm::StringRef anchor, const Html &label, llvm::StringRef tooltip = "");

  /// Returns a bar of a chart in a table; `share` is in [0, 1].
  static Html bar(double share);

  /// Returns `summary` with expandable details.
  static Html folded(const Html &summary, const Html &details);

  Html &operator+=(const Html &other);
  bool empty() const { return markup.empty(); }
  const std::string &getMarkup() const { return markup; }

private:
  std::string markup;
};

Html operator+(Html first, const Html &second);
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Html &html);

/// Begins a section with a heading; its id is made of the letters of `title` in lower case.
Html beginSection(llvm::StringRef title);

/// Returns "#12", a link to the instruction's row, which has the id "i12".
Html getInstructionLink(uint32_t instruction);

/// Returns the names of fused nodes; if there are several, collapsed behind the first one.
Html foldNodes(llvm::StringRef nodes);

/// A table of a page.
class HtmlTable {
public:
  /// A title that begins with '>' marks a right-aligned column of numbers; '~' marks a column of long texts, which has
  /// a minimal width on a narrow display.
  explicit HtmlTable(std::vector<std::string> titles) : titles(std::move(titles)) {}

  /// A row; links find it by its id, if any.
  void add(std::vector<Html> cells, std::string id = "");
  bool empty() const { return rows.empty(); }
  /// A long table has a limited height, and scrolls. Empty columns are omitted.
  void print(llvm::raw_ostream &os) const;

private:
  struct Row {
    std::string id;
    std::vector<Html> cells;
  };
  void printCell(const char *tag, size_t column, const Html &content, llvm::raw_ostream &os) const;

  std::vector<std::string> titles;
  std::vector<Row> rows;
};

} // namespace tenon

#endif // TENON_COMPILER_REPORT_HTML_H
