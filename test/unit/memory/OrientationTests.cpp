//===- OrientationTests.cpp - places for sizes that are not known ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/placement/Place.h"
#include "passes/memory/placement/PlaceForSamples.h"
#include "passes/memory/placement/Validate.h"
#include "test/unit/memory/Instances.h"
#include <catch2/catch.hpp>

using namespace tenon::placement;

/// Small ones are aligned less, as kernels may want.
static Instance drawSizes(std::mt19937 &random, Instance instance) {
  for (Buffer &buffer : instance) {
    buffer.size = draw(random, 0, 4) ? draw(random, 0, 1000) : 0;
    buffer.alignment = buffer.size < 500 ? int64_t(1) << draw(random, 0, 3) : 64;
  }
  return instance;
}

TEST_CASE("an orientation holds for any sizes") {
  std::mt19937 random(1);
  for (int round = 0; round < 40; ++round) {
    CAPTURE(round);
    Instance instance = makeNetwork(random, 2 + round);
    Orientation orientation = getOrientation(instance, place(instance, Budget(100'000)).placement);
    for (int k = 0; k < 1000; ++k) {
      Instance drawn = drawSizes(random, instance);
      REQUIRE_FALSE(findPlacementFault(drawn, evaluateOrientation(orientation, drawn)));
    }
  }
}

TEST_CASE("an orientation is as compact as the placement that it comes from") {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    CAPTURE(round);
    Instance instance = makeNetwork(random, 2 + round);
    Placement placement = place(instance, Budget(100'000)).placement;
    CHECK(evaluateOrientation(getOrientation(instance, placement), instance).peak <= placement.peak);
  }
}

TEST_CASE("an orientation has no edge that others imply") {
  std::mt19937 random(3);
  for (int round = 0; round < 40; ++round) {
    CAPTURE(round);
    Instance instance = makeNetwork(random, 2 + round);
    Orientation orientation = getOrientation(instance, place(instance, Budget(100'000)).placement);
    // What lies under a buffer, directly or not.
    std::vector<std::vector<char>> under(instance.size(), std::vector<char>(instance.size()));
    size_t edges = 0;
    for (uint32_t i : orientation.order)
      for (uint32_t j : orientation.below[i]) {
        ++edges;
        for (uint32_t k : orientation.below[i])
          REQUIRE_FALSE(under[k][j]);
        for (size_t k = 0; k < instance.size(); ++k)
          under[i][k] |= under[j][k];
        under[i][j] = true;
      }
    CHECK(edges <= 2 * instance.size());
  }
}

TEST_CASE("sizes in proportion need no more than their lower bound, where one of them does not") {
  std::mt19937 random(4);
  Instance cut = makeCut(random, 30, 4096);
  std::vector<Instance> samples(3, cut);
  for (int64_t k = 0; k < 3; ++k)
    for (Buffer &buffer : samples[k])
      buffer.size *= k + 1;
  SampledPlacement placed = placeForSamples(samples, Budget(50'000'000));
  CHECK(placed.worstRatio == 1);
  CHECK(placed.bounds == std::vector<int64_t>{4096, 8192, 12288});
  CHECK(placed.peaks == placed.bounds);
}

TEST_CASE("one orientation serves samples that differ") {
  std::mt19937 random(5);
  double worst = 1;
  for (int round = 0; round < 30; ++round) {
    CAPTURE(round);
    Instance instance = makeNetwork(random, 40);
    std::vector<Instance> samples(4, instance);
    for (size_t i = 0; i < instance.size(); ++i) {
      // Some sizes grow with a symbol, some with its square.
      int64_t power = draw(random, 0, 2), value = 1;
      for (Instance &sample : samples) {
        sample[i].size *= power == 0 ? 4 : power == 1 ? value : value * value;
        value *= 4;
      }
    }
    SampledPlacement placed = placeForSamples(samples, Budget(5'000'000));
    for (size_t k = 0; k < samples.size(); ++k) {
      Placement placement = evaluateOrientation(placed.orientation, samples[k]);
      CHECK(placement.peak == placed.peaks[k]);
      CHECK_FALSE(findPlacementFault(samples[k], placement));
      CHECK(placed.bounds[k] == getLowerBound(samples[k]));
    }
    worst = std::max(worst, placed.worstRatio);
  }
  CHECK(worst < 1.2);
}
