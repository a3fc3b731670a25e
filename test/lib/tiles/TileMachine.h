//===- TileMachine.h - AMX's tile registers, computed ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the instructions do that Tenon's kernels use, as the Intel 64 and IA-32 Architectures Software
// Developer's Manual, volume 2, defines it. Where a processor would raise a fault, because a register is not
// configured or too large, these functions say so.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TEST_LIB_TILES_TILEMACHINE_H
#define TENON_TEST_LIB_TILES_TILEMACHINE_H

#include <cstdint>

namespace tenon {

/// The tile registers of one thread.
class TileMachine {
public:
  static constexpr int kRegisters = 8, kRows = 16, kRowBytes = 64;

  /// Of bytes in products: which factor has signs.
  struct Signs {
    bool first, second;
  };

  /// Takes the 64 bytes of a configuration; all registers are zero then.
  bool configure(const uint8_t *bytes);
  void release();
  bool clear(int number);
  /// Rows lie `stride` bytes apart.
  bool load(int number, const uint8_t *memory, int64_t stride);
  bool store(int number, uint8_t *memory, int64_t stride) const;
  /// sums[m][n] += first[m][2 k + i] * second[k][2 n + i], of bf16.
  bool multiplyHalves(int sums, int first, int second);
  /// sums[m][n] += first[m][4 k + i] * second[k][4 n + i], of bytes.
  bool multiplyBytes(int sums, int first, int second, Signs signs);

private:
  struct Register {
    int rows, rowBytes;
    alignas(4) uint8_t data[kRows][kRowBytes];
  };
  bool isConfigured(int number) const;
  bool canMultiply(int sums, int first, int second) const;

  Register registers[kRegisters] = {};
};

} // namespace tenon

#endif // TENON_TEST_LIB_TILES_TILEMACHINE_H
