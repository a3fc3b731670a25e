//===- FixedNumbers.cpp - numbers of some bits that share words ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/FixedNumbers.h"
#include <algorithm>
#include <cassert>
#include <numeric>

using namespace tenon;

static constexpr int64_t kWord = 32; // format: bits of an i32

FixedNumbers::FixedNumbers(int64_t bits)
    : bits(bits), group(kWord / std::gcd(bits, kWord)), words(bits / std::gcd(bits, kWord)) {
  assert(bits > 0 && bits < kWord && "numbers have fewer bits than the words that hold them");
}

std::vector<FixedNumbers::BitField> FixedNumbers::getBitFields(int64_t number) const {
  assert(number >= words && number < group && "only the last numbers of a group are spread over its words");
  int64_t spare = kWord - bits, next = (number - words) * bits, end = next + bits;
  std::vector<BitField> fields;
  // The unused bits are numbered from the highest one of the first word.
  for (int64_t to = kWord; next < end;) {
    int64_t place = next % spare, count = std::min(spare - place, end - next);
    to -= count;
    fields.push_back({next / spare, spare - place - count, count, to});
    next += count;
  }
  return fields;
}

/// Returns a number minus the value of its lower bits, rounded to a multiple of 2^lower.
static uint32_t roundUpper(int32_t number, int32_t below, int64_t lower) {
  assert(lower > 0 && lower < kWord && "some bits are dropped, and some stay");
  int64_t rounded = (int64_t(number) - below + (int64_t(1) << (lower - 1))) >> lower;
  int64_t largest = (int64_t(1) << (kWord - 1 - lower)) - 1;
  return static_cast<uint32_t>(std::clamp(rounded, -largest - 1, largest)) << lower;
}

void FixedNumbers::pack(const int32_t *numbers, int64_t columns, uint32_t *target) const {
  assert(columns >= 0 && "a row has a number of columns");
  int64_t spare = kWord - bits;
  std::fill(target, target + words * columns, 0);
  for (int64_t number = words; number < group; ++number)
    for (auto [word, from, count, to] : getBitFields(number)) {
      const int32_t *row = numbers + number * columns;
      uint32_t *shared = target + word * columns, mask = (uint32_t(1) << count) - 1;
      for (int64_t column = 0; column < columns; ++column)
        shared[column] |= (roundUpper(row[column], 0, spare) >> to & mask) << from;
    }
  // The bits of other numbers in a word are part of the number that is read from it, so they must be compensated.
  for (int64_t i = 0; i < words * columns; ++i)
    target[i] |= roundUpper(numbers[i], static_cast<int32_t>(target[i]), spare);
}
