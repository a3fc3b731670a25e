//===- PanelPackingTests.cpp - weights in panels ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/PanelPacking.h"
#include <catch2/catch.hpp>
#include <random>
#include <vector>

using namespace tenon;

template <typename T> static void checkPacking(PanelPacking p) {
  p.elementBytes = sizeof(T);
  std::vector<T> source(p.outer * p.extent * p.inner);
  for (size_t i = 0; i < source.size(); ++i)
    source[i] = T(i + 1);
  std::vector<T> target(p.getPackedBytes() / sizeof(T));
  packPanels(p, reinterpret_cast<const char *>(source.data()), reinterpret_cast<char *>(target.data()));
  // Element [outer, n, inner] is [n / panel, outer, inner, n mod panel].
  std::vector<T> wanted(target.size());
  for (int64_t outer = 0; outer < p.outer; ++outer)
    for (int64_t n = 0; n < p.extent; ++n)
      for (int64_t inner = 0; inner < p.inner; ++inner)
        wanted[((n / p.panel * p.outer + outer) * p.inner + inner) * p.panel + n % p.panel] =
            source[(outer * p.extent + n) * p.inner + inner];
  CHECK(target == wanted);
}

TEST_CASE("every element has its place in a panel, and zeros follow the last one", "[layout]") {
  std::mt19937 random(7);
  auto draw = [&](int64_t high) { return std::uniform_int_distribution<int64_t>(1, high)(random); };
  for (int i = 0; i < 200; ++i) {
    PanelPacking packing{draw(5), draw(100), draw(150), draw(2) * 16, 0};
    CAPTURE(packing.outer, packing.extent, packing.inner, packing.panel);
    checkPacking<uint8_t>(packing);
    checkPacking<uint16_t>(packing);
    checkPacking<uint32_t>(packing);
    checkPacking<uint64_t>(packing);
  }
}

TEST_CASE("every element has its place in a group of four, and all others are zero", "[layout]") {
  std::mt19937 random(7);
  auto draw = [&](int64_t high) { return std::uniform_int_distribution<int64_t>(1, high)(random); };
  for (int i = 0; i < 200; ++i) {
    // [outer, depth, columns], or [columns, outer, depth].
    int64_t outer = draw(4), depth = draw(13), columns = draw(70);
    bool isLast = draw(2) == 1;
    K4Packing p = isLast ? K4Packing{outer, depth * columns, depth, columns, columns, 1}
                         : K4Packing{outer, depth, depth, 1, columns, outer * depth};
    CAPTURE(outer, depth, columns, isLast);
    std::vector<char> source(outer * depth * columns), target(p.getPackedBytes()), wanted(target.size());
    for (size_t byte = 0; byte < source.size(); ++byte)
      source[byte] = char(byte + 1);
    packK4(p, source.data(), target.data());
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t k = 0; k < depth; ++k)
        for (int64_t n = 0; n < columns; ++n)
          wanted[(((n / 32 * outer + o) * p.getNumK4Groups() + k / 4) * 32 + n % 32) * 4 + k % 4] =
              source[isLast ? (o * depth + k) * columns + n : (n * outer + o) * depth + k];
    CHECK(target == wanted);
  }
}

TEST_CASE("byte b of a word has integer b, and of four bits integer b + 4 in its upper half", "[layout]") {
  for (int64_t bits : {4, 8})
    for (auto [outer, extent, inner] : {std::tuple(1, 8, 1), std::tuple(2, 11, 3), std::tuple(3, 1, 2)}) {
      CAPTURE(bits, outer, extent, inner);
      IntegerPacking p{outer, extent, inner, bits};
      int64_t perWord = 32 / bits, words = (extent + perWord - 1) / perWord;
      CHECK(p.getNumWords() == words);
      std::vector<char> source(outer * extent * inner);
      std::vector<uint32_t> target(outer * words * inner), wanted(target.size());
      for (size_t byte = 0; byte < source.size(); ++byte)
        source[byte] = char(byte * 37 % (1 << bits));
      packIntegers(p, source.data(), target.data());
      for (int64_t o = 0; o < outer; ++o)
        for (int64_t k = 0; k < extent; ++k)
          for (int64_t i = 0; i < inner; ++i) {
            auto *bytes = reinterpret_cast<unsigned char *>(&wanted[(o * words + k / perWord) * inner + i]);
            int64_t place = k % perWord;
            bytes[place % 4] += static_cast<unsigned char>(source[(o * extent + k) * inner + i]) << (place < 4 ? 0 : 4);
          }
      CHECK(target == wanted);
    }
}

TEST_CASE("half h of a word has integer h of 16 bits", "[layout]") {
  for (auto [outer, extent, inner] : {std::tuple(1, 8, 1), std::tuple(2, 11, 3), std::tuple(3, 1, 2)}) {
    CAPTURE(outer, extent, inner);
    IntegerPacking p{outer, extent, inner, 16};
    std::vector<int16_t> source(outer * extent * inner);
    for (size_t i = 0; i < source.size(); ++i)
      source[i] = static_cast<int16_t>(i % 2 ? -static_cast<int>(i) * 379 : 32767 - static_cast<int>(i));
    std::vector<uint32_t> target(outer * p.getNumWords() * inner);
    packIntegers(p, reinterpret_cast<const char *>(source.data()), target.data());
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t k = 0; k < 2 * p.getNumWords(); ++k)
        for (int64_t i = 0; i < inner; ++i) {
          uint32_t word = target[(o * p.getNumWords() + k / 2) * inner + i];
          int16_t wanted = k < extent ? source[(o * extent + k) * inner + i] : int16_t(0);
          CHECK(static_cast<int16_t>(k % 2 ? word >> 16 : word & 0xffff) == wanted);
        }
  }
}

TEST_CASE("panels of nothing are nothing", "[layout]") {
  PanelPacking packing{3, 0, 5, 32, 4};
  CHECK(packing.getNumPanels() == 0);
  CHECK(packing.getPackedBytes() == 0);
  packPanels(packing, nullptr, nullptr);
}
