//===- SentencePieceTests.cpp - tokenizer.model ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/Tokenizer.h"

#include <catch2/catch.hpp>
#include <cstring>

using namespace tenon::text;
using Catch::Matchers::Contains;

static std::string field(unsigned number, const std::string &bytes) {
  return std::string{char(number << 3 | 2), char(bytes.size())} + bytes;
}

static std::string piece(const std::string &text, float score, char type = 1) {
  std::string bits(4, 0);
  memcpy(bits.data(), &score, 4);
  return field(1, field(1, text) + char(2 << 3 | 5) + bits + char(3 << 3) + type);
}

/// Unknown, <s>, and letters.
static std::string makeModel(char kind) {
  return piece("?", 0, 2) + piece("<s>", 0, 3) + piece("\xe2\x96\x81", -2) + piece("a", -1) + piece("b", -1) +
         piece("ab", -3) +
         piece("\xe2\x96\x81"
               "a",
               -4) +
         field(2, std::string{3 << 3, kind});
}

static Status encode(const std::string &model, const std::string &text, std::vector<uint32_t> &ids) {
  std::unique_ptr<Tokenizer> tokenizer;
  TENON_TRY(parseSentencePiece(model, /*addsBegin=*/true, /*addsEnd=*/true, tokenizer));
  std::vector<Encoding> encodings;
  TENON_TRY(tokenizer->encode({{text, std::nullopt}}, {}, encodings));
  ids = encodings[0].ids;
  return {};
}

static std::string refusal(const std::string &model, int code) {
  std::vector<uint32_t> ids;
  Status status = encode(model, "a", ids);
  CHECK(status.code() == code);
  return status.message();
}

TEST_CASE("the best path, and merges by score") {
  std::vector<uint32_t> ids;
  REQUIRE_FALSE(encode(makeModel(1), "abx  b", ids).failed());
  // "ab" costs 3, but "a" and "b" 2; there is no </s>.
  CHECK(ids == std::vector<uint32_t>{1, 2, 3, 4, 0, 2, 4});
  REQUIRE_FALSE(encode(makeModel(2), "ab", ids).failed());
  CHECK(ids == std::vector<uint32_t>{1, 2, 5});
  REQUIRE_FALSE(encode(makeModel(2), "", ids).failed());
  CHECK(ids == std::vector<uint32_t>{1});
  REQUIRE_FALSE(encode(makeModel(1), "   ", ids).failed());
  CHECK(ids == std::vector<uint32_t>{1});
}

TEST_CASE("files that are damaged or ask for what is not known") {
  CHECK_THAT(refusal("", 1), Contains("damaged"));
  CHECK_THAT(refusal("nonsense", 1), Contains("damaged"));
  CHECK_THAT(refusal(makeModel(1).substr(0, 20), 1), Contains("damaged"));
  CHECK_THAT(refusal(makeModel(3), 3), Contains("model type 3"));
  CHECK_THAT(refusal(makeModel(1) + piece("a", 0), 1), Contains("'a' is there twice"));
  CHECK_THAT(refusal(piece("a", 0), 1), Contains("no piece for unknown characters"));
  CHECK_THAT(refusal(makeModel(1) + piece("x", 0, 9), 3), Contains("type 9"));
  CHECK_THAT(refusal(makeModel(1) + piece("x", 0, 6), 1), Contains("not of the form <0xNN> of a byte"));
  CHECK_THAT(refusal(makeModel(1) + piece("\xff", 0), 1), Contains("damaged"));
  // Rules whose trie leads out of itself: the only unit has children.
  CHECK_THAT(refusal(makeModel(1) + field(3, field(2, std::string("\x04\0\0\0\0\x04\0\0", 8))), 1),
             Contains("precompiled_charsmap"));
}
