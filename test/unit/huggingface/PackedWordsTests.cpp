//===- PackedWordsTests.cpp - numbers of few bits, several in a word ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/PackedWords.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>
#include <vector>

using namespace tenon::huggingface;

namespace {

/// Puts numbers where the layout says, bit by bit.
std::vector<char> pack(const std::vector<int> &numbers, const PackedWords &layout) {
  std::vector<char> bytes(numbers.size() * layout.bits / 8);
  int64_t perWord = layout.perWord(), wordsOfRow = layout.areRows ? layout.columns : layout.columns / perWord;
  for (int64_t row = 0; row < layout.rows; ++row)
    for (int64_t column = 0; column < layout.columns; ++column) {
      int64_t inWord = (layout.areRows ? row : column) % perWord;
      int64_t word = layout.areRows ? row / perWord * wordsOfRow + column : row * wordsOfRow + column / perWord;
      int64_t place = layout.places.empty() ? inWord : layout.places[inWord];
      for (int64_t bit = 0; bit < layout.bits; ++bit) {
        int64_t at = word * 32 + place * layout.bits + bit;
        bytes[at / 8] |= static_cast<char>((numbers[row * layout.columns + column] >> bit & 1) << (at % 8));
      }
    }
  return bytes;
}

} // namespace

TEST_CASE("words give back the numbers that were put in them") {
  std::mt19937 random(7);
  static constexpr uint8_t kPlaces[] = {0, 4, 1, 5, 2, 6, 3, 7};
  for (int round = 0; round < 200; ++round) {
    PackedWords layout;
    layout.bits = random() % 2 ? 4 : 8;
    layout.areRows = random() % 2;
    if (layout.bits == 4 && random() % 2)
      layout.places = kPlaces;
    int64_t packed = layout.perWord() * int64_t(random() % 20), other = random() % 131;
    layout.rows = layout.areRows ? packed : other;
    layout.columns = layout.areRows ? other : packed;
    std::vector<int> numbers(layout.rows * layout.columns);
    for (int &number : numbers)
      number = int(random() % (1u << layout.bits));
    std::vector<int64_t> order;
    if (random() % 2) {
      order.resize(layout.rows);
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random);
    }
    bool transposes = random() % 2;
    llvm::SmallVector<char> found = unpackWords(pack(numbers, layout), layout, transposes, order);
    REQUIRE(found.size() == numbers.size());
    for (int64_t row = 0; row < layout.rows; ++row)
      for (int64_t column = 0; column < layout.columns; ++column) {
        char number = found[transposes ? column * layout.rows + row : row * layout.columns + column];
        REQUIRE(uint8_t(number) == numbers[(order.empty() ? row : order[row]) * layout.columns + column]);
      }
  }
}
