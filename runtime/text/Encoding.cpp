//===- Encoding.cpp - the tokens of a text --------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/Encoding.h"

#include <algorithm>

using namespace tenon::text;

void Encoding::add(uint32_t id, uint32_t typeId, std::string token, Span span, bool isSpecial) {
  ids.push_back(id);
  typeIds.push_back(typeId);
  tokens.push_back(std::move(token));
  offsets.push_back(span);
  specialTokensMask.push_back(isSpecial);
  attentionMask.push_back(1);
}

template <typename T> static void appendAll(std::vector<T> &to, const std::vector<T> &from) {
  to.insert(to.end(), from.begin(), from.end());
}

void Encoding::append(const Encoding &other) {
  appendAll(ids, other.ids);
  appendAll(typeIds, other.typeIds);
  appendAll(tokens, other.tokens);
  appendAll(offsets, other.offsets);
  appendAll(specialTokensMask, other.specialTokensMask);
  appendAll(attentionMask, other.attentionMask);
}

void Encoding::truncate(size_t length, bool isFromLeft) {
  if (size() <= length)
    return;
  size_t begin = isFromLeft ? size() - length : 0;
  auto cut = [&](auto &values) {
    values.erase(values.begin() + static_cast<ptrdiff_t>(begin + length), values.end());
    values.erase(values.begin(), values.begin() + static_cast<ptrdiff_t>(begin));
  };
  cut(ids);
  cut(typeIds);
  cut(tokens);
  cut(offsets);
  cut(specialTokensMask);
  cut(attentionMask);
}

/// Returns lengths for two texts, of `first` and `second` tokens, with a sum of at most `most`: the longer one is
/// shortened first.
static std::pair<size_t, size_t> shareLength(size_t first, size_t second, size_t most) {
  size_t least = std::min(first, second), greatest = least > most ? least : std::max(least, most - least);
  if (least + greatest > most) {
    least = most / 2;
    greatest = least + most % 2;
  }
  return first > second ? std::pair(greatest, least) : std::pair(least, greatest);
}

Status Truncation::apply(std::vector<Encoding> &encodings, size_t added) const {
  if (added > maxLength)
    return Status::make(TENON_INVALID, "at most %zu tokens are wanted, but %zu are added to each text", maxLength,
                        added);
  size_t most = maxLength - added, total = 0;
  for (const Encoding &encoding : encodings)
    total += encoding.size();
  if (total <= most)
    return {};
  if (strategy == Strategy::longestFirst || most == 0) {
    auto [first, second] = encodings.size() == 2 ? shareLength(encodings[0].size(), encodings[1].size(), most)
                                                 : std::pair(most, size_t(0));
    encodings[0].truncate(most == 0 ? 0 : first, isFromLeft);
    if (encodings.size() == 2)
      encodings[1].truncate(most == 0 ? 0 : second, isFromLeft);
    return {};
  }
  size_t which = strategy == Strategy::onlyFirst ? 0 : 1;
  if (which >= encodings.size())
    return Status::make(TENON_INVALID, "only the second text is to be truncated, but there is just one");
  size_t removed = total - most, size = encodings[which].size();
  if (size <= removed)
    return Status::make(TENON_INVALID, "the %s text has %zu tokens, of which truncation would leave none",
                        which == 0 ? "first" : "second", size);
  encodings[which].truncate(size - removed, isFromLeft);
  return {};
}

void Padding::apply(std::vector<Encoding> &batch, size_t least) const {
  size_t wanted = std::max(length.value_or(0), least);
  for (const Encoding &encoding : batch)
    if (!length)
      wanted = std::max(wanted, encoding.size());
  if (wanted % multiple != 0)
    wanted += multiple - wanted % multiple;
  for (Encoding &encoding : batch) {
    if (encoding.size() >= wanted)
      continue;
    size_t count = wanted - encoding.size();
    auto pad = [&](auto &values, const auto &value) {
      values.insert(isLeft ? values.begin() : values.end(), count, value);
    };
    pad(encoding.ids, id);
    pad(encoding.typeIds, typeId);
    pad(encoding.tokens, token);
    pad(encoding.offsets, Span{});
    pad(encoding.specialTokensMask, uint8_t(1));
    pad(encoding.attentionMask, uint8_t(0));
  }
}
