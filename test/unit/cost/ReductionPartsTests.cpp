//===- ReductionPartsTests.cpp - parts of long sums -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/ReductionParts.h"
#include <catch2/catch.hpp>
#include <random>

using namespace tenon;

static int64_t getParts(double rows, double columns, int64_t depth) {
  return chooseReductionParts({rows, columns, depth, rows * columns}, countReductionTiles(rows, columns));
}

TEST_CASE("long sums of a small result are split into many equal parts") {
  CHECK(getParts(64, 64, 224 * 224) == 64);
  CHECK(getParts(1, 10, 7 * 7 * 2048) == 7);
}

TEST_CASE("sums stay whole where parts do not pay") {
  SECTION("there are tiles for all threads") { CHECK(getParts(512, 512, 1 << 20) == 1); }
  SECTION("a part would take less than a launch") { CHECK(getParts(4, 8, 4096) == 1); }
  SECTION("partial results are large beside the operands") { CHECK(getParts(200, 60, 512) == 1); }
  SECTION("there are no equal parts") { CHECK(getParts(16, 16, 50021) == 1); }
  SECTION("there is nothing to compute") {
    CHECK(getParts(0, 8, 1 << 20) == 1);
    CHECK(getParts(8, 8, 0) == 1);
  }
}

TEST_CASE("parts are equal, large enough, and as many as there should be") {
  std::mt19937 random(7);
  TilePolicy policy;
  int64_t numSplit = 0;
  for (int i = 0; i < 2000; ++i) {
    double rows = std::uniform_int_distribution<int>(1, 96)(random),
           columns = std::uniform_int_distribution<int>(1, 96)(random);
    int64_t depth = std::uniform_int_distribution<int>(1, 1 << 17)(random), parts = getParts(rows, columns, depth);
    REQUIRE(parts >= 1);
    REQUIRE(depth % parts == 0);
    if (parts == 1)
      continue;
    ++numSplit;
    CHECK(parts <= policy.maxReductionParts);
    CHECK(rows * columns * depth / parts >= policy.minPartProducts);
    CHECK(countReductionTiles(rows, columns) < policy.someTiles);
    CHECK(policy.minReadsPerPartial * parts * rows * columns <= depth * (rows + columns));
  }
  CHECK(numSplit > 100);
}
