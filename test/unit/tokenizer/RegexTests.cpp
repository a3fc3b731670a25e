//===- RegexTests.cpp - regular expressions of tokenizers -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/Regex.h"

#include <catch2/catch.hpp>

using namespace tenon::text;
using Catch::Matchers::Contains;

/// The matches, each in brackets.
static std::string marked(const char *pattern, const std::u32string &text) {
  Regex regex;
  Status status = regex.compile(pattern);
  INFO(status.message());
  REQUIRE_FALSE(status.failed());
  std::vector<Part> parts;
  REQUIRE_FALSE(regex.findParts(text, parts).failed());
  std::string result;
  size_t end = 0;
  for (const Part &part : parts) {
    CHECK(part.begin == end);
    end = part.end;
    std::string content(text.begin() + long(part.begin), text.begin() + long(part.end));
    result += part.isMatch ? "[" + content + "]" : content;
  }
  CHECK(end == text.size());
  return result;
}

static std::string refusal(const char *pattern) {
  Regex regex;
  Status status = regex.compile(pattern);
  CHECK(status.code() == TENON_UNSUPPORTED);
  return status.message();
}

TEST_CASE("classes are those of Oniguruma") {
  CHECK(marked("\\s+", U"a\x0b b\t") == "a[\x0b ]b[\t]");
  CHECK(marked("[^\\s]", U"a b") == "[a] [b]");
  CHECK(marked("\\h", U"ag 9") == "[a]g [9]");
  CHECK(marked("\\bab\\b", U"ab abc ab") == "[ab] abc [ab]");
  CHECK(marked("^a$", U"a\na") == "[a]\n[a]");
  CHECK(marked("a.", U"a\ra\n") == "[a\r]a\n");
}

TEST_CASE("matches of nothing") {
  CHECK(marked("x*", U"axxb") == "[]a[xx]b[]");
  CHECK(marked("(?=b)", U"ab") == "a[]b");
  CHECK(marked("a", U"").empty());
}

TEST_CASE("characters beyond 16 bits count as one") {
  Regex regex;
  REQUIRE_FALSE(regex.compile("b").failed());
  std::vector<Part> parts;
  REQUIRE_FALSE(regex.findParts(U"\U0001f600b\U0001f600", parts).failed());
  REQUIRE(parts.size() == 3);
  CHECK(parts[1].begin == 1);
  CHECK(parts[2].end == 3);
}

TEST_CASE("texts to search for") {
  Regex regex;
  REQUIRE_FALSE(regex.compileLiteral(".a").failed());
  std::vector<Part> parts;
  REQUIRE_FALSE(regex.findParts(U".a.a-a", parts).failed());
  CHECK(parts.size() == 3);
  CHECK(regex.compileLiteral("").code() == TENON_INVALID);
}

TEST_CASE("what ICU reads differently is refused") {
  CHECK_THAT(refusal("\\Ka"), Contains("'\\K'"));
  CHECK_THAT(refusal("(?m)a"), Contains("'(?m'"));
  CHECK_THAT(refusal("[a--b]"), Contains("'--'"));
  CHECK_THAT(refusal("(a"), Contains("U_REGEX_MISMATCHED_PAREN"));
  CHECK_THAT(refusal("\\p{Nonsense}"), Contains("not supported"));
}

TEST_CASE("patterns that would take for ever end") {
  Regex regex;
  REQUIRE_FALSE(regex.compile("(a|aa|aaa)+$").failed());
  std::vector<Part> parts;
  Status status = regex.findParts(std::u32string(10'000, 'a') + U"b", parts);
  CHECK(status.code() == TENON_RESOURCES);
  CHECK_THAT(status.message(), Contains("takes too many steps"));
  // A long text alone is no reason.
  REQUIRE_FALSE(regex.compile("\\s+(?!\\S)|\\s+|[^\\s]+").failed());
  parts.clear();
  CHECK_FALSE(regex.findParts(std::u32string(1'000'000, ' ') + std::u32string(1'000'000, 'x'), parts).failed());
  CHECK(parts.size() == 3);
}
