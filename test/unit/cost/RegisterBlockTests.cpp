//===- RegisterBlockTests.cpp - how much of a result stays in registers ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/RegisterBlock.h"
#include <algorithm>
#include <catch2/catch.hpp>

using namespace tenon;

TEST_CASE("a block divides the rows where that costs nothing") {
  BlockProblem problem{26, 32, 16, 32};
  RegisterBlock block = chooseBlock(problem);
  CHECK(block.rows == 13);
  CHECK(block.vectors == 2);
}

TEST_CASE("a block of many registers leaves some for what is loaded early") {
  for (int64_t rows : {14, 28, 98, 196, 224}) {
    RegisterBlock block = chooseBlock({rows, 768, 16, 32});
    CAPTURE(rows);
    CHECK((block.rows + 1) * block.vectors + 3 <= 32);
  }
}

TEST_CASE("a block has no more rows than L1 holds lines of") {
  for (int64_t maxRows = 1; maxRows < 20; ++maxRows)
    for (int64_t rows = 1; rows < 200; ++rows) {
      BlockProblem problem{rows, 768, 16, 32};
      problem.maxRows = maxRows;
      CAPTURE(maxRows, rows);
      CHECK(chooseBlock(problem).rows <= maxRows);
    }
  BlockProblem problem{101, 768, 16, 32};
  problem.maxRows = 6;
  RegisterBlock block = chooseBlock(problem);
  CHECK(block.rows == 6);
  CHECK(block.vectors == 4);
}

TEST_CASE("of short vectors a block has two rather than more loads than products") {
  BlockProblem problem{14, 64, 8, 16};
  problem.vectorCycles = 1.5;
  RegisterBlock block = chooseBlock(problem);
  CHECK(block.rows == 5);
  CHECK(block.vectors == 2);
}

TEST_CASE("a block has an even part of a panel, or whole ones") {
  for (int64_t panelVectors : {1, 2, 4})
    for (int64_t registers : {16, 32})
      for (int64_t rows = 1; rows < 70; ++rows) {
        BlockProblem problem{rows, 768, 8, registers};
        problem.panelVectors = panelVectors;
        int64_t vectors = chooseBlock(problem).vectors;
        CHECK((vectors % panelVectors == 0 || panelVectors % vectors == 0));
      }
}

TEST_CASE("a block leaves room for what it is multiplied with") {
  for (int64_t registers : {16, 32})
    for (int64_t rows = 1; rows < 70; ++rows)
      for (int64_t taps : {1, 3, 5, 7}) {
        BlockProblem problem{rows, 120, 8, registers};
        problem.isColumnwise = true;
        problem.taps = taps;
        RegisterBlock block = chooseBlock(problem);
        CHECK(block.rows >= 1);
        CHECK((block.rows + taps) * block.vectors < registers);
      }
}

TEST_CASE("all of a few rows have more vectors than registers hold beside their sums") {
  BlockProblem problem{3, 64, 8, 16};
  problem.vectorCycles = 1.5;
  problem.panelVectors = 2;
  RegisterBlock block = chooseBlock(problem);
  CHECK(block.rows == 3);
  CHECK(block.vectors == 4);
  // Each block of more rows would read the vectors once more.
  problem.rows = 300;
  CHECK(chooseBlock(problem).rows == 6);
  for (int64_t registers : {16, 32})
    for (problem.rows = 1; problem.rows < 20; ++problem.rows) {
      problem.registers = registers;
      RegisterBlock each = chooseBlock(problem);
      CHECK(each.rows * each.vectors + std::min(each.rows, each.vectors) < registers);
    }
}

TEST_CASE("columns by themselves read two vectors of a pixel rather than one of more pixels") {
  BlockProblem problem{56, 64, 16, 32};
  problem.isColumnwise = true;
  problem.taps = 3;
  problem.stride = 2;
  CHECK(chooseBlock(problem).vectors == 2);
}

TEST_CASE("rows are split evenly") {
  for (int64_t rows = 0; rows < 200; ++rows)
    for (int64_t most = 1; most < 20; ++most) {
      RowBlocks blocks = splitRows(rows, most);
      CHECK(blocks.count == (rows + most - 1) / most);
      CHECK(blocks.larger * (blocks.rows + 1) + (blocks.count - blocks.larger) * blocks.rows == rows);
      CHECK(blocks.rows + (blocks.larger > 0) <= most);
    }
}

TEST_CASE("the blocks next to the best one are those that can be used") {
  for (int64_t registers : {16, 32})
    for (int64_t rows : {1, 3, 14, 56, 300})
      for (int64_t columns : {8, 16, 100}) {
        BlockProblem problem{rows, columns, registers / 2, registers};
        auto ranked = rankBlocks(problem, 5);
        REQUIRE(!ranked.empty());
        CHECK(ranked.size() <= 5);
        CHECK(ranked.front().second == 1);
        for (size_t i = 0; i < ranked.size(); ++i) {
          CHECK(allowsBlock(problem, ranked[i].first));
          CHECK(ranked[i].second >= (i ? ranked[i - 1].second : 1));
        }
      }
}

TEST_CASE("a block has no more rows, vectors and registers than there are") {
  BlockProblem problem{6, 32, 8, 16};
  CHECK(allowsBlock(problem, {6, 2}));
  CHECK(!allowsBlock(problem, {7, 2}));
  CHECK(!allowsBlock(problem, {6, 3})); // 18 sums
  CHECK(allowsBlock(problem, {2, 4}));
  CHECK(!allowsBlock(problem, {2, 5})); // beyond the columns
  CHECK(!allowsBlock(problem, {0, 2}));
  CHECK(!allowsBlock(problem, {6, 0}));
  problem.maxRows = 4;
  CHECK(!allowsBlock(problem, {6, 2}));
  problem.panelVectors = 2;
  CHECK(!allowsBlock(problem, {3, 3}));
}
