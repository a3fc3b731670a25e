//===- ChainCostTests.cpp - two convolutions in one kernel, or in two ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/ChainCost.h"
#include <catch2/catch.hpp>
#include <random>

using namespace tenon;

/// Caches of 512 KB and 32 MB, vectors of 8 floats.
static Machine getMachine() {
  Machine machine;
  machine.vectorBytes = 32;
  machine.l2Bytes = 512 << 10;
  return machine;
}

/// 16 channels become 64, of which windows of 3 x 3 see every second pixel.
static ChainShape getExpansion(int64_t side) {
  double pixels = double(side) * side;
  return {1,
          side,
          side,
          64,
          side / 2,
          3,
          2,
          1,
          16,
          false,
          4,
          pixels * 64 * 16 / 16 / 0.9,
          pixels / 4 * 64 * 9 / 16 / 0.75,
          pixels * 16 * 4,
          pixels / 4 * 64 * 4,
          64 * 25 * 4};
}

TEST_CASE("lines between two convolutions are those that windows see, of the image") {
  ChainShape shape = getExpansion(112);
  CHECK(countLinesBetween(shape, 1) == 3);
  CHECK(countLinesBetween(shape, 8) == 17);
  CHECK(countLinesBetween(shape, 56) == 112);
  shape.dilation = 4;
  CHECK(countLinesBetween(shape, 1) == 9);
}

TEST_CASE("an image that the core's own cache does not hold is computed where it is read") {
  std::optional<ChainTile> tile = chooseChainTile(getExpansion(112), getMachine());
  REQUIRE(tile);
  CHECK(tile->cycles < tile->separateCycles);
  // Some lines: few would be computed twice, and of more fewer channels fit.
  CHECK(tile->lines >= 4);
  auto gains = [](const ChainShape &shape, const Machine &machine) {
    std::optional<ChainTile> tile = chooseChainTile(shape, machine);
    return tile && tile->cycles < (1 - ChainPolicy().minGain) * tile->separateCycles;
  };
  CHECK(gains(getExpansion(112), getMachine()));
  CHECK_FALSE(gains(getExpansion(28), getMachine()));
  Machine large = getMachine();
  large.l2Bytes = 64 << 20;
  CHECK_FALSE(gains(getExpansion(112), large));
}

TEST_CASE("the policy decides how many tiles a chain has") {
  std::optional<ChainTile> tile = chooseChainTile(getExpansion(112), getMachine());
  REQUIRE(tile);
  ChainPolicy policy;
  policy.minTiles = 56 / tile->lines * (64 / tile->channels) * 4;
  std::optional<ChainTile> smaller = chooseChainTile(getExpansion(112), getMachine(), policy);
  CHECK((!smaller || smaller->lines * smaller->channels < tile->lines * tile->channels));
}

TEST_CASE("tiles of a chain fit the cache, and are enough for threads") {
  std::mt19937 random(1);
  auto draw = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  int64_t numChains = 0;
  for (int i = 0; i < 300; ++i) {
    ChainShape shape = getExpansion(draw(1, 300));
    shape.images = draw(1, 4);
    shape.needsEqualTiles = draw(0, 1);
    shape.channels = 8 * draw(1, 30);
    shape.channelStep = shape.channels % 16 == 0 && draw(0, 1) ? 16 : 0;
    shape.resultLines = std::max<int64_t>(shape.resultLines, 1);
    Machine machine = getMachine();
    std::optional<ChainTile> tile = chooseChainTile(shape, machine);
    if (!tile)
      continue;
    ++numChains;
    double bytes = double(countLinesBetween(shape, tile->lines)) * shape.width * tile->channels * shape.elementBytes;
    CHECK(bytes + shape.weightBytes <= machine.l2Bytes / 2);
    CHECK(bytes <= 256 << 10);
    CHECK(shape.channels % tile->channels == 0);
    CHECK((shape.channelStep || tile->channels == shape.channels));
    CHECK((!shape.needsEqualTiles || shape.resultLines % tile->lines == 0));
    int64_t tiles =
        shape.images * ((shape.resultLines + tile->lines - 1) / tile->lines) * (shape.channels / tile->channels);
    CHECK(tiles >= 16);
  }
  CHECK(numChains > 30);
}
