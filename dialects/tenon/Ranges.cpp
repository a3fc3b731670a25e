//===- Ranges.cpp - ranges of symbols as text -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Ranges.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace tenon;
using llvm::StringRef;

/// "128" or "1..512"
static std::optional<Interval> parseRange(StringRef text) {
  Interval range;
  auto [first, last] = text.split("..");
  if (first.getAsInteger(10, range.min) || range.min < 0)
    return std::nullopt;
  if (!text.contains(".."))
    return Interval::of(range.min);
  if (last.getAsInteger(10, range.max) || range.max < range.min)
    return std::nullopt;
  return range;
}

/// "1..512" or "1..512@64"
static std::optional<NamedRange> parseNamedRange(StringRef symbol, StringRef text) {
  auto [ends, value] = text.split('@');
  std::optional<Interval> range = parseRange(ends);
  if (symbol.empty() || !range)
    return std::nullopt;
  NamedRange named{symbol.str(), *range};
  if (int64_t hint; text.contains('@')) {
    if (value.getAsInteger(10, hint) || hint < range->min || hint > range->max)
      return std::nullopt;
    named.hint = hint;
  }
  return named;
}

llvm::Expected<std::vector<NamedRange>> tenon::parseRanges(StringRef text) {
  std::vector<NamedRange> ranges;
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ';');
  for (StringRef part : parts) {
    // A name may hold the sign itself.
    auto [symbol, values] = part.rsplit('=');
    std::optional<NamedRange> range = parseNamedRange(symbol, values);
    if (!range)
      return llvm::createStringError("'" + part + "' is no range; write N=128 or N=1..512");
    if (llvm::any_of(ranges, [&](const NamedRange &known) { return known.symbol == symbol; }))
      return llvm::createStringError("'" + symbol + "' is named twice");
    ranges.push_back(std::move(*range));
  }
  return ranges;
}

std::string tenon::printRanges(llvm::ArrayRef<NamedRange> ranges, bool withHints) {
  std::string text;
  for (const NamedRange &range : ranges) {
    text += (text.empty() ? "" : ";") + range.symbol + "=" + std::to_string(range.range.min);
    if (!range.range.isSingleton())
      text += ".." + std::to_string(range.range.max);
    if (withHints && range.hint)
      text += "@" + std::to_string(*range.hint);
  }
  return text;
}
