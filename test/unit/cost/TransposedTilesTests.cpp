//===- TransposedTilesTests.cpp - tiles of transposes, by table -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/TransposedTiles.h"
#include <catch2/catch.hpp>

using namespace tenon;

TEST_CASE("tiles of transposes have cache lines along both sides", "[tiles]") {
  struct Row {
    const char *what;
    std::vector<Extent> extents;
    TransposedDims dims;
    int64_t bits;
    std::vector<int64_t> tile;
  };
  const Extent dynamic = std::nullopt;
  const TransposedDims matrix{{}, {0}, {1}};
  const Row rows[] = {
      {"a large matrix", {1024, 1024}, matrix, 32, {64, 128}},
      {"a matrix that is not much larger than a tile", {100, 200}, matrix, 32, {100, 200}},
      {"of 16 bits", {1024, 1024}, matrix, 16, {128, 128}},
      {"of 8 bits", {4096, 4096}, matrix, 8, {128, 256}},
      {"of 64 bits", {1024, 1024}, matrix, 64, {64, 128}},
      {"parts of equal size where one at the end would be small", {1030, 1024}, matrix, 32, {61, 128}},
      {"a short dimension with some of the next one", {3, 512, 512}, {{}, {1, 2}, {0, 1}}, 32, {3, 64, 42}},
      {"units that stay together", {1024, 1024, 8}, {{2}, {0}, {1}}, 32, {64, 64, 8}},
      {"dynamic rows and columns", {dynamic, dynamic}, matrix, 32, {64, 128}},
  };
  for (const Row &row : rows) {
    CAPTURE(row.what);
    llvm::SmallVector<int64_t> tile = chooseTransposedTile(row.extents, row.dims, 8192, row.bits);
    CHECK(std::vector<int64_t>(tile.begin(), tile.end()) == row.tile);
  }
}

TEST_CASE("tiles of transposes follow their policy", "[tiles]") {
  TransposePolicy policy;
  policy.columns = 32;
  CHECK(chooseTransposedTile({1024, 1024}, {{}, {0}, {1}}, 8192, 32, policy)[0] == 32);
}
