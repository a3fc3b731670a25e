//===- Int8TermsTests.cpp - floats as digits with a scale ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/split/Int8Terms.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace tenon;

namespace {
/// A matrix [depth, columns] in terms, and where its elements lie.
struct Int8Matrix {
  TermPacking packing;
  Int8Columns columns;
  std::vector<int8_t> elements;

  Int8Matrix(const std::vector<float> &source, int64_t depth, int64_t width, int64_t numTerms)
      : packing{1, 0, depth, width, width, 1, chooseStep(depth, kInt8Neighbours), numTerms, kInt8Neighbours},
        columns(measureColumns(packing, source.data())), elements(packing.countElements()) {
    packInt8Terms(packing, columns.scales.data(), source.data(), elements.data());
  }
  int64_t getTerm(int64_t k, int64_t column, int64_t term) const {
    int64_t step = packing.step, steps = packing.getNumSteps();
    int64_t tile = ((column / 16) * steps + k / step) * packing.numTerms + term;
    return elements[tile * step * 16 + k % step / 4 * 64 + column % 16 * 4 + k % 4];
  }
  /// The element that the terms stand for.
  double get(int64_t k, int64_t column) const {
    double sum = 0;
    for (int64_t term = 0; term < packing.numTerms; ++term)
      sum += static_cast<double>(getTerm(k, column, term)) * std::exp2(-8.0 * static_cast<double>(term));
    return column < packing.columns ? sum * columns.scales[column] : sum;
  }
};
} // namespace

TEST_CASE("steps are of fours, at most 64 long, and few", "[int8-terms]") {
  for (int64_t depth = 1; depth <= 700; ++depth) {
    int64_t step = chooseStep(depth, kInt8Neighbours), steps = (depth + step - 1) / step;
    CAPTURE(depth, step);
    CHECK((step % 4 == 0 && step >= 4 && step <= 64));
    CHECK(steps == (depth + 63) / 64);
  }
}

TEST_CASE("terms are off by half a unit of the last one, and there are zeros beyond", "[int8-terms]") {
  std::mt19937 random(5);
  for (auto [depth, width] : {std::pair<int64_t, int64_t>{1, 1}, {7, 5}, {65, 17}, {128, 32}, {197, 40}})
    for (int64_t numTerms : {1, 2, 3}) {
      std::vector<float> source(depth * width);
      for (int64_t i = 0; i < depth * width; ++i)
        source[i] =
            std::ldexp(std::uniform_real_distribution<float>(-1, 1)(random), static_cast<int>(i % width) * 3 - 40);
      Int8Matrix matrix(source, depth, width, numTerms);
      double unit = std::exp2(-8.0 * static_cast<double>(numTerms - 1));
      for (int64_t k = 0; k < matrix.packing.getNumSteps() * matrix.packing.step; ++k)
        for (int64_t n = 0; n < matrix.packing.getNumPanels() * 16; ++n) {
          bool isInside = k < depth && n < width;
          double allowed = isInside ? unit / 2 * matrix.columns.scales[n] * (1 + 1e-6) : 0;
          CHECK(std::fabs(matrix.get(k, n) - (isInside ? source[k * width + n] : 0)) <= allowed);
        }
    }
}

TEST_CASE("the largest elements of a column have the largest terms, of either sign", "[int8-terms]") {
  for (int64_t numTerms : {1, 2, 3}) {
    Int8Matrix matrix({3e20F, -3e20F, 0, -1e-20F}, 4, 1, numTerms);
    CHECK(matrix.getTerm(0, 0, 0) == 127);
    CHECK(matrix.getTerm(1, 0, 0) == -127);
    for (int64_t term = 0; term < numTerms; ++term)
      CHECK((matrix.getTerm(2, 0, term) == 0 && matrix.getTerm(3, 0, term) == 0));
  }
  Int8Matrix zeros(std::vector<float>(8), 8, 1, 3);
  CHECK(zeros.columns.scales[0] == 0);
  CHECK(zeros.get(3, 0) == 0);
}

TEST_CASE("columns that are not finite have no error, no scale, and zeros as terms", "[int8-terms]") {
  for (float other : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Int8Matrix matrix({1, 1, other, 1}, 2, 2, 2);
    CHECK_FALSE(matrix.columns.isFinite);
    CHECK(std::isinf(getInt8TermError(matrix.columns, 2, 2, 4)));
    CHECK(std::isnan(matrix.columns.scales[0]));
    for (int64_t term = 0; term < 2; ++term)
      CHECK((matrix.getTerm(0, 0, term) == 0 && matrix.getTerm(1, 0, term) == 0));
    CHECK(matrix.get(1, 1) == Approx(1));
  }
}

TEST_CASE("sums of the largest products fit", "[int8-terms]") {
  for (int64_t numTerms : {1, 2, 3}) {
    int64_t most = (int64_t(1) << 31) / (128 * 128 * numTerms);
    CHECK(fitInt8Sums(most - 1, numTerms));
    CHECK_FALSE(fitInt8Sums(most + 1, numTerms));
  }
}

TEST_CASE("the error of products is as estimated", "[int8-terms]") {
  constexpr int64_t kDepth = 512, kWidth = 24, kRows = 40;
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<float> rows(kRows * kDepth), matrix(kDepth * kWidth);
  for (float &x : matrix)
    x = normal(random);
  for (float &x : rows)
    x = normal(random);
  for (int64_t numTerms : {2, 3}) {
    // Rows are columns of their transposed matrix.
    std::vector<float> transposed(rows.size());
    for (int64_t m = 0; m < kRows; ++m)
      for (int64_t k = 0; k < kDepth; ++k)
        transposed[k * kRows + m] = rows[m * kDepth + k];
    Int8Matrix a(transposed, kDepth, kRows, numTerms), b(matrix, kDepth, kWidth, numTerms);
    double squares = 0, squaredError = 0;
    for (int64_t m = 0; m < kRows; ++m)
      for (int64_t n = 0; n < kWidth; ++n) {
        double exact = 0, sum = 0;
        for (int64_t k = 0; k < kDepth; ++k) {
          exact += static_cast<double>(rows[m * kDepth + k]) * matrix[k * kWidth + n];
          for (int64_t i = 0; i < numTerms; ++i)
            for (int64_t j = 0; i + j < numTerms; ++j)
              sum += static_cast<double>(a.getTerm(k, m, i) * b.getTerm(k, n, j)) *
                     std::exp2(-8.0 * static_cast<double>(i + j));
        }
        squares += exact * exact;
        double error = sum * a.columns.scales[m] * b.columns.scales[n] - exact;
        squaredError += error * error;
      }
    double crest = std::sqrt(2 * std::log(static_cast<double>(kDepth)));
    double measured = std::sqrt(squaredError / squares),
           estimated = getInt8TermError(b.columns, kDepth, numTerms, crest);
    CAPTURE(numTerms, measured, estimated);
    // The estimate is that of the worst column, relative to the largest one.
    CHECK(measured < estimated);
    CHECK(measured > estimated / 3);
  }
}
