//===- FixedNumbers.h - numbers of some bits that share words --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integers of `bits` bits, of which a group fills whole words of 32. Most numbers of a group have a word each, and its
// upper bits: they are read without a shift or a mask, as the lower bits, which belong to others, are below what the
// number is exact to. The others are put together from lower bits. With 24 bits three words hold four numbers, with 20
// five hold eight:
//
//   word 0 | number 0, 20 bits | number 5, upper 12     |
//   word 1 | number 1          | 5, lower 8 | 6, upper 4 |
//   word 2 | number 2          | 6, middle 12            |
//   word 3 | number 3          | 6, lower 4 | 7, upper 8 |
//   word 4 | number 4          | 7, lower 12             |
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TENON_FIXEDNUMBERS_H
#define TENON_DIALECTS_TENON_FIXEDNUMBERS_H

#include <cstdint>
#include <vector>

namespace tenon {

struct FixedNumbers {
  /// `bits` are known ones.
  explicit FixedNumbers(int64_t bits);

  int64_t bits;
  int64_t group; ///< numbers that share words
  int64_t words; ///< of a group

  /// Some of the lower bits of a word that belong to a number, and their position in the 32-bit integer.
  struct BitField {
    int64_t word, from, count, to;
  };
  /// Returns the bit fields of a number that has no word of its own.
  std::vector<BitField> getBitFields(int64_t number) const;

  /// Packs a group of 32-bit integers for each of `columns` columns, [group, columns], into [words, columns], such that
  /// the unpacked values have the smallest errors.
  void pack(const int32_t *numbers, int64_t columns, uint32_t *target) const;

  static bool isKnown(int64_t bits) { return bits >= 8 && bits <= 24 && bits % 2 == 0; }
};

} // namespace tenon

#endif // TENON_DIALECTS_TENON_FIXEDNUMBERS_H
