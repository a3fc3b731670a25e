//===- FusionCostTests.cpp - storing a value, or computing it again --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/FusionCost.h"
#include <catch2/catch.hpp>
#include <vector>

using namespace tenon;

/// Caches of 1 and 32 MB, vectors of 16 floats.
static const Machine kMachine;

TEST_CASE("bytes move as fast as the smallest cache that holds them") {
  CHECK(getMoveCycles(320, kMachine) == 10);
  CHECK(getMoveCycles(4 << 20, kMachine) == (4 << 20) / kMachine.llcBytesPerCycle);
  CHECK(getMoveCycles(64 << 20, kMachine) == (64 << 20) / kMachine.dramBytesPerCycle);
  CHECK(getMoveCycles(0, kMachine) == 0);
}

TEST_CASE("a kernel takes as long as its arithmetic or as its bytes") {
  double launch = getKernelCycles({0, 0}, kMachine);
  CHECK(getKernelCycles({500, 320}, kMachine) == launch + 500);
  CHECK(getKernelCycles({5, 320}, kMachine) == launch + 10);
}

TEST_CASE("cheap arithmetic hides behind the bytes that are moved anyway") {
  for (double reads : {1e3, 1e5, 1e7})
    CHECK(paysToRecompute({100, reads, 4, 1, 1}, kMachine));
}

TEST_CASE("costly arithmetic is repeated as long as a launch costs more") {
  CHECK(paysToRecompute({64, 512, 4, 24, 1}, kMachine));
  CHECK_FALSE(paysToRecompute({960, 960 * 49, 4, 24, 1}, kMachine));
  CHECK_FALSE(paysToRecompute({100, 1e6, 4, 24, 1}, kMachine));
}

TEST_CASE("costly arithmetic, too, hides behind what comes from memory") {
  // 51 cycles for a vector that is read and one that is written.
  CHECK(paysToRecompute({100, 1e7, 4, 24, 1}, kMachine));
  CHECK(paysToRecompute({8e6, 16e6, 4, 24, 1}, kMachine));
}

TEST_CASE("a result that is stored costs a kernel, and is read again") {
  // 1600 floats are 100 vectors and 6400 bytes, which take 200 cycles from L2.
  Producer producer{1600, 4, 3200, 1};
  Consumer consumer{1600, {50, 6400}};
  double launch = kMachine.launchCycles;
  CHECK(getMaterializedCycles(producer, consumer, kMachine) == (launch + 300) + (launch + 400));
  CHECK(getRecomputedCycles(producer, consumer, kMachine) == launch + 300);
}

TEST_CASE("kernels that recompute a result read its operands, and save its kernel") {
  Consumer consumer{1600, {50, 6400}};
  std::vector<Consumer> consumers(3, consumer);
  double launch = kMachine.launchCycles;
  Producer cheap{1600, 4, 6400, 1};
  CHECK(getMaterializedCycles(cheap, consumers, kMachine) == 4 * (launch + 400));
  CHECK(getRecomputedCycles(cheap, consumers, kMachine) == 3 * (launch + 400));
  // 24 cycles for each of 100 vectors, in each of three kernels.
  Producer costly{1600, 4, 6400, 24};
  CHECK(getMaterializedCycles(costly, consumers, kMachine) == (launch + 2400) + 3 * (launch + 400));
  CHECK(getRecomputedCycles(costly, consumers, kMachine) == 3 * (launch + 2450));
}

TEST_CASE("a result that is read repeatedly is computed as often where it is not stored") {
  Consumer consumer{160000, {0, 0}};
  Producer producer{1600, 4, 6400, 2};
  CHECK(getRecomputedCycles(producer, consumer, kMachine) == kMachine.launchCycles + 20000);
  CHECK(getMaterializedCycles(producer, consumer, kMachine) == 2 * kMachine.launchCycles + 400 + 200);
}

TEST_CASE("what is smaller than its operands is stored for several consumers in memory") {
  // 4 MB from operands of 64 MB.
  Producer producer{1 << 20, 4, 64 << 20, 1};
  std::vector<Consumer> consumers(4, {1 << 20, {0, 4 << 20}});
  CHECK(getMaterializedCycles(producer, consumers, kMachine) < getRecomputedCycles(producer, consumers, kMachine));
}
