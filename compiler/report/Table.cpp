//===- Table.cpp - columns of text -----------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/Table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/raw_ostream.h"

using namespace tenon;

size_t tenon::getColumns(llvm::StringRef text) {
  int width = llvm::sys::unicode::columnWidthUTF8(text);
  return width < 0 ? text.size() : width;
}

Table::Table(std::vector<std::string> titles) {
  for (std::string &title : titles) {
    isRight.push_back(!title.empty() && title[0] == '>');
    isFlexible.push_back(!title.empty() && title[0] == '~');
    title.erase(0, isRight.back() || isFlexible.back());
  }
  rows.push_back(std::move(titles));
}

void Table::add(std::vector<std::string> cells) { rows.push_back(std::move(cells)); }

void Table::fit(std::vector<size_t> &widths, size_t width) const {
  // limit: shorter texts say nothing.
  constexpr size_t kMinWidth = 12;
  size_t total = 0;
  for (size_t column : widths)
    total += column + 2;
  while (total > width) {
    size_t widest = widths.size();
    for (size_t i = 0; i < widths.size(); ++i)
      if (isFlexible[i] && widths[i] > kMinWidth && (widest == widths.size() || widths[i] > widths[widest]))
        widest = i;
    if (widest == widths.size())
      return;
    --widths[widest];
    --total;
  }
}

void Table::print(llvm::raw_ostream &os, size_t width) const {
  std::vector<size_t> widths(isRight.size());
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], getColumns(row[i]));
  if (width)
    fit(widths, width);
  for (const auto &row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      std::string cell = shorten(row[i], widths[i]), padding(widths[i] - getColumns(cell), ' ');
      line += "  " + (isRight[i] ? padding + cell : cell + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    os << line << '\n';
  }
}

std::string tenon::shorten(const std::string &text, size_t width) {
  if (getColumns(text) <= width)
    return text;
  if (width < 4)
    return std::string(width, '.');
  size_t front = (width - 2) / 2, back = text.size() - (width - 2 - front);
  // A multi-byte character has at least one column, so fewer bytes never take more columns.
  auto isInside = [&](size_t at) { return at < text.size() && (text[at] & 0xc0) == 0x80; };
  while (front > 0 && isInside(front))
    --front;
  while (isInside(back))
    ++back;
  return text.substr(0, front) + ".." + text.substr(back);
}

std::string tenon::shortenFront(llvm::StringRef text, size_t width) {
  if (getColumns(text) <= width)
    return text.str();
  // A character has at most four bytes and usually at least one column, so only the end of a long text is examined.
  llvm::StringRef end = text.take_back(4 * width);
  auto isInside = [&] { return !end.empty() && (end.front() & 0xc0) == 0x80; };
  while (isInside() || (!end.empty() && getColumns(end) + 1 > width))
    end = end.drop_front();
  return "…" + end.str();
}

std::string tenon::shortenPath(const std::string &path, size_t width) {
  return getColumns(path) <= width ? path : shorten(llvm::sys::path::filename(path).str(), width);
}

void tenon::printList(llvm::StringRef title, llvm::ArrayRef<std::string> items, llvm::StringRef separator, size_t width,
                      llvm::raw_ostream &os) {
  constexpr size_t kIndent = 12;
  std::string line = ("  " + title).str();
  line.resize(std::max(line.size() + 1, kIndent), ' ');
  bool isFirst = true;
  for (const auto &item : llvm::enumerate(items)) {
    bool isLast = item.index() + 1 == items.size();
    std::string text = item.value() + (isLast ? "" : separator.rtrim().str());
    if (!isFirst && width && getColumns(line) + 1 + getColumns(text) > width) {
      os << line << '\n';
      line = std::string(kIndent, ' ');
      isFirst = true;
    }
    line += (isFirst ? "" : " ") + (width ? shorten(text, std::max(width, 2 * kIndent) - kIndent) : text);
    isFirst = false;
  }
  os << line << '\n';
}

void tenon::printWords(llvm::StringRef title, llvm::StringRef text, size_t width, llvm::raw_ostream &os) {
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ' ');
  printList(title, llvm::map_to_vector(words, [](llvm::StringRef word) { return word.str(); }), "", width, os);
}

std::string tenon::timeText(double nanoseconds) {
  if (nanoseconds < 1e3)
    return llvm::formatv("{0:F0} ns", nanoseconds);
  if (nanoseconds < 1e6)
    return llvm::formatv("{0:F2} us", nanoseconds / 1e3);
  return llvm::formatv("{0:F2} ms", nanoseconds / 1e6);
}
