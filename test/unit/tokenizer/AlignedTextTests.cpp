//===- AlignedTextTests.cpp - texts that remember what they were made of --===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/AlignedText.h"
#include "runtime/text/UnicodeForms.h"

#include <catch2/catch.hpp>

using namespace tenon::text;

static std::vector<Span> spansOf(const AlignedText &text) {
  std::vector<Span> spans;
  for (size_t i = 0; i < text.size(); ++i)
    spans.push_back(text.getSpan(i, i + 1));
  return spans;
}

static std::vector<std::u32string> splitAt(std::u32string text, char32_t delimiter, SplitBehavior behavior) {
  AlignedText whole(std::move(text));
  std::vector<std::u32string> parts;
  for (const AlignedText &part :
       split(whole, findCharacters(whole.chars(), [=](char32_t c) { return c == delimiter; }), behavior))
    parts.emplace_back(part.chars());
  return parts;
}

TEST_CASE("what becomes of delimiters") {
  using Parts = std::vector<std::u32string>;
  const std::u32string text = U"the-final--countdown";
  CHECK(splitAt(text, '-', SplitBehavior::removed) == Parts{U"the", U"final", U"countdown"});
  CHECK(splitAt(text, '-', SplitBehavior::isolated) == Parts{U"the", U"-", U"final", U"-", U"-", U"countdown"});
  CHECK(splitAt(text, '-', SplitBehavior::mergedWithPrevious) == Parts{U"the-", U"final-", U"-", U"countdown"});
  CHECK(splitAt(text, '-', SplitBehavior::mergedWithNext) == Parts{U"the", U"-final", U"-", U"-countdown"});
  CHECK(splitAt(text, '-', SplitBehavior::contiguous) == Parts{U"the", U"-", U"final", U"--", U"countdown"});
  CHECK(splitAt(U"", '-', SplitBehavior::isolated).empty());
  CHECK(splitAt(U"-", '-', SplitBehavior::removed).empty());
  CHECK(splitAt(U"--", '-', SplitBehavior::mergedWithNext) == Parts{U"-", U"-"});
}

TEST_CASE("a slice knows where it begins, and a change within it what it is made of") {
  AlignedText text(U"abcdef");
  AlignedText part = text.slice(2, 5);
  CHECK(part.chars() == U"cde");
  CHECK(part.getOrigin() == 2);
  CHECK(part.getSpan(0, 3) == Span{2, 5});
  part.prepend(U"__");
  CHECK(part.chars() == U"__cde");
  CHECK(spansOf(part) == std::vector<Span>{{2, 3}, {2, 3}, {2, 3}, {3, 4}, {4, 5}});
  part.filter([](char32_t c) { return c != 'd'; });
  CHECK(spansOf(part) == std::vector<Span>{{2, 3}, {2, 3}, {2, 3}, {4, 5}});
}

TEST_CASE("replacements have the span of the last character that they replace") {
  AlignedText text(U"aXXb");
  text.replace({{0, 1, false}, {1, 3, true}, {3, 4, false}}, U"123");
  CHECK(text.chars() == U"a123b");
  CHECK(spansOf(text) == std::vector<Span>{{0, 1}, {2, 3}, {2, 3}, {2, 3}, {3, 4}});
  text.replace({{0, 5, true}}, U"");
  CHECK(text.empty());
  text.prepend(U"x");
  CHECK(text.empty());
}

TEST_CASE("changes that name more characters than there are stay within the text") {
  AlignedText text(U"ab");
  text.transform({{'x', -7}, {'y', 0}, {'z', 1}}, 1);
  CHECK(text.chars() == U"xyz");
  AlignedText none;
  none.transform({{'x', 1}, {'y', 0}});
  CHECK(spansOf(none) == std::vector<Span>{{0, 0}, {0, 0}});
}

TEST_CASE("normal forms") {
  auto form = [](std::u32string chars, UnicodeForm which) {
    AlignedText text(std::move(chars));
    normalize(text, which);
    return std::u32string(text.chars());
  };
  CHECK(form(U"e\u0301\u0323", UnicodeForm::nfc) == U"\u1eb9\u0301");
  CHECK(form(U"\u1e69", UnicodeForm::nfd) == U"s\u0323\u0307");
  CHECK(form(U"\ufb01\u00bd", UnicodeForm::nfkc) == U"fi1\u20442");
  CHECK(form(U"\ud55c", UnicodeForm::nfkd) == U"\u1112\u1161\u11ab");
  CHECK(form(U"\u1112\u1161\u11ab", UnicodeForm::nfc) == U"\ud55c");
  // U+11938 composes in Unicode 13, which the tables of the packages do not know.
  CHECK(form(U"\U00011935\U00011930", UnicodeForm::nfc) == U"\U00011935\U00011930");
  // A run of marks that has to be sorted takes no square of its length.
  std::u32string marks = U"a";
  for (int i = 0; i < 200'000; ++i)
    marks += i % 2 ? U'\u0301' : U'\u0323';
  CHECK(form(marks, UnicodeForm::nfd)[100'000] == U'\u0323');
}

TEST_CASE("spans of normal forms") {
  AlignedText text(U"a\ufb01e\u0301z");
  normalize(text, UnicodeForm::nfkc);
  CHECK(text.chars() == U"afi\u00e9z");
  CHECK(spansOf(text) == std::vector<Span>{{0, 1}, {1, 2}, {1, 2}, {2, 3}, {4, 5}});
}
