//===- ContractionTilesTests.cpp - tiles of contractions, by table --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/ContractionTiles.h"
#include "passes/cost/EmitterPolicy.h"
#include "passes/cost/PackingPolicy.h"
#include "passes/cost/StackPolicy.h"
#include <catch2/catch.hpp>

using namespace tenon;
using Sizes = std::vector<int64_t>;

static Sizes toVector(llvm::ArrayRef<int64_t> sizes) { return sizes.vec(); }

/// A result of rows by columns, both of which are the last dimensions.
static TileProblem getMatrix(llvm::ArrayRef<Extent> extents, int64_t products, int64_t panel = 1) {
  TileProblem problem;
  problem.extents.assign(extents.begin(), extents.end());
  problem.hints = problem.extents;
  problem.row = extents.size() - 2;
  problem.column = extents.size() - 1;
  problem.products = products;
  problem.rowStep = TilePolicy().rowStep;
  problem.panel = panel;
  return problem;
}

static int64_t countTiles(const TileProblem &problem, llvm::ArrayRef<int64_t> tile) {
  int64_t count = 1;
  for (size_t i = 0; i < tile.size(); ++i)
    count *= (problem.extents[i].value_or(tile[i]) + tile[i] - 1) / tile[i];
  return count;
}

TEST_CASE("tiles without panels have rows and columns for operands in L2", "[tiles]") {
  struct Row {
    const char *what;
    std::vector<Extent> extents, hints;
    bool hasBorder;
    int64_t products;
    Sizes tile;
  };
  const Extent dynamic = std::nullopt;
  const Row rows[] = {
      {"large", {1008, 1152}, {}, false, 1024, {56, 192}},
      {"equal parts", {1024, 384}, {}, false, 1024, {54, 192}},
      {"few rows are split by columns", {8, 4096}, {}, false, 512, {8, 192}},
      {"a border is kept whole", {1, 112, 112, 64}, {}, true, 27, {1, 2, 112, 64}},
      {"a batch is not split evenly", {7, 8, 8}, {}, false, 8, {7, 8, 8}},
      {"dynamic rows", {dynamic, 768}, {}, false, 768, {56, 192}},
      {"dynamic rows of a hint", {dynamic, 768}, {20, 768}, false, 768, {20, 192}},
      {"empty", {0, 768}, {}, false, 768, {1, 64}},
  };
  for (const Row &row : rows) {
    CAPTURE(row.what);
    TileProblem problem = getMatrix(row.extents, row.products);
    if (!row.hints.empty())
      problem.hints.assign(row.hints.begin(), row.hints.end());
    problem.hasBorder = row.hasBorder;
    CHECK(toVector(choosePlainTile(problem)) == row.tile);
  }
}

TEST_CASE("tiles with panels have many rows and few panels", "[tiles]") {
  struct Row {
    const char *what;
    std::vector<Extent> extents;
    int64_t products, panel;
    Sizes tile;
  };
  const Extent dynamic = std::nullopt;
  const Row rows[] = {
      {"many rows, in whole register blocks", {4096, 256}, 64, 32, {518, 64}},
      {"dynamic rows", {dynamic, 3072}, 768, 32, {512, 64}},
      {"one row reads several panels", {1, 4096}, 1024, 32, {1, 128}},
      {"one row of few columns is shared evenly", {1, 512}, 1024, 32, {1, 64}},
      {"few tiles are split by rows", {197, 128}, 256, 32, {99, 64}},
      {"two tiles are split by panels and rows", {49, 64}, 960, 32, {25, 32}},
  };
  for (const Row &row : rows) {
    CAPTURE(row.what);
    CHECK(toVector(choosePanelTile(getMatrix(row.extents, row.products, row.panel))) == row.tile);
  }
}

TEST_CASE("tiles with panels divide a result for all threads", "[tiles]") {
  const TilePolicy policy;
  for (int64_t rows : {1, 2, 5, 14, 49, 64, 100, 197, 512, 1000, 3136})
    for (int64_t columns : {32, 64, 96, 128, 256, 512, 768, 1000, 3072})
      for (int64_t products : {16, 64, 256, 1024, 4096}) {
        CAPTURE(rows, columns, products);
        TileProblem problem = getMatrix({rows, columns}, products, 32);
        llvm::SmallVector<int64_t> tile = choosePanelTile(problem);
        CHECK(tile[0] >= 1);
        CHECK(tile[0] <= rows);
        CHECK((tile[1] % problem.panel == 0 || tile[1] == columns));
        CHECK(tile[0] * tile[1] <= policy.maxPackedElements + policy.packedRows * policy.columnStep);
        // Enough tiles, unless they are as small as register blocks.
        bool isSmall = tile[0] < 2 * policy.fewRows && tile[1] < 2 * policy.columnStep;
        CHECK((rows == 1 || isSmall || countTiles(problem, tile) >= policy.fewTiles));
      }
}

