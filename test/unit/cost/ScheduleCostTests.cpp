//===- ScheduleCostTests.cpp - what tiles cost ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/ScheduleCost.h"
#include <catch2/catch.hpp>

using namespace tenon;

static TileProblem makeProblem(Extent rows, Extent columns, int64_t products) {
  TileProblem problem;
  problem.extents = problem.hints = {rows, columns};
  problem.row = 0;
  problem.column = 1;
  problem.products = products;
  return problem;
}

TEST_CASE("all products are counted, whatever the tiles are") {
  SchedulePolicy policy;
  policy.tileCycles = 0;
  Machine machine;
  machine.llcBytesPerCycle = 1e12; // operands cost nothing
  for (auto tile : {std::pair(64, 64), std::pair(7, 16), std::pair(1000, 1000)}) {
    int64_t sizes[] = {tile.first, tile.second};
    CHECK(estimateTileCycles(makeProblem(64, 64, 32), sizes, machine, policy) ==
          Approx(64 * 64 * 32 / machine.getMultiplyAdds(4)));
  }
}

TEST_CASE("smaller tiles read more, and a tile that is cut off counts as one") {
  TileProblem problem = makeProblem(128, 128, 256);
  auto estimate = [&](int64_t rows, int64_t columns) {
    int64_t sizes[] = {rows, columns};
    return estimateTileCycles(problem, sizes, Machine());
  };
  CHECK(estimate(64, 128) > estimate(128, 128));
  CHECK(estimate(64, 64) > estimate(64, 128));
  CHECK(estimate(100, 128) == estimate(100, 4096));
}

TEST_CASE("a dynamic extent without a hint is one tile, and an empty result is nothing") {
  int64_t sizes[] = {64, 64};
  CHECK(estimateTileCycles(makeProblem(std::nullopt, 64, 32), sizes, Machine()) ==
        estimateTileCycles(makeProblem(64, 64, 32), sizes, Machine()));
  CHECK(estimateTileCycles(makeProblem(0, 64, 32), sizes, Machine()) == 0);
}
