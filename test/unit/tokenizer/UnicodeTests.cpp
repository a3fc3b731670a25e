//===- UnicodeTests.cpp - UTF-8, and bytes as letters ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/Bytes.h"
#include "runtime/text/Unicode.h"

#include <catch2/catch.hpp>
#include <set>

using namespace tenon::text;

TEST_CASE("UTF-8 comes back from characters") {
  std::u32string all, decoded;
  for (char32_t c = 0; c <= 0x10ffff; c += c < 0x3000 ? 1 : 97)
    if (c < 0xd800 || c > 0xdfff)
      all.push_back(c);
  CHECK_FALSE(decodeUtf8(toUtf8(all), decoded));
  CHECK(decoded == all);
}

TEST_CASE("bytes that are no UTF-8") {
  std::u32string ignored;
  const std::pair<std::string, size_t> cases[] = {
      {"a\x80", 1},       {"\xc0\x80", 0},         {"\xc3", 0},        {"\xed\xa0\x80", 0}, {"\xf4\x90\x80\x80", 0},
      {"ab\xe2\x82z", 2}, {"\xf8\x88\x80\x80", 0}, {"\xe0\x9f\xbf", 0}};
  for (const auto &[bytes, fault] : cases)
    CHECK(decodeUtf8(bytes, ignored) == fault);
}

TEST_CASE("each maximal part of a character is replaced") {
  const std::string mark = "\xef\xbf\xbd";
  CHECK(replaceInvalidUtf8("a\xffz") == "a" + mark + "z");
  CHECK(replaceInvalidUtf8("\xe2\x82z") == mark + "z");
  CHECK(replaceInvalidUtf8("\xe2\x82\xe2\x82\xac") == mark + "\xe2\x82\xac");
  CHECK(replaceInvalidUtf8("\xed\xa0\x80") == mark + mark + mark);
  CHECK(replaceInvalidUtf8("\xf0\x9f\x98") == mark);
  CHECK(replaceInvalidUtf8("").empty());
}

TEST_CASE("each byte has a letter") {
  std::set<char32_t> letters;
  for (unsigned byte = 0; byte < 256; ++byte) {
    char32_t letter = getByteLetter(static_cast<unsigned char>(byte));
    letters.insert(letter);
    CHECK(getLetterByte(letter) == byte);
  }
  CHECK(letters.size() == 256);
  CHECK(getByteLetter(' ') == U'\u0120');
  CHECK_FALSE(getLetterByte(U' '));
  CHECK_FALSE(getLetterByte(U'\u0144'));
  CHECK(getByteToken(0xab) == "<0xAB>");
  CHECK(getTokenByte("<0xaB>") == 0xab);
  CHECK_FALSE(getTokenByte("<0xAG>"));
  CHECK_FALSE(getTokenByte("<0x1>"));
}

TEST_CASE("properties of characters that packages disagree with ICU about") {
  CHECK(isPunctuation('$'));
  CHECK(isPunctuation(0x111c9));      // a mark since Unicode 11
  CHECK_FALSE(isPunctuation(0x2e50)); // of Unicode 13
  CHECK(isNonspacingMark(0x1734));
  CHECK_FALSE(isNonspacingMark(0x0483 - 1));
  CHECK(isMark(0x1cf2));
  CHECK(isControl(0xad));
  CHECK_FALSE(isControl(0x378)); // unassigned
  CHECK(isWordCharacter(0x200d));
  std::u32string lower;
  appendLowercase(0x130, lower);
  CHECK(lower == U"i\u0307");
}
