//===- FixedPackingTests.cpp - matrices as numbers of fewer bits -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/FixedNumbers.h"
#include "passes/cost/PanelPacking.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

using namespace tenon;

/// A number as a kernel reads it: the word it has, or what it is made of.
static int32_t read(const FixedNumbers &format, const uint32_t *words, int64_t stride, int64_t number) {
  if (number < format.words)
    return static_cast<int32_t>(words[number * stride]);
  uint32_t value = 0;
  for (auto [word, from, count, to] : format.getBitFields(number))
    value |= (words[word * stride] >> from & ((uint32_t(1) << count) - 1)) << to;
  return static_cast<int32_t>(value);
}

TEST_CASE("numbers of a group share all bits of its words", "[layout]") {
  for (int64_t bits : {8, 10, 12, 14, 16, 18, 20, 22, 24}) {
    CAPTURE(bits);
    FixedNumbers format(bits);
    CHECK(format.group * bits == format.words * 32);
    std::vector<uint32_t> used(format.words, ~uint32_t(0) << (32 - bits));
    for (int64_t number = format.words; number < format.group; ++number) {
      uint32_t made = 0;
      for (auto [word, from, count, to] : format.getBitFields(number)) {
        uint32_t mask = (uint32_t(1) << count) - 1;
        CHECK((used[word] & mask << from) == 0);
        CHECK((made & mask << to) == 0);
        used[word] |= mask << from;
        made |= mask << to;
      }
      CHECK(made == ~uint32_t(0) << (32 - bits));
    }
    for (uint32_t word : used)
      CHECK(word == ~uint32_t(0));
  }
}

TEST_CASE("a packed number is off by half of its last bit", "[layout]") {
  std::mt19937 random(7);
  for (int64_t bits : {8, 10, 12, 14, 16, 18, 20, 22, 24}) {
    FixedNumbers format(bits);
    int64_t half = int64_t(1) << (31 - bits), most = std::numeric_limits<int32_t>::max() - 2 * half;
    std::uniform_int_distribution<int64_t> draw(-most, most);
    constexpr int64_t kColumns = 5;
    for (int round = 0; round < 200; ++round) {
      std::vector<int32_t> numbers(format.group * kColumns);
      for (int32_t &number : numbers)
        number = static_cast<int32_t>(round == 0 ? most : round == 1 ? -most : draw(random));
      std::vector<uint32_t> words(format.words * kColumns);
      format.pack(numbers.data(), kColumns, words.data());
      for (int64_t number = 0; number < format.group; ++number)
        for (int64_t column = 0; column < kColumns; ++column) {
          int64_t wanted = numbers[number * kColumns + column],
                  found = read(format, words.data() + column, kColumns, number);
          CAPTURE(bits, number, column, wanted, found);
          CHECK(std::abs(found - wanted) <= half);
        }
    }
  }
}

TEST_CASE("a matrix in panels of fewer bits is what it was, but for half of the last bit of a column's largest",
          "[layout]") {
  std::mt19937 random(7);
  std::normal_distribution<float> draw;
  for (int64_t bits : {8, 10, 12, 14, 16, 18, 20, 22, 24})
    for (bool isTransposed : {false, true})
      for (int64_t columns : {1, 31, 32, 70}) {
        FixedNumbers format(bits);
        int64_t depth = 3 * format.group;
        FixedPacking p{bits, depth, isTransposed ? 1 : columns, columns, isTransposed ? depth : 1};
        CAPTURE(bits, isTransposed, columns);
        std::vector<float> source(depth * columns);
        for (float &x : source)
          x = draw(random);
        // A column of zeros, and one of a small largest element.
        for (int64_t k = 0; k < depth; ++k) {
          source[k * p.depthStride] = 0;
          source[k * p.depthStride + (columns - 1) * p.columnStride] *= 1e-12f;
        }
        std::vector<uint32_t> words(p.getNumPanels() * p.getNumWords() * kPanelColumns);
        std::vector<float> scales(p.getNumPanels() * kPanelColumns);
        for (int64_t panel = 0; panel < p.getNumPanels(); ++panel)
          packFixedPanel(p, panel, source.data(), words.data() + panel * p.getNumWords() * kPanelColumns,
                         scales.data() + panel * kPanelColumns);
        for (int64_t n = 0; n < p.getNumPanels() * kPanelColumns; ++n) {
          float largest = 0;
          for (int64_t k = 0; k < depth && n < columns; ++k)
            largest = std::max(largest, std::abs(source[k * p.depthStride + n * p.columnStride]));
          for (int64_t k = 0; k < depth; ++k) {
            int64_t row = n / kPanelColumns * p.getNumWords() + k / format.group * format.words;
            double found = double(read(format, words.data() + row * kPanelColumns + n % kPanelColumns, kPanelColumns,
                                       k % format.group)) *
                           scales[n];
            double wanted = n < columns ? source[k * p.depthStride + n * p.columnStride] : 0;
            CAPTURE(n, k, found, wanted);
            // Half a step, and what the number itself is rounded by. The largest number is half a step below the power
            // of two.
            CHECK(std::abs(found - wanted) <=
                  largest * (std::ldexp(1.001 + std::ldexp(1.0, 1 - int(bits)), -int(bits)) + 1e-9));
          }
        }
      }
}
