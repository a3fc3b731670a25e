//===- ScheduleTests.cpp - tiles of Winograd convolutions -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/winograd/Schedule.h"
#include <catch2/catch.hpp>
#include <random>

using namespace tenon;

TEST_CASE("tiles are neither empty nor larger than the result, and fit the cache or are few squares", "[winograd]") {
  std::mt19937 random(5);
  auto draw = [&](int64_t high) { return std::uniform_int_distribution<int64_t>(1, high)(random); };
  Machine machine;
  for (int i = 0; i < 300; ++i) {
    WinogradProblem p{2 * draw(3), 3, draw(130), draw(130), draw(512), draw(512), 32};
    WinogradSchedule s = chooseWinogradSchedule(p, machine);
    CAPTURE(p.outputs, p.height, p.width, p.channels, p.filters);
    CHECK((s.rows >= 1 && (s.rows - 1) * p.outputs < p.height));
    CHECK((s.columns >= 1 && (s.columns - 1) * p.outputs < p.width));
    CHECK((s.panels >= 1 && (s.panels - 1) * p.panel < p.filters));
    CHECK(s.cycles > 0);
    int64_t side = p.outputs + 2;
    if (s.rows * s.columns > 16)
      CHECK(side * side * s.rows * s.columns * (p.channels + p.panel) * 4 <= machine.l2Bytes / 2);
  }
}

TEST_CASE("weights of many channels are read for some squares rather than again for each", "[winograd]") {
  Machine machine;
  machine.vectorBytes = 32;
  machine.vectorRegisters = 16;
  machine.l2Bytes = 512 << 10;
  WinogradSchedule s = chooseWinogradSchedule({2, 3, 7, 7, 512, 512, 32}, machine);
  CHECK(s.rows * s.columns == 16);
}

TEST_CASE("the policy bounds the squares of a tile", "[winograd]") {
  WinogradPolicy policy;
  policy.maxSquares = policy.maxSquaresBeyondL2 = 4;
  WinogradSchedule s = chooseWinogradSchedule({4, 3, 56, 56, 64, 64, 32}, Machine(), policy);
  CHECK(s.rows * s.columns <= 4);
  WinogradSchedule larger = chooseWinogradSchedule({4, 3, 56, 56, 64, 64, 32}, Machine());
  CHECK(larger.rows * larger.columns > 4);
}

TEST_CASE("a small result is cut along its filters, a large one along its rows", "[winograd]") {
  Machine machine;
  CHECK(chooseWinogradSchedule({4, 3, 14, 14, 256, 256, 32}, machine).panels < 8);
  CHECK(chooseWinogradSchedule({4, 3, 112, 112, 64, 64, 32}, machine).panels == 2);
}

TEST_CASE("no other tile that the policy allows is estimated to take less", "[winograd]") {
  Machine machine;
  WinogradProblem p{4, 3, 56, 56, 64, 64, 32};
  WinogradSchedule best = chooseWinogradSchedule(p, machine);
  CHECK(estimateWinogradTile(p, best, machine) == best.cycles);
  for (const WinogradTile &other : {WinogradTile{1, 1, 1}, {1, 14, 2}, {2, 14, 1}, {4, 14, 2}, {7, 7, 2}})
    CHECK(estimateWinogradTile(p, other, machine) >= best.cycles);
}

TEST_CASE("words take less time than floats, and more where their products are two instructions", "[winograd]") {
  Machine machine;
  auto getCycles = [&](WinogradFactors factors, Int8Dot products) {
    machine.int8Dot = products;
    return chooseWinogradSchedule({4, 3, 56, 56, 256, 256, 32, factors}, machine).cycles;
  };
  double vnni = getCycles(WinogradFactors::i16, Int8Dot::vnni);
  double pairs = getCycles(WinogradFactors::i16, Int8Dot::pmaddWd);
  CHECK(vnni < pairs);
  CHECK(pairs < 0.75 * getCycles(WinogradFactors::f32, Int8Dot::pmaddWd));
}

TEST_CASE("AMX tiles shorten products, and no transforms, and are filled", "[winograd]") {
  Machine machine;
  machine.amxBf16 = 1;
  CHECK(getWinogradPanel(WinogradFactors::bf16, machine) == 16);
  CHECK(getWinogradPanel(WinogradFactors::f32, machine) == machine.panelColumns);
  auto choose = [&](int64_t size, int64_t channels, WinogradFactors factors) {
    return chooseWinogradSchedule(
        {2, 3, size, size, channels, 256, getWinogradPanel(factors, machine), factors, /*images=*/8}, machine);
  };
  auto getShare = [&](int64_t channels) {
    return choose(56, channels, WinogradFactors::bf16).cycles / choose(56, channels, WinogradFactors::f32).cycles;
  };
  CHECK(getShare(512) < 0.5);
  CHECK(getShare(1) > 0.8);
  // A block of AMX tiles has 32 squares by 32 filters; with fewer, products wait for one another.
  for (int64_t channels : {64, 256, 512}) {
    WinogradSchedule s = choose(56, channels, WinogradFactors::bf16);
    CAPTURE(channels, s.rows, s.columns, s.panels);
    CHECK(s.rows * s.columns > 16);
    CHECK(s.panels % 2 == 0);
  }
  // Rows of an AMX tile that are no squares take as long as those that are.
  WinogradProblem p{2, 3, 56, 56, 256, 256, 16, WinogradFactors::bf16, 8};
  CHECK(estimateWinogradTile(p, {2, 16, 2}, machine) / 32 < estimateWinogradTile(p, {2, 9, 2}, machine) / 18);
}

TEST_CASE("pairs of bf16 save time where there are many products, and no transforms", "[winograd]") {
  Machine machine;
  machine.vectorBytes = 64;
  machine.multiplyAdds = 1;
  auto getShare = [&](int64_t channels) {
    auto getCycles = [&](WinogradFactors factors) {
      return chooseWinogradSchedule({2, 3, 28, 28, channels, 256, 32, factors}, machine).cycles;
    };
    return getCycles(WinogradFactors::bf16) / getCycles(WinogradFactors::f32);
  };
  CHECK(getShare(512) < 0.65);
  CHECK(getShare(512) > 0.5);
  CHECK(getShare(1) > 0.95);
  CHECK(getShare(1) <= 1);
}
