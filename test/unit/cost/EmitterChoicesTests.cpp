//===- EmitterChoicesTests.cpp - loops of contractions, by table ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/EmitterChoices.h"
#include <catch2/catch.hpp>

using namespace tenon;

TEST_CASE("innermost loops are unrolled until they have enough products", "[emitter]") {
  struct Row {
    const char *what;
    InnerLoop loop;
    int64_t unrolled;
  };
  const std::optional<int64_t> unknown = std::nullopt;
  const Row rows[] = {
      {"26 products of a block of AVX-512", {512, 26, false, false}, 2},
      {"few products", {512, 4, false, false}, 8},
      {"an odd number of steps", {511, 4, false, false}, 1},
      {"twice an odd number", {510, 4, false, false}, 2},
      {"unknown steps", {unknown, 4, false, false}, 1},
      {"a window", {512, 4, true, false}, 1},
      {"few registers: a remainder is no obstacle", {511, 12, false, true}, 4},
      {"few registers: all of a few steps", {7, 12, false, true}, 7},
      {"few registers: no step", {0, 12, false, true}, 1},
      {"few registers: unknown steps", {unknown, 12, false, true}, 4},
      {"few registers: unknown steps of a window", {unknown, 12, true, true}, 1},
  };
  for (const Row &row : rows) {
    CAPTURE(row.what);
    CHECK(chooseUnrolledSteps(row.loop) == row.unrolled);
  }
  EmitterPolicy policy;
  policy.maxUnrolledSteps = 2;
  CHECK(chooseUnrolledSteps({512, 4, false, false}, policy) == 2);
}

TEST_CASE("long sums have K-blocks of even length that cover them", "[emitter]") {
  const EmitterPolicy policy;
  CHECK_FALSE(chooseKBlocks(2048, 4));
  CHECK_FALSE(chooseKBlocks(1024, 8));
  for (int64_t elementBytes : {4, 8})
    for (int64_t steps : {2049, 2304, 3072, 4095, 4096, 25088, 100003}) {
      CAPTURE(elementBytes, steps);
      std::optional<KBlocks> blocks = chooseKBlocks(steps, elementBytes);
      REQUIRE(blocks);
      CHECK(blocks->count > 1);
      CHECK(blocks->size % 2 == 0);
      CHECK(blocks->size * elementBytes <= policy.kBlockBytes + 2 * elementBytes);
      CHECK((blocks->count - 1) * blocks->size < steps);
      CHECK(blocks->count * blocks->size >= steps);
    }
}

TEST_CASE("columns are packed where pixels share few sets of L1", "[emitter]") {
  struct Row {
    int64_t channels, taps;
    bool packs;
  };
  const Row rows[] = {
      {512, 9, true},   // 2 sets, 62 lines
      {1024, 9, true},  // 1 set
      {128, 9, false},  // 8 sets have room for 64 lines
      {128, 25, true},  // and not for 158
      {480, 9, false},  // 32 sets
      {384, 49, true},  // 8 sets
      {1024, 1, false}, // no window
  };
  for (const Row &row : rows) {
    CAPTURE(row.channels, row.taps);
    CHECK(sharesFewSets(row.channels * 4, row.taps) == row.packs);
  }
  CHECK_FALSE(sharesFewSets(4096, PackingPolicy().maxTaps + 1));
}
