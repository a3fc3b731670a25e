//===- SizeProfiles.cpp - the sizes that an artifact has programs for -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/SizeProfiles.h"
#include "compiler/errors/CompileError.h"
#include "runtime/format/Layout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"

using namespace tenon;
using llvm::StringRef;

/// The largest number of values in a small range, or in a product of several.
static constexpr size_t kMaxValues = 16;
/// The largest number of programs in an artifact besides the one for all sizes.
static constexpr size_t kMaxPrograms = fmt::kMaxPlans - 1;

namespace {
/// One symbol of a profile.
struct Entry {
  std::string symbol;
  std::vector<int64_t> values; ///< each for a program of its own
  Interval range;              ///< of the program for the others
  bool isRanged = false;       ///< whether there is one
};
} // namespace

static bool parseNumber(StringRef text, int64_t &value) { return !text.getAsInteger(10, value) && value >= 0; }

static bool parseTriple(StringRef text, Entry &entry) {
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',');
  int64_t best;
  if (parts.size() != 3 || !parseNumber(parts[0], entry.range.min) || !parseNumber(parts[1], best) ||
      !parseNumber(parts[2], entry.range.max) || best < entry.range.min || best > entry.range.max)
    return false;
  entry.values = {best};
  entry.isRanged = true;
  return true;
}

static bool parseValues(StringRef text, Entry &entry) {
  auto [first, last] = text.split("..");
  if (!parseNumber(first, entry.range.min) || !parseNumber(text.contains("..") ? last : first, entry.range.max) ||
      entry.range.max < entry.range.min || entry.range.max - entry.range.min >= static_cast<int64_t>(kMaxValues))
    return false;
  for (int64_t value = entry.range.min; value <= entry.range.max; ++value)
    entry.values.push_back(value);
  return true;
}

static llvm::Error refuse(const llvm::Twine &message) { return makeError(CompileStatus::misuse, message); }

static llvm::Error parseEntries(StringRef text, std::vector<Entry> &entries) {
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ';');
  for (StringRef part : parts) {
    auto [symbol, values] = part.rsplit('=');
    Entry entry{symbol.str(), {}, {}};
    if (symbol.empty() || !(values.contains(',') ? parseTriple(values, entry) : parseValues(values, entry)))
      return refuse("'" + part + "' has to look like N=1,128,512 (least, best, most), N=1..4 (at most " +
                    llvm::Twine(kMaxValues) + " values) or N=128");
    for (const Entry &known : entries)
      if (known.symbol == entry.symbol)
        return refuse("'" + entry.symbol + "' is named twice; give each profile an option of its own");
    entries.push_back(std::move(entry));
  }
  return llvm::Error::success();
}

/// Every choice of one value a symbol.
static std::vector<std::vector<NamedRange>> combineValues(const std::vector<Entry> &entries) {
  std::vector<std::vector<NamedRange>> all(1);
  for (const Entry &entry : entries) {
    assert(!entry.values.empty() && "a profile has a value of each of its symbols");
    std::vector<std::vector<NamedRange>> longer;
    for (const std::vector<NamedRange> &begun : all)
      for (int64_t value : entry.values) {
        longer.push_back(begun);
        longer.back().push_back({entry.symbol, Interval::of(value)});
      }
    all = std::move(longer);
  }
  return all;
}

llvm::Error tenon::addProfile(StringRef text, SizePrograms &programs, std::vector<std::string> &symbols) {
  std::vector<Entry> entries;
  if (llvm::Error error = parseEntries(text, entries))
    return error;
  size_t count = 1;
  bool isRanged = false;
  std::vector<NamedRange> ranges;
  for (const Entry &entry : entries) {
    count *= entry.values.size();
    isRanged |= entry.isRanged;
    ranges.push_back({entry.symbol, entry.range});
    if (entry.isRanged)
      ranges.back().hint = entry.values.front();
    symbols.push_back(entry.symbol);
    if (count > kMaxValues)
      return refuse("asks for more than " + llvm::Twine(kMaxValues) + " combinations of values");
  }
  for (const std::vector<NamedRange> &choice : combineValues(entries))
    programs.fixed.push_back(choice);
  if (isRanged)
    programs.ranged.push_back(std::move(ranges));
  if (programs.list().size() > kMaxPrograms)
    return refuse("makes more than " + llvm::Twine(kMaxPrograms) + " programs with the profiles before it");
  return llvm::Error::success();
}

std::vector<std::string> SizePrograms::list() const {
  std::vector<std::string> all;
  llvm::StringSet<> known;
  for (const std::vector<std::vector<NamedRange>> *programs : {&fixed, &ranged})
    for (const std::vector<NamedRange> &ranges : *programs)
      if (known.insert(printRanges(ranges)).second)
        all.push_back(printRanges(ranges, /*withHints=*/true));
  return all;
}
