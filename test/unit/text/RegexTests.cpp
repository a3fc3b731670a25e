//===- RegexTests.cpp - regular expressions as automata -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/errors/CompileError.h"
#include "compiler/import/onnx/Regex.h"

#include <catch2/catch.hpp>

using namespace tenon::onnx_import;
using Catch::Matchers::Contains;

static bool matches(const std::string &pattern, const std::string &text) {
  INFO(pattern);
  std::optional<Automaton> automaton = llvm::expectedToOptional(compileRegex(pattern));
  REQUIRE(automaton);
  int64_t state = 0, classes = automaton->next.size() / automaton->accepts.size();
  for (unsigned char byte : text)
    state = automaton->next[state * classes + automaton->classes[byte]];
  return automaton->accepts[state];
}

static std::string errorOf(const std::string &pattern) {
  std::string message;
  CHECK(tenon::takeError(compileRegex(pattern).takeError(), message) == tenon::CompileStatus::unsupported);
  return message;
}

TEST_CASE("a pattern matches a text as a whole") {
  CHECK(matches("", ""));
  CHECK_FALSE(matches("", "a"));
  CHECK(matches("abc", "abc"));
  CHECK_FALSE(matches("abc", "abcd"));
  CHECK_FALSE(matches("abc", "xabc"));
  CHECK(matches("a|bc|", "bc"));
  CHECK(matches("a|bc|", ""));
  CHECK_FALSE(matches("a|bc|", "b"));
  CHECK(matches("a(b|(?:c)d)(?P<name>e)", "acde"));
}

TEST_CASE("repetition") {
  CHECK(matches("a*", "aaaa"));
  CHECK_FALSE(matches("a+", ""));
  CHECK(matches("(ab)?c", "c"));
  CHECK(matches("a{2}", "aa"));
  CHECK_FALSE(matches("a{2,3}", "aaaa"));
  CHECK(matches("a{2,}", "aaaa"));
  CHECK(matches("a*?b+?", "aab"));
  CHECK(matches("a{,2}", "a{,2}"));
  CHECK(matches("(a{0})b", "b"));
  CHECK(matches("(a*)+b", "aab"));
  CHECK(matches("(a|b+){2,}", "bba"));
  CHECK_FALSE(matches("(a|bc){2,}", "a"));
  CHECK(matches("(a{2,}b?){2,}", "aabaaaa"));
  CHECK_FALSE(matches("(a{2,}b){2,}", "aabab"));
}

TEST_CASE("repetitions of repetitions stay small") {
  CHECK(matches("a++++++++++++++++++++++++++++++", "aaa"));
  CHECK(matches(",.++++++++++++x=H=32.", ",abcx=H=32!"));
}

TEST_CASE("sets, classes and escapes") {
  CHECK(matches("[a-c]+", "abcab"));
  CHECK_FALSE(matches("[^a-c]", "b"));
  CHECK(matches("[]x-]+", "]x-"));
  CHECK(matches("[[:digit:]_]+", "12_3"));
  CHECK(matches("\\d\\D\\w\\W\\s\\S", "1a_. x"));
  CHECK(matches("[\\w.-]+@x\\.com", "a.b-c@x.com"));
  CHECK(matches("\\x41\\x{1F600}\\t", "A\xf0\x9f\x98\x80\t"));
  CHECK_FALSE(matches(".", "\n"));
  CHECK(matches("(?s).", "\n"));
  CHECK(matches("(?s:.)a", "\na"));
}

TEST_CASE("characters are code points, not bytes") {
  CHECK(matches(".", "\xc3\xbc"));
  CHECK_FALSE(matches("..", "\xc3\xbc"));
  CHECK(matches("[\xc3\xa4-\xc3\xbc]", "\xc3\xb6"));
  CHECK(matches("[^a]", "\xf0\x9f\x98\x80"));
  CHECK_FALSE(matches("[^a]", "\xff"));
  for (uint32_t code : {0x80u, 0x7ffu, 0x800u, 0xffffu, 0x10000u}) {
    std::string text = code < 0x800     ? std::string{char(0xc0 | code >> 6), char(0x80 | (code & 0x3f))}
                       : code < 0x10000 ? std::string{char(0xe0 | code >> 12), char(0x80 | (code >> 6 & 0x3f)),
                                                      char(0x80 | (code & 0x3f))}
                                        : std::string("\xf0\x90\x80\x80");
    CHECK(matches("[\\x{0}-\\x{10FFFF}]", text));
    CHECK(matches("[\\x{79}-\\x{fffff}]", text));
  }
}

TEST_CASE("places between characters") {
  CHECK(matches("^ab$", "ab"));
  CHECK(matches("(^a|b)c", "ac"));
  CHECK_FALSE(matches("a^b", "ab"));
  CHECK(matches("a\\b b", "a b"));
  CHECK_FALSE(matches("a\\bb", "ab"));
  CHECK(matches("a\\Bb", "ab"));
  CHECK(matches("\\bcom\\b", "com"));
  CHECK(matches("\\A(\\B)\\z", ""));
}

TEST_CASE("patterns that are refused") {
  CHECK_THAT(errorOf("(a"), Contains("a '(' that nothing closes"));
  CHECK_THAT(errorOf("a)"), Contains("a ')' that nothing opens"));
  CHECK_THAT(errorOf("[a"), Contains("a '[' that nothing closes"));
  CHECK_THAT(errorOf("*a"), Contains("repeats nothing at '*a'"));
  CHECK_THAT(errorOf("a{3,2}"), Contains("from 3 to 2 times"));
  CHECK_THAT(errorOf("[z-a]"), Contains("ends before it begins"));
  CHECK_THAT(errorOf("\\pL"), Contains("the escape '\\p'"));
  CHECK_THAT(errorOf("a\\"), Contains("ends in a backslash"));
  CHECK_THAT(errorOf("(?i)a"), Contains("the flags '(?i'"));
  CHECK_THAT(errorOf("(?<=a)b"), Contains("looks behind"));
  CHECK_THAT(errorOf("\xff"), Contains("is no UTF-8"));
  CHECK_THAT(errorOf("((a{1000}){1000}){1000}"), Contains("repeats too much"));
  CHECK_THAT(errorOf("[ab]*a[ab]{20}"), Contains("more than 4096 states"));
  CHECK_THAT(errorOf("(a{0,1000}){0,60}"), Contains("needs more than 4000000 steps"));
  CHECK_THAT(errorOf(std::string(1000, '(')), Contains("nests too deep"));
}
