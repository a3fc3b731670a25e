//===- BlendCostsTests.cpp - estimates and measurements in one unit -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/PathTimes.h"
#include <catch2/catch.hpp>

using namespace tenon;

using Costs = std::vector<std::vector<double>>;

static PathCost estimate(double cycles) { return {cycles, std::nullopt}; }

TEST_CASE("without a measurement, costs are cycles") {
  CHECK(blendCosts({{estimate(100), estimate(200)}, {}}) == Costs{{100, 200}, {}});
  CHECK(blendCosts({}).empty());
}

TEST_CASE("measured times stand for themselves") {
  CHECK(blendCosts({{PathCost{100, 900}, PathCost{200, 300}}}) == Costs{{900, 300}});
}

TEST_CASE("estimates are scaled by what measurements of the same operation say") {
  // Twice as many nanoseconds as cycles.
  Costs costs = blendCosts({{PathCost{100, 200}, estimate(300)}});
  CHECK(costs[0][0] == 200);
  CHECK(costs[0][1] == Approx(600));
  // The geometric mean of 1 and 4.
  costs = blendCosts({{PathCost{100, 100}, PathCost{100, 400}, estimate(50)}});
  CHECK(costs[0][2] == Approx(100));
}

TEST_CASE("an operation without measurements is scaled by those of others") {
  Costs costs = blendCosts({{PathCost{100, 200}}, {PathCost{10, 80}}, {estimate(7), estimate(5)}});
  CHECK(costs[2][0] == Approx(28));
  CHECK(costs[2][1] == Approx(20));
  CHECK(costs[0][0] == 200);
}

TEST_CASE("an estimate of no cycles says nothing of the scale") {
  Costs costs = blendCosts({{PathCost{0, 50}, estimate(10)}});
  CHECK(costs[0][0] == 50);
  CHECK(costs[0][1] == 10);
}
