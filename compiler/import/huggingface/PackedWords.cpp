//===- PackedWords.cpp - numbers of few bits, several in a word -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/PackedWords.h"
#include "llvm/Support/Endian.h"
#include <algorithm>
#include <cassert>

using namespace tenon;
using namespace tenon::huggingface;

llvm::SmallVector<char> huggingface::unpackWords(llvm::ArrayRef<char> words, const PackedWords &l, bool transposes,
                                                 llvm::ArrayRef<int64_t> order) {
  int64_t perWord = l.perWord(), wordColumns = l.areRows ? l.columns : l.columns / perWord;
  assert(static_cast<int64_t>(words.size()) * 8 == l.rows * l.columns * l.bits && "words cover the matrix");
  assert((order.empty() || static_cast<int64_t>(order.size()) == l.rows) && "each row has a place");
  uint32_t mask = (uint32_t(1) << l.bits) - 1;
  auto readNumber = [&](int64_t row, int64_t column) {
    int64_t inWord = (l.areRows ? row : column) % perWord;
    int64_t place = l.places.empty() ? inWord : l.places[inWord];
    int64_t word = l.areRows ? row / perWord * wordColumns + column : row * wordColumns + column / perWord;
    return static_cast<char>(llvm::support::endian::read32le(words.data() + 4 * word) >> (place * l.bits) & mask);
  };
  llvm::SmallVector<char> numbers;
  numbers.resize_for_overwrite(l.rows * l.columns);
  // The transposition is tiled, so that both sides stay in cache.
  constexpr int64_t kSide = 64; // policy: bytes of a cache line
  for (int64_t top = 0; top < l.rows; top += kSide)
    for (int64_t left = 0; left < l.columns; left += kSide)
      for (int64_t i = top; i < std::min(top + kSide, l.rows); ++i)
        for (int64_t j = left; j < std::min(left + kSide, l.columns); ++j)
          numbers[transposes ? j * l.rows + i : i * l.columns + j] = readNumber(order.empty() ? i : order[i], j);
  return numbers;
}
