//===- FusionCostTests.cpp - storing a value, or computing it again --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/FusionCost.h"
#include <catch2/catch.hpp>

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
