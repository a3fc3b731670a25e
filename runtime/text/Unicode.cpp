//===- Unicode.cpp - UTF-8, and properties of characters ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/Unicode.h"
#include "runtime/text/UnicodeAge.h"

#include <algorithm>
#include <iterator>
#include <unicode/uchar.h>

using namespace tenon::text;

namespace {
struct Decoded {
  char32_t character;
  size_t length;   ///< bytes of the character, or of its maximal part
  bool isComplete; ///< false: `character` has no value
};
} // namespace

/// Decodes the first character of a nonempty text (Unicode 15, table 3-7, "Well-Formed UTF-8 Byte Sequences").
static Decoded decodeFirst(std::string_view bytes) {
  auto byteAt = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  unsigned char first = byteAt(0);
  if (first < 0x80)
    return {first, 1, true};
  size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length == 0)
    return {0, 1, false};
  char32_t character = first & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if (i == bytes.size())
      return {0, i, false};
    unsigned char low = 0x80, high = 0xbf, next = byteAt(i);
    if (i == 1) {
      low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : low;
      high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : high;
    }
    if (next < low || next > high)
      return {0, i, false};
    character = character << 6 | (next & 0x3f);
  }
  return {character, length, true};
}

std::optional<size_t> tenon::text::decodeUtf8(std::string_view bytes, std::u32string &text) {
  text.clear();
  text.reserve(bytes.size());
  for (size_t at = 0; at < bytes.size();) {
    Decoded decoded = decodeFirst(bytes.substr(at));
    if (!decoded.isComplete)
      return at;
    text.push_back(decoded.character);
    at += decoded.length;
  }
  return std::nullopt;
}

void tenon::text::appendUtf8(char32_t c, std::string &bytes) {
  auto push = [&](char32_t byte) { bytes.push_back(static_cast<char>(byte)); };
  if (c < 0x80)
    return push(c);
  if (c < 0x800) {
    push(0xc0 | c >> 6);
  } else {
    if (c < 0x10000) {
      push(0xe0 | c >> 12);
    } else {
      push(0xf0 | c >> 18);
      push(0x80 | (c >> 12 & 0x3f));
    }
    push(0x80 | (c >> 6 & 0x3f));
  }
  push(0x80 | (c & 0x3f));
}

std::string tenon::text::toUtf8(std::u32string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (char32_t c : text)
    appendUtf8(c, bytes);
  return bytes;
}

std::string tenon::text::replaceInvalidUtf8(std::string_view bytes) {
  std::string valid;
  valid.reserve(bytes.size());
  for (size_t at = 0; at < bytes.size();) {
    Decoded decoded = decodeFirst(bytes.substr(at));
    valid.append(decoded.isComplete ? bytes.substr(at, decoded.length) : "\xef\xbf\xbd");
    at += decoded.length;
  }
  return valid;
}

bool tenon::text::isYoungerThan(char32_t c, int version) {
  UVersionInfo age;
  u_charAge(static_cast<UChar32>(c), age);
  return age[0] > version;
}

static uint32_t categoryOf(char32_t c) { return U_GET_GC_MASK(static_cast<UChar32>(c)); }

template <size_t N> static bool isOneOf(char32_t c, const char32_t (&characters)[N]) {
  return std::find(std::begin(characters), std::end(characters), c) != std::end(characters);
}

bool tenon::text::isWhitespace(char32_t c) { return u_isUWhiteSpace(static_cast<UChar32>(c)); }

bool tenon::text::isPunctuation(char32_t c) {
  if (c < 0x80)
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
  // Their category has changed since.
  constexpr char32_t kOnceSuch[] = {0x166d, 0x111c9};
  return isOneOf(c, kOnceSuch) || ((categoryOf(c) & U_GC_P_MASK) && !isYoungerThan(c, 8));
}

bool tenon::text::isNumeric(char32_t c) { return categoryOf(c) & U_GC_N_MASK; }

bool tenon::text::isWordCharacter(char32_t c) {
  constexpr char32_t kJoiners[] = {0x200c, 0x200d};
  return u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_ALPHABETIC) || isOneOf(c, kJoiners) ||
         (categoryOf(c) & (U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK));
}

bool tenon::text::isControl(char32_t c) {
  return (categoryOf(c) & (U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK)) && !isYoungerThan(c, 7);
}

bool tenon::text::isMark(char32_t c) {
  constexpr char32_t kOnceSuch[] = {0x1cf2, 0x1cf3};
  return isOneOf(c, kOnceSuch) || ((categoryOf(c) & U_GC_M_MASK) && !isYoungerThan(c, 9) && c != 0x111c9);
}

bool tenon::text::isNonspacingMark(char32_t c) {
  constexpr char32_t kOnceOther[] = {0x1885, 0x1886, 0xa9bd, 0x111c9};
  return c == 0x1734 || ((categoryOf(c) & U_GC_MN_MASK) && !isYoungerThan(c, 8) && !isOneOf(c, kOnceOther));
}

bool tenon::text::isIdeograph(char32_t c) {
  constexpr struct {
    char32_t first, last;
  } kBlocks[] = {{0x4e00, 0x9fff},   {0x3400, 0x4dbf},   {0x20000, 0x2a6df}, {0x2a700, 0x2b73f},
                 {0x2b740, 0x2b81f}, {0x2b920, 0x2ceaf}, {0xf900, 0xfaff},   {0x2f800, 0x2fa1f}};
  return std::any_of(std::begin(kBlocks), std::end(kBlocks),
                     [c](const auto &block) { return c >= block.first && c <= block.last; });
}

void tenon::text::appendLowercase(char32_t c, std::u32string &text) {
  // The only letter whose lower case has two characters (SpecialCasing.txt).
  constexpr char32_t kCapitalDottedI = 0x130;
  if (c == kCapitalDottedI)
    text.append(U"i\u0307");
  else
    text.push_back(static_cast<char32_t>(u_tolower(static_cast<UChar32>(c))));
}
