//===- PathSpaceTests.cpp - all that could be chosen ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/PathSpace.h"
#include <catch2/catch.hpp>

using namespace tenon;

static PathDecision makeOperation(const char *region, const char *node, std::vector<PathAlternative> alternatives) {
  return {region, region, {node}, 1, std::move(alternatives)};
}

static PathAlternative makePath(const char *name, double cycles, double error,
                                std::optional<double> nanoseconds = std::nullopt) {
  return {name, cycles, nanoseconds, error, error * error, std::string(name) == "direct"};
}

TEST_CASE("equal operations are one decision", "[space]") {
  PathSpace space;
  space.add("host", {"main", 7}, makeOperation("conv", "b", {makePath("direct", 100, 0), makePath("fast", 50, 3e-3)}));
  space.add("host", {"main", 3}, makeOperation("conv", "a", {makePath("direct", 120, 0), makePath("fast", 70, 4e-3)}));
  space.add("host", {"main", 5}, makeOperation("small", "c", {makePath("direct", 10, 0)}));
  space.add("other", {"main", 3}, makeOperation("conv", "a", {makePath("direct", 1, 0)}));
  std::vector<PathDecision> decisions = space.list("host");
  REQUIRE(decisions.size() == 2);
  // The most expensive one first, its cheapest path first, nodes in the order of the function.
  CHECK(decisions[0].region == "conv");
  CHECK(decisions[0].numOperations == 2);
  CHECK(decisions[0].nodes == std::vector<std::string>{"a", "b"});
  REQUIRE(decisions[0].alternatives.size() == 2);
  const PathAlternative &fast = decisions[0].alternatives[0];
  CHECK(fast.path == "fast");
  CHECK(fast.cycles == 120);
  CHECK(fast.cost == 120);
  CHECK(fast.largestError == 4e-3);
  CHECK(fast.variance == Approx(25e-6));
  CHECK(decisions[0].alternatives[1].isDefault);
  CHECK(space.list("none").empty());
}

TEST_CASE("a region has the paths that all of its operations have", "[space]") {
  PathSpace space;
  space.add("host", {"main", 1}, makeOperation("conv", "a", {makePath("direct", 100, 0), makePath("fast", 50, 0)}));
  space.add("host", {"main", 2}, makeOperation("conv", "b", {makePath("direct", 100, 0)}));
  std::vector<PathDecision> decisions = space.list("host");
  REQUIRE(decisions.size() == 1);
  REQUIRE(decisions[0].alternatives.size() == 1);
  CHECK(decisions[0].alternatives[0].path == "direct");
}

TEST_CASE("measured times count where all operations have them", "[space]") {
  PathSpace space;
  space.add("host", {"main", 1},
            makeOperation("conv", "a", {makePath("direct", 100, 0, 400), makePath("fast", 50, 0)}));
  space.add("host", {"main", 2},
            makeOperation("conv", "b", {makePath("direct", 100, 0, 600), makePath("fast", 50, 0, 900)}));
  std::vector<PathDecision> decisions = space.list("host");
  REQUIRE(decisions.size() == 1);
  const std::vector<PathAlternative> &paths = decisions[0].alternatives;
  REQUIRE(paths.size() == 2);
  // An estimate is scaled by what is known of the region: 1000 ns for 200 cycles.
  CHECK(paths[0].path == "fast");
  CHECK(!paths[0].nanoseconds);
  CHECK(paths[0].cost == Approx(500));
  CHECK(paths[1].nanoseconds == 1000.0);
  CHECK(paths[1].cost == Approx(1000));
}
