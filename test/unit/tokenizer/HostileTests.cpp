//===- HostileTests.cpp - tokenizers and texts that are made to cost time or memory ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/Tokenizer.h"

#include <catch2/catch.hpp>
#include <chrono>

using namespace tenon::text;
using Catch::Matchers::Contains;

static Status encode(const std::string &json, const std::string &text, size_t *count = nullptr) {
  std::unique_ptr<Tokenizer> tokenizer;
  TENON_TRY(parseTokenizer(json, tokenizer));
  std::vector<Encoding> encodings;
  TENON_TRY(tokenizer->encode({{text, std::nullopt}}, {}, encodings));
  if (count)
    *count = encodings[0].size();
  return {};
}

static std::string repeat(const std::string &text, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i)
    result += text;
  return result;
}

/// Some seconds: what takes the square of the length takes hours.
static bool isQuick(std::chrono::steady_clock::time_point begin) {
  return std::chrono::steady_clock::now() - begin < std::chrono::seconds(60);
}

TEST_CASE("a word of half a million letters is merged in time") {
  const std::string json =
      R"({"model": {"type": "BPE", "vocab": {"a": 0, "aa": 1, "aaaa": 2}, "merges": ["a a", "aa aa"]}})";
  auto begin = std::chrono::steady_clock::now();
  size_t count = 0;
  REQUIRE_FALSE(encode(json, std::string(500'002, 'a'), &count).failed());
  CHECK(count == 125'001);
  CHECK(isQuick(begin));
}

TEST_CASE("long tokens that nearly match at every place") {
  const std::string longest(1024, 'a');
  auto begin = std::chrono::steady_clock::now();
  REQUIRE_FALSE(encode(R"({"model": {"type": "Unigram", "unk_id": 0, "vocab": [["?", 0], ["a", -1], [")" + longest +
                           "\", -2000]]}}",
                       std::string(100'000, 'a'))
                    .failed());
  REQUIRE_FALSE(encode(R"({"model": {"type": "WordPiece", "max_input_chars_per_word": 4000000000, "unk_token": "a",
                           "vocab": {"a": 0, "##a": 1, "##)" +
                           longest.substr(2) + R"(": 2}}})",
                       std::string(100'001, 'a'))
                    .failed());
  CHECK(isQuick(begin));
  CHECK_THAT(encode(R"({"model": {"type": "Unigram", "vocab": [["a)" + longest + "\", 0]]}}", "a").message(),
             Contains("1025 bytes"));
}

TEST_CASE("replacements that double a text each time") {
  std::string steps;
  for (int i = 0; i < 40; ++i)
    steps += std::string(i ? "," : "") + R"({"type": "Replace", "pattern": {"String": "a"}, "content": "aa"})";
  Status status = encode(R"({"normalizer": {"type": "Sequence", "normalizers": [)" + steps +
                             R"(]}, "model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}})",
                         "aaa");
  CHECK(status.code() == TENON_RESOURCES);
  CHECK_THAT(status.message(), Contains("64 times as long"));
}

TEST_CASE("a token of spaces that takes all spaces behind it") {
  const std::string json = R"({"added_tokens": [{"id": 1, "content": " ", "rstrip": true, "normalized": false}],
                               "model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}})";
  size_t count = 0;
  // As the package has it.
  REQUIRE_FALSE(encode(json, "a   a", &count).failed());
  CHECK(count == 5);
  auto begin = std::chrono::steady_clock::now();
  CHECK_THAT(encode(json, std::string(1'000'000, ' ')).message(), Contains("overlaps itself"));
  CHECK(isQuick(begin));
}

TEST_CASE("components without end") {
  std::string nested = repeat(R"({"type": "Sequence", "normalizers": [)", 100) + repeat("]}", 100);
  CHECK_THAT(encode(R"({"normalizer": )" + nested + "}", "a").message(), Contains("nests deeper"));
  std::string many = R"({"type": "NFC"})";
  for (int i = 0; i < 100; ++i)
    many += R"(,{"type": "NFC"})";
  CHECK_THAT(encode(R"({"normalizer": {"type": "Sequence", "normalizers": [)" + many + "]}}", "a").message(),
             Contains("64 components"));
}

TEST_CASE("padding and templates have limits") {
  const std::string model = R"("model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"})";
  CHECK_THAT(
      encode(R"({"padding": {"strategy": {"Fixed": 4294967295}, "pad_id": 0, "pad_type_id": 0, "pad_token": ""}, )" +
                 model + "}",
             "a")
          .message(),
      Contains("4294967295"));
  std::string ids = "0", tokens = "\"a\"", parts = R"({"SpecialToken": {"id": "x", "type_id": 0}})";
  for (int i = 1; i < 40; ++i) {
    ids += ",0";
    tokens += ",\"a\"";
    parts += R"(,{"SpecialToken": {"id": "x", "type_id": 0}})";
  }
  CHECK_THAT(
      encode(
          R"({"post_processor": {"type": "TemplateProcessing", "pair": [], "special_tokens": {"x": {"id": "x", "ids": [)" +
              ids + "], \"tokens\": [" + tokens + "]}}, \"single\": [" + parts + "]}, " + model + "}",
          "a")
          .message(),
      Contains("1024 tokens"));
}
