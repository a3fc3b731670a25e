//===- Table.h - columns of text -------------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_TABLE_H
#define TENON_COMPILER_REPORT_TABLE_H

#include "runtime/base/Text.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace tenon {

/// Rows of cells, printed in columns as wide as their widest cell.
class Table {
public:
  /// A title that begins with '>' marks a right-aligned column; '~' marks a column of texts that may be shortened.
  explicit Table(std::vector<std::string> titles);

  void add(std::vector<std::string> cells);
  /// If rows are wider than `width` columns, shortens texts in '~' columns, the widest column first. 0 means no limit.
  void print(llvm::raw_ostream &os, size_t width = 0) const;

private:
  void fit(std::vector<size_t> &widths, size_t width) const;

  std::vector<bool> isRight, isFlexible;
  std::vector<std::vector<std::string>> rows; // the first holds the titles
};

/// Shortens `text` to at most `width` columns by replacing its middle by "..", since names differ at their ends.
std::string shorten(const std::string &text, size_t width);

/// Shortens `text` to at most `width` columns by replacing its beginning by "…", for names in a box with a tooltip.
std::string shortenFront(llvm::StringRef text, size_t width);

/// Columns that a text takes on a terminal.
size_t getColumns(llvm::StringRef text);

/// Shortens `path` to at most `width` columns by removing folders before the file's name.
std::string shortenPath(const std::string &path, size_t width);

/// Prints "  inputs    a, b": items after a title of at most 9 letters, wrapped to lines of `width` columns with the
/// items aligned; an item that is wider is shortened. 0 means one line.
void printList(llvm::StringRef title, llvm::ArrayRef<std::string> items, llvm::StringRef separator, size_t width,
               llvm::raw_ostream &os);

/// The same with the words of a text as items.
void printWords(llvm::StringRef title, llvm::StringRef text, size_t width, llvm::raw_ostream &os);

/// "41.20 ms", "3.50 us", "12 ns".
std::string timeText(double nanoseconds);

using rt::bytesText;
using rt::groupDigits;

} // namespace tenon

#endif // TENON_COMPILER_REPORT_TABLE_H
