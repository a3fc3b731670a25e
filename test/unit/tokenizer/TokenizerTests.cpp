//===- TokenizerTests.cpp - tokenizers that are made here, and text of their tokens ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// What the packages make of many texts is compared in test/runtime/text; these are about faults, and what they do not
// have.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/DecodeStream.h"

#include <catch2/catch.hpp>

using namespace tenon::text;
using Catch::Matchers::Contains;

static std::unique_ptr<Tokenizer> make(const std::string &json) {
  std::unique_ptr<Tokenizer> tokenizer;
  Status status = parseTokenizer(json, tokenizer);
  INFO(status.message());
  REQUIRE_FALSE(status.failed());
  return tokenizer;
}

static std::string refusal(const std::string &json, int code) {
  std::unique_ptr<Tokenizer> tokenizer;
  Status status = parseTokenizer(json, tokenizer);
  CHECK(status.code() == code);
  CHECK_FALSE(tokenizer);
  return status.message();
}

/// A tokenizer.json of a small model and these fields beside it.
static std::string with(const std::string &fields) {
  return R"({"model": {"type": "WordLevel", "vocab": {"a": 0, "b": 1, "?": 2}, "unk_token": "?"})" +
         (fields.empty() ? "" : ", " + fields) + "}";
}

static std::string withModel(const std::string &model) { return R"({"model": )" + model + "}"; }

static std::vector<uint32_t> idsOf(const Tokenizer &tokenizer, std::string_view text, EncodeOptions options = {}) {
  std::vector<Encoding> encodings;
  Status status = tokenizer.encode({{text, std::nullopt}}, options, encodings);
  INFO(status.message());
  REQUIRE_FALSE(status.failed());
  return encodings[0].ids;
}

/// All bytes as letters, and two tokens of two bytes.
static std::string makeByteLevel() {
  return R"({"model": {"type": "BPE", "vocab": {"Ã": 0, "¼": 1, "Ã¼": 2, "a": 3, "Ġ": 4, "â": 5, "Ĥ": 6, "¬": 7},
             "merges": ["Ã ¼"]}, "decoder": {"type": "ByteLevel"},
             "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true}})";
}

TEST_CASE("components that are not known are named") {
  CHECK_THAT(refusal(with(R"("normalizer": {"type": "Foo"})"), TENON_UNSUPPORTED),
             Contains("'normalizer.type' is 'Foo'"));
  CHECK_THAT(refusal(with(R"("normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "X"}]})"), 3),
             Contains("'normalizer.normalizers.1.type' is 'X'") && Contains("known are BertNormalizer"));
  CHECK_THAT(refusal(with(R"("pre_tokenizer": {"type": "UnicodeScripts"})"), 3), Contains("'UnicodeScripts'"));
  CHECK_THAT(refusal(with(R"("post_processor": {"type": "Foo"})"), 3), Contains("'post_processor.type' is 'Foo'"));
  CHECK_THAT(refusal(with(R"("decoder": {"type": "Foo"})"), 3), Contains("'decoder.type' is 'Foo'"));
  CHECK_THAT(refusal(withModel(R"({"type": "Foo"})"), 3), Contains("'model.type' is 'Foo'"));
  CHECK_THAT(refusal(with(R"("padding": {"strategy": "Foo", "pad_id": 0, "pad_type_id": 0, "pad_token": ""})"), 3),
             Contains("'padding.strategy'"));
  CHECK_THAT(refusal(with(R"("pre_tokenizer": {"type": "Metaspace", "replacement": "_", "prepend_scheme": "x"})"), 3),
             Contains("'pre_tokenizer.prepend_scheme' is 'x'"));
  CHECK_THAT(refusal(with(R"("pre_tokenizer": {"type": "Punctuation", "behavior": "x"})"), 3), Contains("is 'x'"));
  CHECK_THAT(refusal(withModel(R"({"type": "BPE", "vocab": {}, "merges": [], "dropout": 0.1})"), 3),
             Contains("dropout"));
}

