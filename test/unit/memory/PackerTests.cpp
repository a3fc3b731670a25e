//===- PackerTests.cpp - places for buffers in one arena ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/Packer.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

using namespace tenon;

static constexpr int64_t kAlignment = 64;

static int64_t align(int64_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

/// Whether two buffers need different bytes, told from the definition alone.
static bool conflict(const PackerBuffer &a, const PackerBuffer &b) {
  return a.size > 0 && b.size > 0 && a.lower < b.upper && b.lower < a.upper;
}

/// Places for `count` buffers, with sizes and times as networks have them: few distinct sizes, some of 0,
/// short lives with a few long ones among them.
static std::vector<PackerBuffer> makeBuffers(std::mt19937 &random, size_t count) {
  auto draw = [&](int64_t from, int64_t to) {
    return std::uniform_int_distribution<int64_t>(from, to)(random);
  };
  std::vector<PackerBuffer> buffers;
  for (size_t i = 0; i < count; ++i) {
    int64_t lower = draw(0, static_cast<int64_t>(count));
    int64_t length = draw(0, 9) == 0 ? draw(1, static_cast<int64_t>(count)) : draw(1, 4);
    int64_t size = draw(0, 7) == 0 ? 0 : draw(0, 1) ? draw(1, 8) * 4096 : draw(1, 100000);
    buffers.push_back({lower, lower + length, size});
  }
  return buffers;
}

static void checkPacking(const std::vector<PackerBuffer> &buffers) {
  Packing packing = packBuffers(buffers, kAlignment);
  REQUIRE(packing.offsets.size() == buffers.size());
  REQUIRE(packing.peak >= getPackingLowerBound(buffers, kAlignment));
  int64_t total = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    total += align(buffers[i].size);
    REQUIRE(packing.offsets[i] >= 0);
    REQUIRE(packing.offsets[i] % kAlignment == 0);
    REQUIRE(packing.offsets[i] + buffers[i].size <= packing.peak);
    for (size_t j = 0; j < i; ++j)
      if (conflict(buffers[i], buffers[j]))
        REQUIRE((packing.offsets[i] + buffers[i].size <= packing.offsets[j] ||
                 packing.offsets[j] + buffers[j].size <= packing.offsets[i]));
  }
  REQUIRE(packing.peak <= total);
  REQUIRE_FALSE(findPackingFault(buffers, packing, kAlignment));
}

TEST_CASE("nothing needs no arena") {
  Packing packing = packBuffers({}, kAlignment);
  CHECK(packing.offsets.empty());
  CHECK(packing.peak == 0);
  CHECK(getPackingLowerBound({}, kAlignment) == 0);
}

TEST_CASE("one buffer lies at the start") {
  Packing packing = packBuffers({{3, 5, 100}}, kAlignment);
  CHECK(packing.offsets == std::vector<int64_t>{0});
  CHECK(packing.peak >= 100);
  CHECK(packing.peak <= 128);
}

TEST_CASE("a buffer of no bytes takes no place") {
  std::vector<PackerBuffer> buffers{{0, 4, 0}, {0, 4, 64}, {1, 2, 0}};
  CHECK(packBuffers(buffers, kAlignment).peak == 64);
  CHECK(getPackingLowerBound(buffers, kAlignment) == 64);
  checkPacking(buffers);
}

TEST_CASE("buffers that meet at an instant share memory, as one ends where the other begins") {
  std::vector<PackerBuffer> buffers{{0, 2, 256}, {2, 4, 256}};
  CHECK(packBuffers(buffers, kAlignment).peak == 256);
}

TEST_CASE("buffers of equal times lie side by side") {
  std::vector<PackerBuffer> buffers(5, PackerBuffer{0, 1, 65});
  CHECK(getPackingLowerBound(buffers, kAlignment) == 5 * 128);
  checkPacking(buffers);
}

TEST_CASE("a chain of layers needs two buffers") {
  std::vector<PackerBuffer> buffers;
  for (int64_t i = 0; i < 20; ++i)
    buffers.push_back({i, i + 2, 1024});
  CHECK(packBuffers(buffers, kAlignment).peak == 2048);
}

TEST_CASE("random instances are packed without overlap, and no smaller than the lower bound") {
  std::mt19937 random(20240613);
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    checkPacking(makeBuffers(random, 1 + round % 60));
  }
}

TEST_CASE("the same buffers get the same places") {
  std::mt19937 random(7);
  std::vector<PackerBuffer> buffers = makeBuffers(random, 80);
  CHECK(packBuffers(buffers, kAlignment).offsets == packBuffers(buffers, kAlignment).offsets);
}

TEST_CASE("the validator finds planted faults") {
  std::mt19937 random(11);
  for (int round = 0; round < 100; ++round) {
    CAPTURE(round);
    std::vector<PackerBuffer> buffers = makeBuffers(random, 2 + round % 30);
    const Packing right = packBuffers(buffers, kAlignment);
    for (size_t i = 0; i < buffers.size(); ++i) {
      if (buffers[i].size == 0)
        continue;
      Packing wrong = right;
      wrong.offsets[i] += 1;
      CHECK(findPackingFault(buffers, wrong, kAlignment));
      wrong.offsets[i] = align(right.peak);
      CHECK(findPackingFault(buffers, wrong, kAlignment));
      wrong.offsets[i] = -kAlignment;
      CHECK(findPackingFault(buffers, wrong, kAlignment));
      for (size_t j = 0; j < buffers.size(); ++j)
        if (i != j && conflict(buffers[i], buffers[j])) {
          wrong.offsets[i] = right.offsets[j];
          CHECK(findPackingFault(buffers, wrong, kAlignment));
          break;
        }
    }
  }
}
