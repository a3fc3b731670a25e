//===- TileMachineTests.cpp - AMX's tile registers, computed ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/lib/tiles/TileMachine.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

using namespace tenon;

namespace {
/// Registers 0 for sums, 1 and 2 for the factors of `rows` x `columns` sums of `depth` words of four bytes.
std::vector<uint8_t> describe(int rows, int depth, int columns) {
  std::vector<uint8_t> bytes(64);
  auto set = [&](int number, int height, int width) {
    bytes[size_t(16 + 2 * number)] = uint8_t(width);
    bytes[size_t(48 + number)] = uint8_t(height);
  };
  bytes[0] = 1;
  set(0, rows, 4 * columns);
  set(1, rows, 4 * depth);
  set(2, depth, 4 * columns);
  return bytes;
}

uint16_t narrow(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return uint16_t(bits >> 16);
}
} // namespace

TEST_CASE("sums of products of bytes, with and without signs") {
  TileMachine machine;
  REQUIRE(machine.configure(describe(1, 1, 2).data()));
  const uint8_t row[4] = {255, 1, 2, 0}, columns[8] = {255, 3, 0, 9, 1, 1, 1, 1};
  int32_t sums[2];
  struct {
    TileMachine::Signs signs;
    int32_t wanted[2];
  } cases[] = {{{false, false}, {255 * 255 + 3, 258}},
               {{false, true}, {-255 + 3, 258}},
               {{true, false}, {-255 + 3, 2}},
               {{true, true}, {1 + 3, 2}}};
  for (auto &[signs, wanted] : cases) {
    REQUIRE(machine.clear(0));
    REQUIRE(machine.load(1, row, 0));
    REQUIRE(machine.load(2, columns, 0));
    REQUIRE(machine.multiplyBytes(0, 1, 2, signs));
    REQUIRE(machine.store(0, reinterpret_cast<uint8_t *>(sums), 8));
    CHECK(sums[0] == wanted[0]);
    CHECK(sums[1] == wanted[1]);
  }
}

TEST_CASE("sums of products of bf16: rows lie as far apart as is said, and what is not normal is zero") {
  TileMachine machine;
  REQUIRE(machine.configure(describe(2, 2, 1).data()));
  // Three words a row, of which the last one is not loaded.
  const uint16_t rows[] = {narrow(1),  narrow(2),    narrow(3), narrow(4), 7, 7,
                           narrow(-1), narrow(0.5f), narrow(8), 1,         7, 7};
  const uint16_t columns[] = {narrow(10), narrow(100), narrow(1000), narrow(10000)};
  float sums[2] = {1, 2};
  REQUIRE(machine.load(0, reinterpret_cast<const uint8_t *>(sums), 4));
  REQUIRE(machine.load(1, reinterpret_cast<const uint8_t *>(rows), 12));
  REQUIRE(machine.load(2, reinterpret_cast<const uint8_t *>(columns), 4));
  REQUIRE(machine.multiplyHalves(0, 1, 2));
  REQUIRE(machine.store(0, reinterpret_cast<uint8_t *>(sums), 4));
  auto widen = [](uint16_t half) {
    uint32_t bits = uint32_t(half) << 16;
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
  };
  float thousands = widen(narrow(1000)), tens = widen(narrow(10000));
  CHECK(sums[0] == 1 + (10 + 3 * thousands) + (200 + 4 * tens));
  CHECK(sums[1] == 2 + (-10 + 8 * thousands) + 50);
}

TEST_CASE("what a processor refuses") {
  TileMachine machine;
  CHECK_FALSE(machine.clear(0)); // nothing is configured
  std::vector<uint8_t> bytes = describe(16, 16, 16);
  REQUIRE(machine.configure(bytes.data()));
  CHECK(machine.multiplyHalves(0, 1, 2));
  CHECK_FALSE(machine.multiplyHalves(0, 1, 1)); // one register twice
  CHECK_FALSE(machine.multiplyHalves(0, 1, 3)); // one without rows
  machine.release();
  CHECK_FALSE(machine.multiplyHalves(0, 1, 2));
  bytes[48] = 17; // too many rows
  CHECK_FALSE(machine.configure(bytes.data()));
  bytes = describe(16, 8, 16);
  bytes[50] = 7; // rows of the second factor that the first one does not have
  REQUIRE(machine.configure(bytes.data()));
  CHECK_FALSE(machine.multiplyHalves(0, 1, 2));
}
