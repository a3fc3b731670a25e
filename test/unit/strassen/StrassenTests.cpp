//===- StrassenTests.cpp - products of halves -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/strassen/Strassen.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

using namespace tenon;

TEST_CASE("The sums of products are the blocks of the result", "[strassen]") {
  // The coefficient of left block (i, k) times right block (l, j) in result block (m, n).
  for (int bits = 0; bits < 64; ++bits) {
    int i = bits & 1, k = bits >> 1 & 1, l = bits >> 2 & 1, j = bits >> 3 & 1, m = bits >> 4 & 1, n = bits >> 5 & 1;
    int sum = 0;
    for (int p = 0; p < kStrassenProducts; ++p)
      sum += kLeftBlocks[p][i][k] * kRightBlocks[p][l][j] * kResultBlocks[m][n][p];
    CAPTURE(bits);
    CHECK(sum == (i == m && j == n && k == l));
  }
}

TEST_CASE("No sum begins with what is subtracted, and those of factors have two blocks at most", "[strassen]") {
  auto count = [](const auto &blocks, int sign) {
    int number = 0;
    for (const auto &line : blocks)
      for (int coefficient : line)
        number += coefficient == sign;
    return number;
  };
  for (int p = 0; p < kStrassenProducts; ++p) {
    CHECK(count(kLeftBlocks[p], 1) > 0);
    CHECK(count(kLeftBlocks[p], 1) + count(kLeftBlocks[p], -1) <= 2);
    CHECK(count(kRightBlocks[p], 1) > 0);
    CHECK(count(kRightBlocks[p], 1) + count(kRightBlocks[p], -1) <= 2);
  }
  for (const auto &line : kResultBlocks)
    for (const auto &coefficients : line)
      CHECK(*std::find_if(std::begin(coefficients), std::end(coefficients), [](int c) { return c != 0; }) == 1);
}

TEST_CASE("Right factors are sums, then differences, then blocks", "[strassen]") {
  for (int p = 0; p < kStrassenProducts; ++p) {
    int added = 0, subtracted = 0;
    for (const auto &line : kRightBlocks[p])
      for (int coefficient : line) {
        added += coefficient == 1;
        subtracted += coefficient == -1;
      }
    CAPTURE(p);
    CHECK(added == (p < kStrassenSums ? 2 : 1));
    CHECK(subtracted == (p >= kStrassenSums && p < kStrassenSums + kStrassenDifferences ? 1 : 0));
  }
}

TEST_CASE("The right matrix may be stored either way", "[strassen]") {
  constexpr int64_t kDepth = 6, kColumns = 11, kPanel = 4;
  std::vector<float> rows(kDepth * kColumns), columns(kDepth * kColumns);
  for (int64_t k = 0; k < kDepth; ++k)
    for (int64_t n = 0; n < kColumns; ++n)
      rows[k * kColumns + n] = columns[n * kDepth + k] = 1 / static_cast<float>(k * 100 + n + 1);
  double error = measureStrassenError({kDepth, kColumns, kColumns, 1, kPanel, rows.data()});
  CHECK(error > 0);
  CHECK(error == measureStrassenError({kDepth, 1, kColumns, kDepth, kPanel, columns.data()}));
}

TEST_CASE("Columns of a panel without another one have no error", "[strassen]") {
  constexpr int64_t kDepth = 64, kPanel = 4;
  std::vector<float> elements(kDepth * 3 * kPanel, 1.0F);
  auto measure = [&](int64_t columns) {
    return measureStrassenError({kDepth, columns, columns, 1, kPanel, elements.data()});
  };
  CHECK(measure(kPanel) == 0);
  CHECK(measure(kPanel + 1) > 0);
  // What the third one has counts for no other.
  std::vector<float> large(elements);
  for (int64_t k = 0; k < kDepth; ++k)
    for (int64_t n = 2 * kPanel; n < 3 * kPanel; ++n)
      large[k * 3 * kPanel + n] = 1e20F;
  CHECK(measureStrassenError({kDepth, 3 * kPanel, 3 * kPanel, 1, kPanel, large.data()}) == measure(3 * kPanel));
}

TEST_CASE("The error is that of sums in f32", "[strassen]") {
  for (int64_t depth : {2, 64, 770})
    for (int64_t columns : {17, 34, 1000}) {
      CAPTURE(depth, columns);
      std::vector<float> elements(depth * columns);
      uint32_t state = 1;
      for (float &element : elements)
        element = static_cast<float>((state = state * 1664525 + 1013904223) >> 8) * 0x1p-23f - 1;
      double error = measureStrassenError({depth, columns, columns, 1, 16, elements.data()});
      CHECK(error > 0);
      CHECK(error < 4e-6);
    }
  std::vector<float> zeros(64 * 64, 0.0F);
  CHECK(measureStrassenError({64, 64, 64, 1, 16, zeros.data()}) == 0);
}

TEST_CASE("A matrix by which scaled rows have results that f32 does not hold has an infinite error", "[strassen]") {
  constexpr int64_t kExtent = 600; // more columns than are measured
  std::vector<float> elements(kExtent * kExtent, 1.0F);
  const StrassenMatrix matrix{kExtent, kExtent, kExtent, 1, 16, elements.data()};
  CHECK(std::isfinite(measureStrassenError(matrix)));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (float bad :
       {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::max(), 2e34F})
    for (int64_t place : {int64_t(0), kExtent + 7, kExtent * kExtent - 1}) {
      CAPTURE(bad, place);
      float kept = std::exchange(elements[place], bad);
      CHECK(std::isinf(measureStrassenError(matrix)));
      elements[place] = kept;
    }
}
