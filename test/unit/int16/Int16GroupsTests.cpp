//===- Int16GroupsTests.cpp - a matrix as integers of 16 bits with scales ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/int16/Int16Groups.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

using namespace tenon;

namespace {
/// A matrix of [depth, columns] or, transposed, [columns, depth], and what it is quantized to.
struct Quantized {
  Quantized(int64_t columns, int64_t depth, const Int16Groups &groups, bool isTransposed, std::vector<float> elements)
      : columns(columns), depth(depth), groups(groups), isTransposed(isTransposed), elements(std::move(elements)),
        numbers(columns * depth, 12345), scales(columns * (depth / groups.getSize()), -1) {
    int64_t count = depth / groups.getSize();
    FloatMatrix matrix{reinterpret_cast<const char *>(this->elements.data()),
                       FloatKind::f32,
                       columns,
                       depth,
                       isTransposed ? depth : 1,
                       isTransposed ? 1 : columns};
    Int16Storage storage{numbers.data(), matrix.rowStride,         matrix.stride,
                         scales.data(),  isTransposed ? count : 1, isTransposed ? 1 : columns};
    error = quantizeColumns(matrix, 0, columns, groups, storage);
  }

  int64_t getPlace(int64_t column, int64_t k) const { return isTransposed ? column * depth + k : k * columns + column; }
  float getScale(int64_t column, int64_t k) const {
    int64_t group = k / groups.getSize();
    return scales[isTransposed ? column * (depth / groups.getSize()) + group : group * columns + column];
  }

  int64_t columns, depth;
  Int16Groups groups;
  bool isTransposed;
  std::vector<float> elements;
  std::vector<int16_t> numbers;
  std::vector<float> scales;
  QuantizationError error;
};
} // namespace

static std::vector<float> makeNormal(int64_t count, unsigned seed, float deviation = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, deviation);
  std::vector<float> elements(count);
  for (float &element : elements)
    element = normal(random);
  return elements;
}

TEST_CASE("groups are the largest even part of a depth up to 64", "[int16]") {
  auto getSize = [](int64_t depth) {
    std::optional<Int16Groups> groups = Int16Groups::choose(depth);
    return groups ? groups->getSize() : 0;
  };
  CHECK(getSize(640) == 64);
  CHECK(getSize(96) == 48);
  CHECK(getSize(100) == 50);
  CHECK(getSize(588) == 42);
  CHECK(getSize(16) == 16);
  for (int64_t none : {0, 1, 2, 14, 147, 134, 1019})
    CHECK(getSize(none) == 0);
}

TEST_CASE("no sum of a group exceeds i32, whatever the rows are", "[int16]") {
  for (int64_t size : {2, 16, 30, 32, 48, 62, 64, 128}) {
    Int16Groups groups(size);
    CAPTURE(size);
    CHECK(groups.getLargestOfRow() <= std::numeric_limits<int16_t>::max());
    CHECK(groups.getLargestSum() * groups.getLargestOfRow() <= std::numeric_limits<int32_t>::max());
    // Elements of one magnitude have the largest sums, odd ones are rounded up.
    std::vector<std::vector<float>> matrices{std::vector<float>(3 * size, 1.0F), std::vector<float>(3 * size, -1e-30F),
                                             makeNormal(3 * size, 1), makeNormal(3 * size, 2, 1e20F)};
    matrices.push_back(std::vector<float>(3 * size, 0.0F));
    matrices.back()[size + 1] = 3; // one element
    for (std::vector<float> &matrix : matrices) {
      Quantized made(3, size, groups, /*isTransposed=*/true, std::move(matrix));
      REQUIRE(made.error.isFinite);
      for (int64_t column = 0; column < 3; ++column) {
        int64_t sum = 0;
        for (int64_t k = 0; k < size; ++k)
          sum += std::abs(static_cast<int>(made.numbers[made.getPlace(column, k)]));
        CHECK(sum <= groups.getLargestSum());
      }
    }
  }
}

TEST_CASE("numbers times their scales are the nearest ones to the elements", "[int16]") {
  for (bool isTransposed : {false, true})
    for (int64_t columns : {1, 7, 16, 37}) {
      CAPTURE(isTransposed, columns);
      constexpr int64_t kDepth = 96;
      Int16Groups groups(32);
      Quantized made(columns, kDepth, groups, isTransposed, makeNormal(columns * kDepth, 7, 0.02F));
      double squared = 0;
      for (int64_t column = 0; column < columns; ++column)
        for (int64_t k = 0; k < kDepth; ++k) {
          int64_t place = made.getPlace(column, k);
          double scale = made.getScale(column, k), off = made.numbers[place] * scale - made.elements[place];
          CHECK(std::fabs(off) <= scale * 0.5000001);
          squared += off * off;
        }
      CHECK(made.error.squaredError == Approx(squared));
      CHECK(made.error.getRelative() < 1e-4);
      CHECK(made.error.getRelative() > 1e-6);
    }
}

TEST_CASE("a group of zeros has the scale 0, and one of tiny elements does not overflow", "[int16]") {
  Int16Groups groups(16);
  std::vector<float> elements(32, 0.0F);
  for (int64_t k = 16; k < 32; ++k)
    elements[k] = std::numeric_limits<float>::denorm_min();
  Quantized made(1, 32, groups, /*isTransposed=*/true, elements);
  CHECK(made.error.isFinite);
  CHECK(made.scales[0] == 0);
  CHECK(made.numbers[3] == 0);
  CHECK(made.numbers[20] * made.scales[1] == std::numeric_limits<float>::denorm_min());
}

TEST_CASE("elements that are not finite, or too large for scales, are told", "[int16]") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (float bad : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(), 1e31F}) {
    std::vector<float> elements(64, 1.0F);
    elements[40] = bad;
    CHECK_FALSE(Quantized(2, 32, Int16Groups(32), /*isTransposed=*/false, elements).error.isFinite);
  }
}
