//===- BufferFile.cpp - buffers and their places as CSV -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/BufferFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"
#include <charconv>

using namespace tenon;

static llvm::Error makeLineError(size_t line, const llvm::Twine &text) {
  return llvm::createStringError(llvm::Twine(line) + ": " + text);
}

std::string tenon::quoteCell(llvm::StringRef cell) {
  constexpr size_t kLongest = 40;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '\'';
  llvm::printEscapedString(cell.take_front(kLongest), os);
  os << (cell.size() > kLongest ? "...'" : "'");
  return text;
}

namespace {

/// The positions of the columns; alignment is optional.
struct Header {
  size_t count = 0;
  std::optional<size_t> id, lower, upper, size, alignment;
};

using Cells = llvm::SmallVector<llvm::StringRef, 8>;

} // namespace

static Cells split(llvm::StringRef line) {
  Cells cells;
  line.split(cells, ',');
  for (llvm::StringRef &cell : cells)
    cell = cell.trim();
  return cells;
}

static llvm::Expected<Header> parseHeader(const Cells &cells, size_t line) {
  Header header;
  header.count = cells.size();
  const std::pair<llvm::StringRef, std::optional<size_t> *> columns[] = {
      {"id", &header.id},     {"lower", &header.lower},         {"upper", &header.upper},
      {"size", &header.size}, {"alignment", &header.alignment},
  };
  for (auto [i, cell] : llvm::enumerate(cells)) {
    auto *column = llvm::find_if(columns, [&](const auto &known) { return known.first == cell; });
    if (column == std::end(columns)) {
      if (cell == "offset" || cell == "hint" || cell == "gaps")
        continue;
      return makeLineError(line, "column " + quoteCell(cell) +
                                     " is not known; there are id, lower, upper, size and alignment");
    }
    if (*column->second)
      return makeLineError(line, "column '" + cell + "' is there twice");
    *column->second = i;
  }
  for (auto [name, column] : columns)
    if (!*column && column != &header.alignment)
      return makeLineError(line, "column '" + name + "' is missing; the first line names id, lower, upper and size");
  return header;
}

static llvm::Expected<int64_t> parseNumber(llvm::StringRef cell, llvm::StringRef name, size_t line) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(cell.begin(), cell.end(), value);
  if (error == std::errc::result_out_of_range)
    return makeLineError(line, name + " is " + quoteCell(cell) + ", which 64 bits do not hold");
  if (error != std::errc() || end != cell.end())
    return makeLineError(line, name + " is " + quoteCell(cell) + ", expected a whole number");
  return value;
}

static llvm::Expected<placement::Buffer> parseBuffer(const Header &header, const Cells &cells, size_t line) {
  placement::Buffer buffer;
  const std::tuple<llvm::StringRef, std::optional<size_t>, int64_t *> columns[] = {
      {"lower", header.lower, &buffer.lower},
      {"upper", header.upper, &buffer.upper},
      {"size", header.size, &buffer.size},
      {"alignment", header.alignment, &buffer.alignment},
  };
  for (auto [name, column, value] : columns) {
    if (!column)
      continue;
    llvm::Expected<int64_t> number = parseNumber(cells[*column], name, line);
    if (!number)
      return number.takeError();
    *value = *number;
  }
  return buffer;
}

llvm::Expected<BufferFile> tenon::parseBuffers(llvm::StringRef text) {
  BufferFile file;
  std::optional<Header> header;
  std::vector<size_t> lines; // of the buffers
  llvm::StringMap<size_t> seen;
  for (size_t line = 1; !text.empty(); ++line) {
    llvm::StringRef current;
    std::tie(current, text) = text.split('\n');
    if (current.trim().empty())
      continue;
    Cells cells = split(current);
    if (!header) {
      llvm::Expected<Header> parsed = parseHeader(cells, line);
      if (!parsed)
        return parsed.takeError();
      header = *parsed;
      continue;
    }
    if (cells.size() != header->count)
      return makeLineError(line, "has " + llvm::Twine(cells.size()) + " columns, and the first line names " +
                                     llvm::Twine(header->count));
    auto [first, isNew] = seen.try_emplace(cells[*header->id], line);
    if (!isNew)
      return makeLineError(line,
                           "id " + quoteCell(cells[*header->id]) + " is that of line " + llvm::Twine(first->second));
    llvm::Expected<placement::Buffer> buffer = parseBuffer(*header, cells, line);
    if (!buffer)
      return buffer.takeError();
    file.ids.push_back(cells[*header->id].str());
    file.buffers.push_back(*buffer);
    lines.push_back(line);
  }
  if (!header)
    return makeLineError(1, "the file is empty; its first line names the columns id, lower, upper and size");
  if (std::optional<placement::InstanceFault> fault = placement::findInstanceFault(file.buffers))
    return makeLineError(lines[fault->buffer], fault->text);
  file.hasAlignment = header->alignment.has_value();
  return file;
}

void tenon::printBuffers(const BufferFile &file, const placement::Placement &placement, llvm::raw_ostream &os) {
  os << "id,lower,upper,size," << (file.hasAlignment ? "alignment," : "") << "offset\n";
  for (size_t i = 0; i < file.buffers.size(); ++i) {
    const placement::Buffer &buffer = file.buffers[i];
    os << file.ids[i] << ',' << buffer.lower << ',' << buffer.upper << ',' << buffer.size << ',';
    if (file.hasAlignment)
      os << buffer.alignment << ',';
    os << placement.offsets[i] << '\n';
  }
}
