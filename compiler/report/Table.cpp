//===- Table.cpp - columns of text -----------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/Table.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/raw_ostream.h"

using namespace tenon;

static size_t getWidth(const std::string &text) {
  int width = llvm::sys::unicode::columnWidthUTF8(text);
  return width < 0 ? text.size() : width;
}

Table::Table(std::vector<std::string> titles) {
  for (std::string &title : titles) {
    isRight.push_back(!title.empty() && title[0] == '>');
    title.erase(0, isRight.back());
  }
  rows.push_back(std::move(titles));
}

void Table::add(std::vector<std::string> cells) { rows.push_back(std::move(cells)); }

void Table::print(llvm::raw_ostream &os) const {
  std::vector<size_t> widths(isRight.size());
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], getWidth(row[i]));
  for (const auto &row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      std::string padding(widths[i] - getWidth(row[i]), ' ');
      line += "  " + (isRight[i] ? padding + row[i] : row[i] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    os << line << '\n';
  }
}

std::string tenon::groupDigits(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t end = text.size(); end > 3; end -= 3)
    text.insert(end - 3, ",");
  return text;
}
