//===- TileMachine.cpp - AMX's tile registers, computed --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/lib/tiles/TileMachine.h"

#include <cstring>

using namespace tenon;

template <typename T> static T read(const uint8_t *memory) {
  T value;
  memcpy(&value, memory, sizeof(T));
  return value;
}

template <typename T> static void write(uint8_t *memory, T value) { memcpy(memory, &value, sizeof(T)); }

bool TileMachine::configure(const uint8_t *bytes) {
  constexpr int kFirstWidth = 16, kFirstHeight = 48;
  if (bytes[0] != 1)
    return false;
  for (int i = 0; i < kRegisters; ++i) {
    int width = read<uint16_t>(bytes + kFirstWidth + 2 * i), height = bytes[kFirstHeight + i];
    if (width > kRowBytes || height > kRows || (width == 0) != (height == 0))
      return false;
    registers[i] = {height, width, {}};
  }
  return true;
}

void TileMachine::release() {
  for (Register &tile : registers)
    tile = {};
}

bool TileMachine::isConfigured(int number) const { return registers[number].rows > 0; }

bool TileMachine::clear(int number) {
  memset(registers[number].data, 0, sizeof(registers[number].data));
  return isConfigured(number);
}

bool TileMachine::load(int number, const uint8_t *memory, int64_t stride) {
  Register &tile = registers[number];
  bool fits = clear(number);
  for (int row = 0; row < tile.rows; ++row)
    memcpy(tile.data[row], memory + row * stride, tile.rowBytes);
  return fits;
}

bool TileMachine::store(int number, uint8_t *memory, int64_t stride) const {
  const Register &tile = registers[number];
  for (int row = 0; row < tile.rows; ++row)
    memcpy(memory + row * stride, tile.data[row], tile.rowBytes);
  return isConfigured(number);
}

bool TileMachine::canMultiply(int sums, int first, int second) const {
  const Register &c = registers[sums], &a = registers[first], &b = registers[second];
  bool areConfigured = isConfigured(sums) && isConfigured(first) && isConfigured(second);
  bool areApart = sums != first && sums != second && first != second;
  return areConfigured && areApart && a.rows == c.rows && a.rowBytes == 4 * b.rows && b.rowBytes == c.rowBytes &&
         a.rowBytes % 4 == 0 && b.rowBytes % 4 == 0;
}

/// Numbers that are not normal count as zero.
static float widen(uint16_t half) {
  constexpr uint16_t kExponent = 0x7f80, kSign = 0x8000;
  uint32_t bits = uint32_t(half & kExponent ? half : half & kSign) << 16;
  return read<float>(reinterpret_cast<const uint8_t *>(&bits));
}

bool TileMachine::multiplyHalves(int sums, int first, int second) {
  constexpr int kColumns = kRowBytes / 4;
  if (!canMultiply(sums, first, second))
    return false;
  Register &c = registers[sums], &a = registers[first], &b = registers[second];
  float columns[kRows][2][kColumns];
  for (int k = 0; k < b.rows; ++k)
    for (int n = 0; n < kColumns; ++n)
      for (int i = 0; i < 2; ++i)
        columns[k][i][n] = widen(read<uint16_t>(b.data[k] + 4 * n + 2 * i));
  for (int m = 0; m < c.rows; ++m) {
    // f32 has all bits of a product of two bf16, so that each of these is rounded once, as the manual has it.
    float added[2][kColumns] = {};
    for (int k = 0; k < b.rows; ++k)
      for (int i = 0; i < 2; ++i) {
        float factor = widen(read<uint16_t>(a.data[m] + 4 * k + 2 * i));
        for (int n = 0; n < kColumns; ++n)
          added[i][n] += factor * columns[k][i][n];
      }
    for (int n = 0; n < c.rowBytes / 4; ++n)
      write(c.data[m] + 4 * n, read<float>(c.data[m] + 4 * n) + (added[0][n] + added[1][n]));
  }
  return true;
}

bool TileMachine::multiplyBytes(int sums, int first, int second, Signs signs) {
  if (!canMultiply(sums, first, second))
    return false;
  auto widenByte = [](uint8_t byte, bool hasSign) { return hasSign ? int32_t(int8_t(byte)) : int32_t(byte); };
  Register &c = registers[sums], &a = registers[first], &b = registers[second];
  for (int m = 0; m < c.rows; ++m)
    for (int n = 0; n < c.rowBytes / 4; ++n) {
      uint32_t sum = read<uint32_t>(c.data[m] + 4 * n);
      for (int k = 0; k < b.rows; ++k)
        for (int i = 0; i < 4; ++i)
          sum += widenByte(a.data[m][4 * k + i], signs.first) * widenByte(b.data[k][4 * n + i], signs.second);
      write(c.data[m] + 4 * n, sum);
    }
  return true;
}
