//===- CharsMap.cpp - the rules for characters of SentencePiece -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/CharsMap.h"
#include "runtime/text/Unicode.h"

#include <cassert>
#include <cstring>
#include <memory>
#include <unicode/brkiter.h>
#include <unicode/unistr.h>

using namespace tenon::text;

static int decodeBase64Digit(char c) {
  if (c >= 'A' && c <= 'Z')
    return c - 'A';
  if (c >= 'a' && c <= 'z')
    return c - 'a' + 26;
  if (c >= '0' && c <= '9')
    return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/// False where it is not base64.
static bool decodeBase64(std::string_view text, std::string &bytes) {
  while (!text.empty() && text.back() == '=')
    text.remove_suffix(1);
  uint32_t bits = 0;
  int count = 0;
  for (char c : text) {
    int digit = decodeBase64Digit(c);
    if (digit < 0)
      return false;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes.push_back(static_cast<char>(bits >> count & 0xff));
    }
  }
  return true;
}

static Status makeDamaged() { return Status::make(TENON_INVALID, "'precompiled_charsmap' is damaged"); }

// A unit has, from the lowest bit: 8 bits of label, a bit that says whether a key ends after it, a flag that scales the
// offset by 256, and the offset of its children; or, with bit 31 set, the value of a key.
static uint32_t labelOf(uint32_t unit) { return unit & 0x800000ffu; }
static bool hasValue(uint32_t unit) { return unit >> 8 & 1; }
static uint32_t offsetOf(uint32_t unit) { return (unit >> 10) << ((unit & 0x200u) >> 6); }

static bool isValue(uint32_t unit) { return unit >> 31; }
static uint32_t valueOf(uint32_t unit) { return unit & 0x7fffffffu; }

Status CharsMap::read(std::string_view bytes) {
  uint32_t size = 0;
  if (bytes.size() < sizeof size)
    return makeDamaged();
  memcpy(&size, bytes.data(), sizeof size);
  if (size > bytes.size() - sizeof size || size % sizeof(uint32_t) != 0 || size == 0)
    return makeDamaged();
  units.resize(size / sizeof(uint32_t));
  memcpy(units.data(), bytes.data() + sizeof size, size);
  replacements = bytes.substr(sizeof size + size);
  return check();
}

Status CharsMap::readBase64(std::string_view encoded) {
  std::string bytes;
  return decodeBase64(encoded, bytes) ? read(bytes) : makeDamaged();
}

Status CharsMap::check() const {
  constexpr size_t kMaxReplacement = 64; // limit: in bytes; the longest one of NFKC has 33
  std::u32string ignored;
  for (size_t i = 0; i < units.size(); ++i) {
    uint32_t unit = units[i];
    if (isValue(unit)) {
      size_t begin = valueOf(unit), end = replacements.find('\0', begin);
      // Values that no key leads to are not read, and some are not set.
      bool isText = begin < replacements.size() && end != replacements.npos && end - begin <= kMaxReplacement &&
                    !decodeUtf8(std::string_view(replacements).substr(begin, end - begin), ignored);
      if (!isText)
        return makeDamaged();
      continue;
    }
    // Children are within a block of 256 units, whichever byte comes next.
    if (((i ^ offsetOf(unit)) | 0xff) >= units.size())
      return makeDamaged();
  }
  return {};
}

template <typename Visit> void CharsMap::visitPrefixes(std::string_view text, Visit visit) const {
  size_t node = offsetOf(units[0]);
  for (size_t i = 0; i < text.size(); ++i) {
    uint32_t byte = static_cast<unsigned char>(text[i]);
    node ^= byte;
    assert(node < units.size() && "check() refuses units whose children are not there");
    uint32_t unit = units[node];
    if (byte == 0 || labelOf(unit) != byte)
      return;
    node ^= offsetOf(unit);
    if (!hasValue(unit) || !isValue(units[node]))
      continue;
    size_t begin = valueOf(units[node]);
    if (!visit(i + 1, std::string_view(replacements).substr(begin, replacements.find('\0', begin) - begin)))
      return;
  }
}

std::optional<std::string_view> CharsMap::findLongest(std::string_view text, size_t &length) const {
  std::optional<std::string_view> found;
  visitPrefixes(text, [&](size_t size, std::string_view replacement) {
    length = size;
    found = replacement;
    return true;
  });
  return found;
}

bool CharsMap::replace(const AlignedText &text, size_t begin, size_t end, std::u32string &changed,
                       std::vector<Span> &spans) const {
  std::optional<std::string_view> found;
  visitPrefixes(toUtf8(text.chars().substr(begin, end - begin)), [&](size_t, std::string_view shortest) {
    found = shortest;
    return false;
  });
  if (!found)
    return false;
  std::u32string replacement;
  decodeUtf8(*found, replacement);
  // The first character originates from the first one, and the others from the last.
  for (size_t i = 0; i < replacement.size(); ++i)
    spans.push_back(i == 0 ? text.getSpan(begin, begin + 1) : text.getSpan(end - 1, end));
  changed += replacement;
  return true;
}

/// Finds the ends of grapheme clusters (UAX #29). Empty if ICU has no rules.
static std::vector<size_t> findClusters(std::u32string_view text) {
  UErrorCode error = U_ZERO_ERROR;
  std::unique_ptr<icu::BreakIterator> breaks(
      icu::BreakIterator::createCharacterInstance(icu::Locale::getRoot(), error));
  if (U_FAILURE(error) || !breaks)
    return {};
  icu::UnicodeString units =
      icu::UnicodeString::fromUTF32(reinterpret_cast<const UChar32 *>(text.data()), static_cast<int32_t>(text.size()));
  breaks->setText(units);
  std::vector<size_t> ends;
  size_t characters = 0;
  int32_t begin = breaks->first();
  for (int32_t end = breaks->next(); end != icu::BreakIterator::DONE; end = breaks->next()) {
    characters += static_cast<size_t>(units.countChar32(begin, end - begin));
    ends.push_back(characters);
    begin = end;
  }
  return ends;
}

void CharsMap::apply(AlignedText &text) const {
  constexpr size_t kMaxClusterBytes = 5; // format: what the package looks up as a whole
  std::u32string_view chars = text.chars();
  std::u32string changed;
  std::vector<Span> spans;
  size_t begin = 0;
  for (size_t end : findClusters(chars)) {
    bool isShort = toUtf8(chars.substr(begin, end - begin)).size() <= kMaxClusterBytes;
    if (isShort && replace(text, begin, end, changed, spans))
      begin = end;
    for (; begin < end; ++begin)
      if (!replace(text, begin, begin + 1, changed, spans)) {
        changed.push_back(chars[begin]);
        spans.push_back(text.getSpan(begin, begin + 1));
      }
  }
  text.assign(std::move(changed), std::move(spans));
}
