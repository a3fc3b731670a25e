//===- PlacementTests.cpp - places for buffers in one arena ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/placement/Conflicts.h"
#include "passes/memory/placement/Place.h"
#include "passes/memory/placement/Sweep.h"
#include "passes/memory/placement/Validate.h"
#include "test/unit/memory/Instances.h"
#include <catch2/catch.hpp>

using namespace tenon::placement;

static constexpr int64_t kSteps = 200'000;

/// Checks a placement pair by pair, from the definition alone.
static void checkPlacement(const Instance &instance, const Placement &placement) {
  REQUIRE(placement.offsets.size() == instance.size());
  int64_t peak = 0;
  for (size_t i = 0; i < instance.size(); ++i) {
    REQUIRE(placement.offsets[i] >= 0);
    REQUIRE(placement.offsets[i] % instance[i].alignment == 0);
    if (instance[i].takesPlace())
      peak = std::max(peak, placement.offsets[i] + instance[i].size);
    for (size_t j = 0; j < i; ++j)
      if (inConflict(instance[i], instance[j]))
        REQUIRE((placement.offsets[i] + instance[i].size <= placement.offsets[j] ||
                 placement.offsets[j] + instance[j].size <= placement.offsets[i]));
  }
  REQUIRE(placement.peak == peak);
  REQUIRE_FALSE(findPlacementFault(instance, placement));
}

static PlaceResult placeAndCheck(const Instance &instance, int64_t steps = kSteps) {
  REQUIRE_FALSE(findInstanceFault(instance));
  PlaceResult result = place(instance, Budget(steps));
  checkPlacement(instance, result.placement);
  REQUIRE(result.lowerBound >= getLowerBound(instance));
  REQUIRE(result.placement.peak >= result.lowerBound);
  return result;
}

TEST_CASE("nothing needs no arena") {
  PlaceResult result = placeAndCheck({});
  CHECK(result.placement.peak == 0);
  CHECK(result.lowerBound == 0);
}

TEST_CASE("a buffer of no bytes or no time takes no place") {
  CHECK(placeAndCheck({{0, 4, 0}, {0, 4, 64}, {1, 2, 0}, {2, 2, 1000}}).placement.peak == 64);
}

TEST_CASE("buffers that meet at an instant share memory, as one ends where the other begins") {
  CHECK(placeAndCheck({{0, 2, 256}, {2, 4, 256}}).placement.peak == 256);
}

TEST_CASE("buffers of equal times lie side by side, each at its alignment") {
  CHECK(placeAndCheck(Instance(5, {0, 1, 65})).placement.peak == 5 * 65);
  CHECK(placeAndCheck(Instance(5, {0, 1, 65, 64})).placement.peak == 4 * 128 + 65);
}

TEST_CASE("a chain of layers needs two buffers") {
  Instance chain;
  for (int64_t i = 0; i < 20; ++i)
    chain.push_back({i, i + 2, 1024});
  CHECK(placeAndCheck(chain).placement.peak == 2048);
}

TEST_CASE("random instances are placed without collision") {
  std::mt19937 random(20240613);
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    Instance instance = makeNetwork(random, 1 + round % 60);
    if (round % 3 == 0)
      for (Buffer &buffer : instance)
        buffer.alignment = int64_t(1) << draw(random, 0, 8);
    placeAndCheck(instance);
    checkPlacement(instance, placeBySweep(instance));
  }
}

TEST_CASE("parts of time without buffers in common are placed apart") {
  std::mt19937 random(5);
  Instance parts;
  for (int64_t k = 0; k < 4; ++k)
    for (Buffer buffer : makeCut(random, 20, 1000 + k))
      parts.push_back({buffer.lower + 1000 * k, buffer.upper + 1000 * k, buffer.size});
  CHECK(placeAndCheck(parts).placement.peak == 1003);
}

TEST_CASE("the same buffers get the same places") {
  std::mt19937 random(7);
  Instance instance = makeCut(random, 80, 100000);
  trim(random, instance);
  CHECK(place(instance, Budget(kSteps)).placement.offsets == place(instance, Budget(kSteps)).placement.offsets);
}

TEST_CASE("a placement that is good enough ends the work") {
  std::mt19937 random(9);
  Instance instance = makeCut(random, 60, 100000);
  PlaceResult result = place(instance, Budget(0), /*capacity=*/1'000'000);
  CHECK(result.placement.peak <= 1'000'000);
  checkPlacement(instance, result.placement);
}

TEST_CASE("ten thousand buffers are placed") {
  std::mt19937 random(3);
  placeAndCheck(makeNetwork(random, 10000), /*steps=*/1);
}

TEST_CASE("conflicts are what the definition says") {
  std::mt19937 random(17);
  for (int round = 0; round < 50; ++round) {
    CAPTURE(round);
    Instance instance = makeNetwork(random, 40);
    Conflicts conflicts(instance);
    CHECK(countConflicts(instance) * 2 == static_cast<int64_t>(conflicts.count()));
    for (uint32_t i = 0; i < instance.size(); ++i)
      for (uint32_t j = 0; j < instance.size(); ++j) {
        auto others = conflicts.of(i);
        bool isListed = std::find(others.begin(), others.end(), j) != others.end();
        REQUIRE(isListed == (i != j && inConflict(instance[i], instance[j])));
      }
  }
}

TEST_CASE("what is wrong with an instance is said") {
  constexpr int64_t kHuge = int64_t(1) << 62;
  CHECK(findInstanceFault({{0, 1, 1}, {2, 1, 1}})->buffer == 1);
  CHECK(findInstanceFault({{0, 1, -1}}));
  CHECK(findInstanceFault({{0, 1, 1, 0}}));
  CHECK(findInstanceFault({{0, 1, kHuge}, {5, 6, kHuge}})->buffer == 1);
  CHECK_FALSE(findInstanceFault({{-5, 1, kHuge}}));
}

TEST_CASE("the validator finds planted faults") {
  std::mt19937 random(11);
  for (int round = 0; round < 100; ++round) {
    CAPTURE(round);
    Instance instance = makeNetwork(random, 2 + round % 30);
    for (Buffer &buffer : instance)
      buffer.alignment = 64;
    const Placement right = place(instance, Budget(kSteps)).placement;
    for (size_t i = 0; i < instance.size(); ++i) {
      if (!instance[i].takesPlace())
        continue;
      Placement wrong = right;
      wrong.offsets[i] += 1;
      CHECK(findPlacementFault(instance, wrong));
      wrong.offsets[i] = alignTo(right.peak, 64);
      CHECK(findPlacementFault(instance, wrong));
      wrong.offsets[i] = -64;
      CHECK(findPlacementFault(instance, wrong));
      for (size_t j = 0; j < instance.size(); ++j)
        if (i != j && inConflict(instance[i], instance[j])) {
          wrong.offsets[i] = right.offsets[j];
          CHECK(findPlacementFault(instance, wrong));
        }
    }
  }
}
