//===- UnicodeForms.cpp - NFC, NFD, NFKC and NFKD -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// ICU normalizes whole strings, without a mapping of characters; so the algorithm is implemented here, with ICU's
// tables.
//
// ===----------------------------------------------------------------------===//

#include "runtime/text/UnicodeForms.h"
#include "runtime/text/UnicodeAge.h"

#include <algorithm>
#include <optional>
#include <unicode/normalizer2.h>
#include <unicode/unistr.h>

using namespace tenon::text;

static constexpr int kUnicodeVersion = 9;

namespace {
/// Tables of decompositions, and of pairs that compose.
struct Tables {
  UErrorCode error = U_ZERO_ERROR;
  const icu::Normalizer2 *canonical = icu::Normalizer2::getNFCInstance(error);
  const icu::Normalizer2 *compatible = icu::Normalizer2::getNFKDInstance(error);
};
} // namespace

/// Returns null if ICU has no data, which is part of its library.
static const Tables *getTables() {
  static const Tables tables;
  return U_FAILURE(tables.error) ? nullptr : &tables;
}

static int combiningClass(const Tables &tables, char32_t c) {
  return isYoungerThan(c, kUnicodeVersion) ? 0 : tables.canonical->getCombiningClass(static_cast<UChar32>(c));
}

/// Sorts a run of marks from `begin` on by combining class, stably.
static void sortMarks(const Tables &tables, std::vector<Change> &changes, size_t begin) {
  if (changes.size() - begin < 2)
    return;
  std::vector<std::pair<int, size_t>> order;
  for (size_t i = begin; i < changes.size(); ++i)
    order.emplace_back(combiningClass(tables, changes[i].character), i);
  std::sort(order.begin(), order.end());
  std::vector<Change> sorted;
  for (auto [itsClass, i] : order)
    sorted.push_back(changes[i]);
  std::copy(sorted.begin(), sorted.end(), changes.begin() + static_cast<ptrdiff_t>(begin));
}

static std::vector<Change> decompose(const Tables &tables, std::u32string_view text, bool isCompatible) {
  const icu::Normalizer2 &table = isCompatible ? *tables.compatible : *tables.canonical;
  std::vector<Change> changes;
  changes.reserve(text.size());
  size_t pending = 0; // where marks begin that are not in order yet
  auto push = [&](char32_t c, bool isFirst) {
    if (combiningClass(tables, c) == 0) {
      sortMarks(tables, changes, std::min(pending, changes.size()));
      pending = changes.size() + 1;
    }
    changes.push_back({c, isFirst ? 0 : 1});
  };
  icu::UnicodeString decomposition;
  for (char32_t c : text) {
    if (c < 0x80 || isYoungerThan(c, kUnicodeVersion) ||
        !table.getDecomposition(static_cast<UChar32>(c), decomposition)) {
      push(c, true);
      continue;
    }
    for (int32_t i = 0; i < decomposition.length(); i = decomposition.moveIndex32(i, 1))
      push(static_cast<char32_t>(decomposition.char32At(i)), i == 0);
  }
  sortMarks(tables, changes, std::min(pending, changes.size()));
  return changes;
}

static std::optional<char32_t> composePair(const Tables &tables, char32_t first, char32_t second) {
  UChar32 composite = tables.canonical->composePair(static_cast<UChar32>(first), static_cast<UChar32>(second));
  if (composite < 0 || isYoungerThan(static_cast<char32_t>(composite), kUnicodeVersion))
    return std::nullopt;
  return static_cast<char32_t>(composite);
}

static std::vector<Change> compose(const Tables &tables, const std::vector<Change> &decomposed) {
  std::vector<Change> composed;
  composed.reserve(decomposed.size());
  std::optional<size_t> starter;
  int lastClass = -1; // of the marks since the starter; -1 where there is none
  for (const Change &change : decomposed) {
    int itsClass = combiningClass(tables, change.character);
    if (starter && lastClass < itsClass) {
      Change &base = composed[*starter];
      if (std::optional<char32_t> composite = composePair(tables, base.character, change.character)) {
        base = {*composite, base.count + change.count - 1};
        continue;
      }
    }
    if (itsClass == 0)
      starter = composed.size();
    lastClass = itsClass == 0 ? -1 : itsClass;
    composed.push_back(change);
  }
  return composed;
}

void tenon::text::normalize(AlignedText &text, UnicodeForm form) {
  const Tables *tables = getTables();
  if (!tables)
    return;
  // Letters of ASCII are in every normal form.
  if (std::all_of(text.chars().begin(), text.chars().end(), [](char32_t c) { return c < 0x80; }))
    return;
  bool isCompatible = form == UnicodeForm::nfkc || form == UnicodeForm::nfkd;
  std::vector<Change> changes = decompose(*tables, text.chars(), isCompatible);
  bool isComposed = form == UnicodeForm::nfc || form == UnicodeForm::nfkc;
  text.transform(isComposed ? compose(*tables, changes) : changes);
}
