//===- FixedOffsetGroupTests.cpp - places for buffers at fixed distances ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/placement/FixedOffsetGroups.h"
#include "passes/memory/placement/PlaceForSamples.h"
#include "passes/memory/placement/Validate.h"
#include "test/unit/memory/Instances.h"
#include <catch2/catch.hpp>

using namespace tenon::placement;

/// Cuts some buffers of a network into two live ranges: by bytes, or by time with a gap between.
static std::vector<FixedOffsetGroup> cutSome(std::mt19937 &random, Instance &instance) {
  std::vector<FixedOffsetGroup> groups;
  size_t count = instance.size();
  for (uint32_t i = 0; i < count; ++i) {
    Buffer whole = instance[i];
    if (draw(random, 0, 3) || whole.size < 16 || whole.upper - whole.lower < 3)
      continue;
    Buffer first = whole, second = whole;
    int64_t begin = 0;
    if (draw(random, 0, 1)) {
      first.size = begin = whole.size / 16 * 8;
      second.size = whole.size - begin;
      first.upper = draw(random, whole.lower + 1, whole.upper);
      second.lower = draw(random, whole.lower, whole.upper - 1);
    } else {
      first.upper = draw(random, whole.lower + 1, whole.upper - 1);
      second.lower = draw(random, first.upper, whole.upper - 1);
    }
    instance[i] = first;
    groups.push_back({{i, static_cast<uint32_t>(instance.size())}, {0, begin}, 8});
    instance.push_back(second);
  }
  return groups;
}

TEST_CASE("members of a group keep their distances, and nothing collides") {
  std::mt19937 random(11);
  for (int round = 0; round < 100; ++round) {
    CAPTURE(round);
    Instance instance = makeNetwork(random, 2 + round);
    std::vector<FixedOffsetGroup> groups = cutSome(random, instance);
    Placement placement = placeGroups(instance, groups, Budget(1'000'000));
    CHECK_FALSE(findPlacementFault(instance, placement));
    for (const FixedOffsetGroup &group : groups) {
      int64_t offset = placement.offsets[group.members[0]];
      CHECK(offset % group.alignment == 0);
      CHECK(placement.offsets[group.members[1]] == offset + group.distances[1]);
    }
  }
}

TEST_CASE("another buffer lies where a member of a group holds nothing") {
  // Two halves, of which the second is in use later; beside the first one there is room for something larger
  // than a half.
  Instance instance{{0, 8, 64}, {6, 8, 64}, {2, 4, 200}, {6, 7, 136}};
  Placement placement = placeGroups(instance, {{{0, 1}, {0, 64}, 64}}, Budget(1'000'000));
  CHECK_FALSE(findPlacementFault(instance, placement));
  CHECK(placement.peak == 264);
  CHECK(getLowerBound(instance) == 264);
}

TEST_CASE("an orientation of buffers that are idle between holds for any sizes") {
  std::mt19937 random(12);
  for (int round = 0; round < 40; ++round) {
    CAPTURE(round);
    Instance instance = makeNetwork(random, 4 + round);
    std::vector<LiveRange> liveRanges;
    for (uint32_t i = 0; i < instance.size(); ++i) {
      auto [lower, upper, size, alignment] = instance[i];
      int64_t from = lower + (upper - lower) / 3, to = upper - (upper - lower) / 3;
      if (from > lower && to > from && draw(random, 0, 1)) {
        liveRanges.push_back({i, lower, from});
        liveRanges.push_back({i, to, upper});
      } else {
        liveRanges.push_back({i, lower, upper});
      }
    }
    SampledPlacement placed = placeForSamples({instance}, Budget(1'000'000), liveRanges);
    for (int k = 0; k < 200; ++k) {
      Instance sized = instance, split;
      for (Buffer &buffer : sized)
        buffer.size = draw(random, 0, 4) ? draw(random, 0, 1000) : 0;
      Placement placement = evaluateOrientation(placed.orientation, sized), splitPlacement{{}, placement.peak};
      for (const LiveRange &range : liveRanges) {
        split.push_back({range.lower, range.upper, sized[range.buffer].size});
        splitPlacement.offsets.push_back(placement.offsets[range.buffer]);
      }
      REQUIRE_FALSE(findPlacementFault(split, splitPlacement));
    }
  }
}

TEST_CASE("a buffer that is idle while another is in use shares its bytes, whatever the sizes") {
  // The result of two branches, and something large in the second one.
  std::vector<Instance> samples;
  for (int64_t n : {1, 10, 100})
    samples.push_back({{1, 9, 8 * n}, {0, 2, 100}, {4, 6, 50 * n}});
  std::vector<LiveRange> liveRanges{{0, 1, 3}, {0, 7, 9}, {1, 0, 2}, {2, 4, 6}};
  SampledPlacement placed = placeForSamples(samples, Budget(1'000'000), liveRanges);
  CHECK(placed.worstRatio == 1);
  CHECK(placed.peaks.back() < placeForSamples(samples, Budget(1'000'000)).peaks.back());
}

/// A few buffers of odd sizes and of small alignments, some of which are idle for a time: what a loop over steps of a
/// small network has.
static std::vector<LiveRange> makeSmallLoop(std::mt19937 &random, std::vector<Instance> &samples) {
  std::vector<LiveRange> liveRanges;
  constexpr int64_t kTimes = 16;
  for (uint32_t i = 0; i < 14; ++i) {
    int64_t alignment = int64_t(1) << draw(random, 0, 3), size = draw(random, 1, 5) * alignment;
    bool isOpen = draw(random, 0, 3) == 0, isState = draw(random, 0, 3) == 0;
    int64_t lower = draw(random, 0, kTimes - 2), upper = draw(random, lower + 1, kTimes);
    for (size_t k = 0; k < samples.size(); ++k)
      samples[k].push_back({isState ? 0 : lower, isState ? kTimes : upper, isOpen ? size * int64_t(3 * k + 1) : size,
                            isOpen ? 1 : alignment});
    if (!isState)
      liveRanges.push_back({i, lower, upper});
    else if (lower > 0)
      liveRanges.insert(liveRanges.end(), {{i, 0, lower}, {i, upper, kTimes}});
    else
      liveRanges.push_back({i, 0, kTimes});
  }
  return liveRanges;
}

TEST_CASE("most small loops need no more than what is live at one time, with gaps and alignments") {
  std::mt19937 random(13);
  int tight = 0, tightAtOneSize = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<Instance> samples(4);
    std::vector<LiveRange> liveRanges = makeSmallLoop(random, samples);
    tight += placeForSamples(samples, Budget(2'000'000), liveRanges).worstRatio == 1;
    tightAtOneSize += placeForSamples({samples[1]}, Budget(2'000'000), liveRanges).worstRatio == 1;
  }
  CHECK(tight >= 30);
  CHECK(tightAtOneSize >= 43);
}
