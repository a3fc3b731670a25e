//===- Table.h - columns of text -------------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_TABLE_H
#define TENON_COMPILER_REPORT_TABLE_H

#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace tenon {

/// Rows of cells, printed in columns as wide as their widest cell.
class Table {
public:
  /// A title that begins with '>' heads a column that is aligned to the right.
  explicit Table(std::vector<std::string> titles);

  void add(std::vector<std::string> cells);
  void print(llvm::raw_ostream &os) const;

private:
  std::vector<bool> isRight;
  std::vector<std::vector<std::string>> rows; // the first holds the titles
};

/// "1,234,567".
std::string groupDigits(uint64_t number);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_TABLE_H
