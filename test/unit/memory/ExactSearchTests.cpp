//===- ExactSearchTests.cpp - places within a capacity --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/placement/ExactSearch.h"
#include "passes/memory/placement/Place.h"
#include "passes/memory/placement/Validate.h"
#include "test/unit/memory/Instances.h"
#include <catch2/catch.hpp>

using namespace tenon::placement;

/// The end of a search for which some millions of steps are enough.
static SearchEnd search(const Instance &instance, int64_t capacity) {
  Placement placement;
  Budget budget(50'000'000);
  SearchEnd end = searchPlacement(instance, capacity, budget, placement);
  if (end == SearchEnd::found) {
    CHECK(placement.peak <= capacity);
    CHECK_FALSE(findPlacementFault(instance, placement));
  }
  return end;
}

TEST_CASE("a search finds the smallest arena, and that there is none that is smaller") {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    Instance instance;
    int64_t count = draw(random, 1, 7);
    for (int64_t i = 0; i < count; ++i) {
      int64_t lower = draw(random, 0, 6);
      instance.push_back({lower, lower + draw(random, 1, 4), draw(random, 1, 6)});
    }
    int64_t smallest = getSmallestPeak(instance);
    CHECK(search(instance, smallest) == SearchEnd::found);
    CHECK(search(instance, smallest - 1) == SearchEnd::impossible);
  }
}

TEST_CASE("a rectangle that was cut is put together again") {
  std::mt19937 random(2);
  for (int round = 0; round < 40; ++round) {
    CAPTURE(round);
    CHECK(search(makeCut(random, 10 + 5 * round, 4096), 4096) == SearchEnd::found);
  }
}

TEST_CASE("live ranges that were made smaller fit where they were") {
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    Instance instance = makeCut(random, 20 + round, 4096);
    trim(random, instance);
    CHECK(search(instance, 4096) == SearchEnd::found);
  }
}

TEST_CASE("a search that has no budget gives up") {
  std::mt19937 random(4);
  Placement placement;
  Budget budget(10);
  CHECK(searchPlacement(makeCut(random, 100, 4096), 4096, budget, placement) == SearchEnd::gaveUp);
}

TEST_CASE("few buffers get the smallest arena, which is known to be that") {
  std::mt19937 random(8);
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    Instance instance;
    for (int i = 0; i < 7; ++i) {
      int64_t lower = draw(random, 0, 6);
      instance.push_back({lower, lower + draw(random, 1, 4), draw(random, 1, 6)});
    }
    PlaceResult result = place(instance, Budget(1'000'000));
    CHECK(result.placement.peak == getSmallestPeak(instance));
    CHECK(result.lowerBound == result.placement.peak);
  }
}