TEST_CASE("files that are damaged") {
  CHECK_THAT(refusal("", 1), Contains("no JSON"));
  CHECK_THAT(refusal("[]", 1), Contains("no JSON object"));
  CHECK_THAT(refusal("{}", 1), Contains("'model' is no object"));
  CHECK_THAT(refusal(R"({"a": 1, "a": 2})", 1), Contains("the key 'a' twice"));
  CHECK_THAT(refusal(withModel(R"({"type": "WordLevel", "vocab": {"a": -1}, "unk_token": "a"})"), 1), Contains("'a'"));
  CHECK_THAT(refusal(withModel(R"({"type": "BPE", "vocab": {"a": 0}, "merges": ["a"]})"), 1),
             Contains("'model.merges.0'"));
  CHECK_THAT(refusal(withModel(R"({"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]})"), 1), Contains("'b'"));
  CHECK_THAT(refusal(withModel(R"({"type": "Unigram", "vocab": [["a"]]})"), 1), Contains("'model.vocab.0'"));
  CHECK_THAT(refusal(withModel(R"({"type": "Unigram", "vocab": [["a", 1]], "unk_id": 1})"), 1), Contains("unk_id"));
  CHECK_THAT(refusal(with(R"("normalizer": {"type": "Strip", "strip_left": 1})"), 1),
             Contains("strip_left' is no boolean"));
  CHECK_THAT(refusal(with(R"("normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"})"), 1),
             Contains("damaged"));
  CHECK_THAT(refusal(with(R"("post_processor": {"type": "BertProcessing", "sep": ["a"], "cls": ["a", 0]})"), 1),
             Contains("'post_processor.sep'"));
  CHECK_THAT(refusal(with(R"("post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "x",
                              "type_id": 0}}], "pair": [], "special_tokens": {}})"),
                     1),
             Contains("'x'"));
}

TEST_CASE("numbers of added tokens that the packages would not give") {
  CHECK_THAT(refusal(with(R"("added_tokens": [{"id": 9, "content": "<x>"}])"), 3), Contains("'<x>' has the number 9"));
  CHECK_THAT(refusal(with(R"("added_tokens": [{"id": 1, "content": "a"}])"), 3),
             Contains("in the vocabulary it has 0"));
  auto tokenizer = make(with(R"("added_tokens": [{"id": 3, "content": "<x>"}, {"id": 4, "content": "<xy>"}])"));
  CHECK(idsOf(*tokenizer, "<xy><x>") == std::vector<uint32_t>{4, 3});
}

TEST_CASE("texts that are no UTF-8 are told with their place") {
  std::vector<Encoding> encodings;
  Status status = make(with(""))->encode({{"a", std::nullopt}, {"ab\xff", std::nullopt}}, {}, encodings);
  CHECK(status.code() == TENON_INVALID);
  CHECK_THAT(status.message(), Contains("text 2: the text is no UTF-8 at byte 2"));
}

TEST_CASE("an unknown word needs a token") {
  std::vector<Encoding> encodings;
  auto tokenizer = make(withModel(R"({"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "?"})"));
  CHECK_THAT(tokenizer->encode({{"b", std::nullopt}}, {}, encodings).message(), Contains("'?'"));
  CHECK(idsOf(*tokenizer, "").empty());
}

TEST_CASE("characters come from a stream of tokens when they are whole") {
  auto tokenizer = make(makeByteLevel());
  DecodeStream stream(*tokenizer, false);
  std::string text;
  auto push = [&](uint32_t id) {
    REQUIRE_FALSE(stream.push(id, text).failed());
    return text;
  };
  CHECK(push(3) == "a");
  CHECK(push(5).empty());
  CHECK(push(6).empty());
  CHECK(push(7) == "\xe2\x82\xac");
  CHECK(push(2) == "\xc3\xbc");
  CHECK(push(0).empty());
  CHECK(push(3) == "\xef\xbf\xbd"
                   "a");
  CHECK(push(5).empty());
  REQUIRE_FALSE(stream.finish(text).failed());
  CHECK(text == "\xef\xbf\xbd");
  REQUIRE_FALSE(stream.finish(text).failed());
  CHECK(text.empty());
}

TEST_CASE("a stream that never makes a character does not hold everything back") {
  auto tokenizer = make(makeByteLevel());
  DecodeStream stream(*tokenizer, false);
  std::string text, all;
  for (int i = 0; i < 20'000; ++i) {
    REQUIRE_FALSE(stream.push(6, text).failed());
    all += text;
  }
  CHECK(all.size() > 3 * 19'900);
}

TEST_CASE("texts are cut off and padded only where that is asked for") {
  auto tokenizer =
      make(with(R"("truncation": {"max_length": 1, "strategy": "LongestFirst", "direction": "Right", "stride": 0},
    "padding": {"strategy": {"Fixed": 4}, "direction": "Right", "pad_id": 7, "pad_type_id": 0, "pad_token": "p"},
    "pre_tokenizer": {"type": "WhitespaceSplit"})"));
  EncodeOptions options;
  CHECK(idsOf(*tokenizer, "a b", options) == std::vector<uint32_t>{0, 1});
  options.truncates = true;
  CHECK(idsOf(*tokenizer, "a b", options) == std::vector<uint32_t>{0});
  options.pad = EncodeOptions::Pad::asFileSays;
  CHECK(idsOf(*tokenizer, "a b", options) == std::vector<uint32_t>{0, 7, 7, 7});
  options.pad = EncodeOptions::Pad::toLongest;
  options.maxLength = 2;
  CHECK(idsOf(*tokenizer, "a b", options) == std::vector<uint32_t>{0, 1});
}
