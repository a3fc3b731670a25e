//===- EncodingTests.cpp - truncation and padding -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/Encoding.h"

#include <catch2/catch.hpp>

using namespace tenon::text;
using Catch::Matchers::Contains;

static Encoding make(uint32_t from, size_t count) {
  Encoding encoding;
  for (uint32_t i = 0; i < count; ++i)
    encoding.add(from + i, 0, "t", {i, i + 1}, false);
  return encoding;
}

static std::vector<size_t> lengths(Truncation truncation, std::vector<size_t> sizes, size_t added = 0) {
  std::vector<Encoding> encodings;
  for (size_t size : sizes)
    encodings.push_back(make(10, size));
  Status status = truncation.apply(encodings, added);
  INFO(status.message());
  REQUIRE_FALSE(status.failed());
  std::vector<size_t> result;
  for (const Encoding &encoding : encodings)
    result.push_back(encoding.size());
  return result;
}

TEST_CASE("the longer of two texts gives first") {
  using Lengths = std::vector<size_t>;
  Truncation longest{10, Truncation::Strategy::longestFirst, false};
  CHECK(lengths(longest, {12}) == Lengths{10});
  CHECK(lengths(longest, {12}, 2) == Lengths{8});
  CHECK(lengths(longest, {3, 20}) == Lengths{3, 7});
  CHECK(lengths(longest, {20, 3}) == Lengths{7, 3});
  CHECK(lengths(longest, {20, 20}, 3) == Lengths{3, 4});
  CHECK(lengths(longest, {5, 5}) == Lengths{5, 5});
  CHECK(lengths(longest, {20, 20}, 10) == Lengths{0, 0});
  CHECK(lengths({10, Truncation::Strategy::onlySecond, false}, {3, 20}) == Lengths{3, 7});
  CHECK(lengths({10, Truncation::Strategy::onlyFirst, false}, {20, 3}) == Lengths{7, 3});
}

TEST_CASE("truncation that cannot be") {
  std::vector<Encoding> one{make(0, 20)}, two{make(0, 3), make(0, 20)};
  CHECK_THAT((Truncation{2, Truncation::Strategy::longestFirst, false}.apply(one, 3).message()),
             Contains("3 are added"));
  CHECK_THAT((Truncation{9, Truncation::Strategy::onlySecond, false}.apply(one, 0).message()), Contains("just one"));
  CHECK_THAT((Truncation{9, Truncation::Strategy::onlyFirst, false}.apply(two, 0).message()),
             Contains("would leave none"));
}

TEST_CASE("tokens are taken from the end or from the beginning") {
  std::vector<Encoding> encodings{make(0, 5)};
  REQUIRE_FALSE((Truncation{2, Truncation::Strategy::longestFirst, true}.apply(encodings, 0).failed()));
  CHECK(encodings[0].ids == std::vector<uint32_t>{3, 4});
  CHECK(encodings[0].offsets[0] == Span{3, 4});
}

TEST_CASE("texts are padded at one side, to multiples") {
  std::vector<Encoding> batch{make(1, 2), make(1, 5), Encoding()};
  Padding padding;
  padding.multiple = 4;
  padding.isLeft = true;
  padding.id = 9;
  padding.apply(batch);
  CHECK(batch[0].ids == std::vector<uint32_t>{9, 9, 9, 9, 9, 9, 1, 2});
  CHECK(batch[0].attentionMask == std::vector<uint8_t>{0, 0, 0, 0, 0, 0, 1, 1});
  CHECK(batch[1].size() == 8);
  CHECK(batch[2].ids == std::vector<uint32_t>(8, 9));
  padding = {};
  padding.apply(batch, 11);
  CHECK(batch[0].size() == 11);
  CHECK(batch[0].ids.back() == 0);
}
