//===- F16BlocksTests.cpp - sums of products of f16 in short blocks -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/f16/F16Blocks.h"
#include "passes/precision/GroupQuantizer.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace tenon;

/// Rounds to f16; twice, which makes no difference that the tests could see.
static double roundToF16(double x) {
  uint16_t bits = toF16Bits(static_cast<float>(x));
  return toFloat(FloatKind::f16, reinterpret_cast<const char *>(&bits));
}

/// Sums products of f16 as kernels do: f16 multiply-adds in chains, chains in blocks, and blocks in f32.
static float sumInBlocks(const std::vector<double> &x, const std::vector<double> &y) {
  float sum = 0;
  auto depth = static_cast<int64_t>(x.size());
  for (int64_t first = 0; first < depth; first += kF16BlockProducts) {
    double ofBlock = 0;
    int64_t end = std::min(first + kF16BlockProducts, depth);
    for (int64_t begin = first; begin < end; begin += kF16ChainProducts) {
      double chain = 0;
      for (int64_t k = begin; k < std::min(begin + kF16ChainProducts, end); ++k)
        chain = roundToF16(x[k] * y[k] + chain);
      ofBlock = roundToF16(ofBlock + chain);
    }
    sum += static_cast<float>(ofBlock);
  }
  return sum;
}

TEST_CASE("a matrix is scaled to elements of up to 2^8", "[f16]") {
  for (float largest : {1.0f, 0.999f, 255.0f, 256.0f, 1e-3f, 3e4f, 1e20f, 0x1p-56f, 0x1.fffffep71f}) {
    CAPTURE(largest);
    std::optional<int> exponent = chooseF16Exponent(largest);
    REQUIRE(exponent);
    CHECK(std::ldexp(largest, *exponent) < 256);
    CHECK(std::ldexp(largest, *exponent) >= 128);
    // Their reciprocals are normal numbers.
    CHECK(std::ldexp(1.0f, -*exponent) >= std::numeric_limits<float>::min());
  }
  CHECK(chooseF16Exponent(0) == 0);
}

TEST_CASE("a matrix that no scale brings into the range has none", "[f16]") {
  for (float largest : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), 0x1p72f,
                        std::numeric_limits<float>::max(), 0x1p-58f, std::numeric_limits<float>::denorm_min()}) {
    CAPTURE(largest);
    CHECK_FALSE(chooseF16Exponent(largest));
  }
}

TEST_CASE("the largest sum of a block is finite", "[f16]") {
  // Elements of rows are below 4, which rounds to 4.
  std::vector<double> rows(2 * kF16BlockProducts, roundToF16(std::nextafter(4.0f, 0.0f))),
      matrix(rows.size(), roundToF16(std::nextafter(256.0f, 0.0f)));
  CHECK(sumInBlocks(rows, matrix) == 4.0f * 256 * static_cast<float>(rows.size()));
  for (double &y : matrix)
    y = -y;
  CHECK(sumInBlocks(rows, matrix) == -4.0f * 256 * static_cast<float>(rows.size()));
}

TEST_CASE("sums of what f16 holds are exact", "[f16]") {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> small(-4, 4);
  std::vector<double> x(100), y(100);
  double sum = 0;
  for (size_t k = 0; k < x.size(); ++k) {
    x[k] = small(random), y[k] = small(random);
    sum += x[k] * y[k];
  }
  CHECK(sumInBlocks(x, y) == sum);
}

TEST_CASE("one product is rounded once", "[f16]") { CHECK(getF16SumError(1) == Approx(kF16RoundingError)); }

TEST_CASE("the error of sums is as expected for random products", "[f16]") {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  for (int depth : {3, 8, 9, 20, 32, 33, 100, 256, 1000}) {
    CAPTURE(depth);
    double squaredErrors = 0, squares = 0;
    for (int sample = 0; sample < 2000; ++sample) {
      std::vector<double> x(depth), y(depth);
      double sum = 0;
      for (int k = 0; k < depth; ++k) {
        x[k] = roundToF16(normal(random)), y[k] = roundToF16(100 * normal(random));
        sum += x[k] * y[k];
      }
      double error = sumInBlocks(x, y) - sum;
      squaredErrors += error * error;
      squares += sum * sum;
    }
    CHECK(std::sqrt(squaredErrors / squares) == Approx(getF16SumError(depth)).epsilon(0.15));
  }
}

TEST_CASE("the error of sums depends little on their length", "[f16]") {
  for (int64_t depth = kF16BlockProducts; depth < 5000; ++depth)
    CHECK(getF16SumError(depth) < 1.02 * getF16SumError(kF16BlockProducts));
  CHECK(getF16SumError(kF16BlockProducts) < 2.7 * kF16RoundingError);
}
