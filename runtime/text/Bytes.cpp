//===- Bytes.cpp - bytes as letters ---------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/Bytes.h"
#include "runtime/text/Unicode.h"

#include <array>

using namespace tenon::text;

static constexpr char32_t kFirstOther = 0x100;
static constexpr size_t kOthers = 68; // bytes that cannot be printed in Latin-1

static bool isPrintable(unsigned char byte) { return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte != 0xad); }

namespace {
struct Letters {
  std::array<char32_t, 256> ofByte{};
  std::array<unsigned char, kOthers> others{};

  Letters() {
    size_t count = 0;
    for (unsigned byte = 0; byte < 256; ++byte) {
      auto narrow = static_cast<unsigned char>(byte);
      ofByte[byte] = isPrintable(narrow) ? byte : kFirstOther + static_cast<char32_t>(count);
      if (!isPrintable(narrow))
        others[count++] = narrow;
    }
  }
};
} // namespace

static const Letters &getLetters() {
  static const Letters letters;
  return letters;
}

char32_t tenon::text::getByteLetter(unsigned char byte) { return getLetters().ofByte[byte]; }

std::optional<unsigned char> tenon::text::getLetterByte(char32_t letter) {
  if (letter < kFirstOther)
    return isPrintable(static_cast<unsigned char>(letter)) ? std::optional(static_cast<unsigned char>(letter))
                                                           : std::nullopt;
  return letter - kFirstOther < kOthers ? std::optional(getLetters().others[letter - kFirstOther]) : std::nullopt;
}

void tenon::text::toByteLetters(AlignedText &text) {
  std::string bytes;
  text.map([&](char32_t c, std::u32string &letters) {
    bytes.clear();
    appendUtf8(c, bytes);
    for (char byte : bytes)
      letters.push_back(getByteLetter(static_cast<unsigned char>(byte)));
  });
}

std::string tenon::text::getByteToken(unsigned char byte) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  return std::string("<0x") + kDigits[byte >> 4] + kDigits[byte & 15] + ">";
}

static int decodeHex(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

std::optional<unsigned char> tenon::text::getTokenByte(std::string_view token) {
  if (token.size() != 6 || token.substr(0, 3) != "<0x" || token[5] != '>')
    return std::nullopt;
  int high = decodeHex(token[3]), low = decodeHex(token[4]);
  // Rust's parser accepts a sign before the digits, too.
  if (token[3] == '+')
    high = 0;
  if (high < 0 || low < 0)
    return std::nullopt;
  return static_cast<unsigned char>(high << 4 | low);
}
