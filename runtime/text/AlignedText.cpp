//===- AlignedText.cpp - a text that remembers what it was made of --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/AlignedText.h"

#include <algorithm>
#include <cassert>

using namespace tenon::text;

AlignedText::AlignedText(std::u32string text) : characters(std::move(text)) {
  spans.reserve(characters.size());
  for (uint32_t i = 0; i < characters.size(); ++i)
    spans.push_back({i, i + 1});
}

AlignedText AlignedText::slice(size_t begin, size_t end) const {
  assert(begin <= end && end <= spans.size() && "a slice is one of the text");
  AlignedText part;
  part.characters = characters.substr(begin, end - begin);
  part.spans.assign(spans.begin() + static_cast<ptrdiff_t>(begin), spans.begin() + static_cast<ptrdiff_t>(end));
  part.origin = begin == end ? origin : spans[begin].begin;
  return part;
}

void AlignedText::transform(const std::vector<Change> &changes, size_t skipped) {
  assert(characters.size() == spans.size() && "a character has a span of the original");
  std::u32string changed;
  std::vector<Span> changedSpans;
  changed.reserve(changes.size());
  changedSpans.reserve(changes.size());
  size_t at = std::min(skipped, size());
  for (auto [character, count] : changes) {
    size_t source = count > 0 ? at - 1 : at;
    // There is no character before the first one, and changes may refer to more characters than there are.
    bool isBefore = count > 0 && at == 0;
    changedSpans.push_back(isBefore || size() == 0 ? Span{origin, origin} : spans[std::min(source, size() - 1)]);
    changed.push_back(character);
    if (count <= 0)
      at = std::min(at + 1 + static_cast<size_t>(-count), size());
  }
  characters.swap(changed);
  spans.swap(changedSpans);
}

void AlignedText::prepend(std::u32string_view text) {
  if (empty())
    return;
  spans.insert(spans.begin(), text.size(), Span(spans.front()));
  characters.insert(0, text);
}

void AlignedText::replace(const std::vector<Part> &parts, std::u32string_view content) {
  std::u32string changed;
  std::vector<Span> changedSpans;
  for (const Part &part : parts) {
    if (!part.isMatch) {
      changed.append(characters, part.begin, part.end - part.begin);
      changedSpans.insert(changedSpans.end(), spans.begin() + static_cast<ptrdiff_t>(part.begin),
                          spans.begin() + static_cast<ptrdiff_t>(part.end));
      continue;
    }
    Span before = changedSpans.empty() ? Span{origin, origin} : changedSpans.back();
    changed.append(content);
    changedSpans.resize(changed.size(), part.begin == part.end ? before : spans[part.end - 1]);
  }
  characters.swap(changed);
  spans.swap(changedSpans);
}

void AlignedText::trim(size_t begin, size_t end) {
  assert(begin <= end && end <= spans.size() && "what is left is a part of the text");
  characters = characters.substr(begin, end - begin);
  spans.assign(spans.begin() + static_cast<ptrdiff_t>(begin), spans.begin() + static_cast<ptrdiff_t>(end));
}

/// Joins parts that become one, going forward.
static std::vector<Part> joinParts(const std::vector<Part> &parts, bool areRuns) {
  std::vector<Part> joined;
  bool wasMatch = false;
  for (const Part &part : parts) {
    bool isJoined = areRuns ? part.isMatch == wasMatch : part.isMatch && !wasMatch;
    if (isJoined && !joined.empty())
      joined.back().end = part.end;
    else
      joined.push_back(part);
    wasMatch = part.isMatch;
  }
  return joined;
}

/// Joins each match with the part after it; of several consecutive matches, only the last one.
static std::vector<Part> joinWithNext(const std::vector<Part> &parts) {
  std::vector<Part> joined;
  bool wasMatch = false;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (part->isMatch && !wasMatch && !joined.empty())
      joined.back().begin = part->begin;
    else
      joined.push_back(*part);
    wasMatch = part->isMatch;
  }
  std::reverse(joined.begin(), joined.end());
  return joined;
}

std::vector<AlignedText> tenon::text::split(const AlignedText &text, std::vector<Part> parts, SplitBehavior behavior) {
  if (behavior == SplitBehavior::mergedWithNext)
    parts = joinWithNext(parts);
  else if (behavior == SplitBehavior::mergedWithPrevious || behavior == SplitBehavior::contiguous)
    parts = joinParts(parts, behavior == SplitBehavior::contiguous);
  std::vector<AlignedText> pieces;
  for (const Part &part : parts)
    if (part.begin != part.end && !(behavior == SplitBehavior::removed && part.isMatch))
      pieces.push_back(text.slice(part.begin, part.end));
  return pieces;
}
