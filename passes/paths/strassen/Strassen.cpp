//===- Strassen.cpp - a product of matrices by seven products of halves ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/strassen/Strassen.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace tenon;

const int tenon::kLeftBlocks[kStrassenProducts][2][2] = {
    {{1, 0}, {0, 1}}, {{-1, 0}, {1, 0}}, {{0, 1}, {0, -1}}, {{1, 0}, {0, 0}},
    {{0, 0}, {0, 1}}, {{0, 0}, {1, 1}},  {{1, 1}, {0, 0}},
};
const int tenon::kRightBlocks[kStrassenProducts][2][2] = {
    {{1, 0}, {0, 1}},  {{1, 1}, {0, 0}}, {{0, 0}, {1, 1}}, {{0, 1}, {0, -1}},
    {{-1, 0}, {1, 0}}, {{1, 0}, {0, 0}}, {{0, 0}, {0, 1}},
};
const int tenon::kResultBlocks[2][2][kStrassenProducts] = {
    {{1, 0, 1, 0, 1, 0, -1}, {0, 0, 0, 1, 0, 0, 1}},
    {{0, 0, 0, 0, 1, 1, 0}, {1, 1, 0, 1, 0, -1, 0}},
};

/// The element of a block, zero beyond the last column.
static float getBlock(const StrassenMatrix &matrix, int i, int j, int64_t k, int64_t column) {
  int64_t n = column + j * matrix.panel;
  return n < matrix.columns ? matrix.get(i * matrix.depth / 2 + k, n) : 0;
}

/// Element k of the sum of blocks for a product, for `column` and the one a panel beyond. At most two blocks count, so
/// the order of the sum does not matter.
static float sumBlocks(const int (&blocks)[2][2], const StrassenMatrix &matrix, int64_t k, int64_t column) {
  float sum = 0;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      if (blocks[i][j])
        sum += static_cast<float>(blocks[i][j]) * getBlock(matrix, i, j, k, column);
  return sum;
}

namespace {
/// Results of a pair of rows, one of each half, in a column of each half.
struct Results {
  double values[2][2] = {};
};
} // namespace

/// What the kernels compute: products and their sums in f32.
static Results multiplyFast(const StrassenMatrix &matrix, const std::vector<float> (&rows)[2], int64_t column) {
  int64_t half = matrix.depth / 2;
  Results results;
  float products[kStrassenProducts];
  for (int p = 0; p < kStrassenProducts; ++p) {
    float sum = 0;
    for (int64_t k = 0; k < half; ++k) {
      float left = 0;
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
          if (kLeftBlocks[p][i][j])
            left += static_cast<float>(kLeftBlocks[p][i][j]) * rows[i][j * half + k];
      sum = std::fma(left, sumBlocks(kRightBlocks[p], matrix, k, column), sum);
    }
    products[p] = sum;
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      float sum = 0;
      for (int p = 0; p < kStrassenProducts; ++p)
        if (kResultBlocks[i][j][p])
          sum += static_cast<float>(kResultBlocks[i][j][p]) * products[p];
      results.values[i][j] = sum;
    }
  return results;
}

static Results multiplyExactly(const StrassenMatrix &matrix, const std::vector<float> (&rows)[2], int64_t column) {
  Results results;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      for (int64_t k = 0; k < matrix.depth; ++k)
        results.values[i][j] +=
            double(rows[i][k]) * getBlock(matrix, int(2 * k / matrix.depth), j, k % (matrix.depth / 2), column);
  return results;
}

/// True if no result of scaled rows, whose elements are less than 4, exceeds f32: a product is a sum of half as many
/// products as the depth, of sums of two elements, and a result is a sum of four of these.
static bool hasFiniteSums(const StrassenMatrix &matrix) {
  constexpr float kGrowth = 32; // math: 4 * 2 * 2 * 4 / 2
  float most = std::numeric_limits<float>::max() / (kGrowth * static_cast<float>(matrix.depth));
  for (int64_t k = 0; k < matrix.depth; ++k)
    for (int64_t n = 0; n < matrix.columns; ++n)
      if (!(std::fabs(matrix.get(k, n)) <= most))
        return false;
  return true;
}

double tenon::measureStrassenError(const StrassenMatrix &matrix) {
  if (!hasFiniteSums(matrix))
    return std::numeric_limits<double>::infinity();
  constexpr int kPairs = 3;             // math: of rows; errors of columns vary more
  constexpr int64_t kMostColumns = 128; // limit: of the time that this takes
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  // Those of every first panel that has another one.
  int64_t panels = (matrix.columns + matrix.panel - 1) / matrix.panel;
  int64_t pairs = panels / 2 * matrix.panel, count = std::min(pairs, kMostColumns);
  double worst = 0, largest = 0;
  for (int pair = 0; pair < kPairs; ++pair) {
    std::vector<float> rows[2];
    for (std::vector<float> &row : rows)
      for (int64_t k = 0; k < matrix.depth; ++k)
        row.push_back(normal(random));
    for (int64_t i = 0; i < count; ++i) {
      int64_t pair = i * pairs / count, column = pair / matrix.panel * 2 * matrix.panel + pair % matrix.panel;
      Results fast = multiplyFast(matrix, rows, column), exact = multiplyExactly(matrix, rows, column);
      for (int row = 0; row < 2; ++row)
        for (int block = 0; block < 2; ++block) {
          worst = std::max(worst, std::abs(fast.values[row][block] - exact.values[row][block]));
          largest = std::max(largest, std::abs(exact.values[row][block]));
        }
    }
  }
  return largest > 0 ? worst / largest : 0;
}