TEST_CASE("matrices that share no rows are tiles of their own, or even parts", "[tiles]") {
  struct Row {
    const char *what;
    std::vector<Extent> extents;
    int64_t products;
    Sizes tile;
  };
  const Extent dynamic = std::nullopt;
  const Row rows[] = {
      {"seven large ones", {7, 128, 1536}, 384, {1, 128, 64}},
      {"a tile of small ones is a divisor of all", {930, 8, 32}, 64, {31, 8, 32}},
      {"few small ones", {5, 37, 43}, 61, {1, 37, 43}},
      {"of a dynamic number each is a tile", {dynamic, 8, 32}, 64, {1, 8, 32}},
      {"none", {0, 8, 32}, 64, {1, 8, 32}},
  };
  for (const Row &row : rows) {
    CAPTURE(row.what);
    TileProblem problem = getMatrix(row.extents, row.products, 32);
    problem.matrices = {0};
    CHECK(toVector(choosePanelTile(problem)) == row.tile);
  }
}

TEST_CASE("rows that are packed bound the rows of a tile", "[tiles]") {
  TileProblem problem = getMatrix({1024, 768}, 3072, 16);
  int64_t rows = choosePanelTile(problem)[0];
  problem.packedRowBytes = 3072 * 4;
  TilePolicy policy;
  CHECK(choosePanelTile(problem)[0] <= policy.maxPackedRowsBytes / problem.packedRowBytes);
  policy.maxPackedRowsBytes /= 4;
  CHECK(choosePanelTile(problem, policy)[0] <= policy.maxPackedRowsBytes / problem.packedRowBytes);
  CHECK(choosePanelTile(problem, policy)[0] < rows);
}

TEST_CASE("sums of bf16 terms are done in K-blocks if their rows do not fit L2", "[tiles]") {
  struct Row {
    const char *what;
    int64_t rows, columns, depth;
    std::optional<int64_t> maxSplitDepth;
    int64_t kBlock;
  };
  const Row rows[] = {
      {"the rows fit", 128, 192, 1024, std::nullopt, 0},
      {"the rows do not fit", 128, 192, 4096, std::nullopt, 1024},
      {"the columns are too long to be kept", 64, 192, 2048, 1536, 1536},
      {"no tile for K-blocks: rows", 257, 192, 4096, std::nullopt, 0},
      {"no tile for K-blocks: columns", 128, 224, 4096, std::nullopt, 0},
  };
  for (const Row &row : rows) {
    CAPTURE(row.what);
    TileProblem problem = getMatrix({row.rows, row.columns}, row.depth, 16);
    problem.termRowBytes = row.depth * 3 * 2;
    CHECK(chooseTermKBlock(problem, {row.rows, row.columns}, row.depth, 32, row.maxSplitDepth) == row.kBlock);
  }
  TileProblem batch = getMatrix({4, 128, 192}, 4096, 16);
  batch.termRowBytes = 4096 * 6;
  CHECK(chooseTermKBlock(batch, {4, 128, 192}, 4096, 32, std::nullopt) == 0);
  CHECK(hasOtherDims(batch, {4, 128, 192}));
  CHECK_FALSE(hasOtherDims(batch, {1, 128, 192}));
}

TEST_CASE("code depends on the number of rows", "[tiles]") {
  const Extent dynamic = std::nullopt;
  CHECK(chooseRowVersions(131, 66, 1, 0, false).lastRows == 65);
  CHECK(chooseRowVersions(132, 66, 1, 0, false).lastRows == 0);
  CHECK(chooseRowVersions(132, 66, 1, 0, false).rowVersions == 0);
  CHECK(chooseRowVersions(dynamic, 512, 1, 1, false).rowVersions == 5);
  CHECK(chooseRowVersions(dynamic, 512, 1, 1, true).rowVersions == 1);
  CHECK(chooseRowVersions(dynamic, 512, 1, 2, false).rowVersions == 1);
  CHECK(chooseRowVersions(dynamic, 512, 6, 1, false).rowVersions == 0);
  CHECK_FALSE(chooseRowVersions(dynamic, 512, 6, 1, false).manyRows);
  CHECK(chooseRowVersions(dynamic, 512, 128, 1, false).manyRows);
}

TEST_CASE("the policies' bounds on memory belong together", "[tiles]") {
  const TilePolicy tiles;
  const EmitterPolicy emitter;
  const StackPolicy stack;
  // Results of a tile and sums between K-blocks are on the stack at the same time.
  CHECK(emitter.maxSumBytes + tiles.maxPackedElements * int64_t(sizeof(float)) <= stack.kernelBytes);
  CHECK(tiles.packedRows * tiles.columnStep * int64_t(sizeof(float)) <= emitter.maxSumBytes);
  CHECK(tiles.maxSplitTermBytes <= tiles.maxTermBytes);
}
