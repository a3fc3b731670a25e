//===- TransformsTests.cpp - the matrices of Winograd convolutions --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/split/Bf16Terms.h"
#include "passes/paths/winograd/Transforms.h"
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace tenon;

TEST_CASE("transforms give the convolution", "[winograd]") {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int64_t outputs : {2, 4, 6}) {
    REQUIRE(hasWinogradTransforms(outputs, 3));
    WinogradTransforms t = getWinogradTransforms(outputs, 3);
    int64_t side = outputs + 2;
    std::vector<double> d(side), g(3), products(side);
    for (double &x : d)
      x = uniform(random);
    for (double &x : g)
      x = uniform(random);
    for (int64_t i = 0; i < side; ++i) {
      double x = 0, w = 0;
      for (int64_t k = 0; k < side; ++k)
        x += t.input.at(i, k) * d[k];
      for (int64_t k = 0; k < 3; ++k)
        w += t.filter.at(i, k) * g[k];
      products[i] = x * w;
    }
    for (int64_t i = 0; i < outputs; ++i) {
      double y = 0;
      for (int64_t k = 0; k < side; ++k)
        y += t.output.at(i, k) * products[k];
      CHECK(y == Approx(d[i] * g[0] + d[i + 1] * g[1] + d[i + 2] * g[2]).margin(1e-12));
    }
  }
  CHECK(!hasWinogradTransforms(3, 3));
  CHECK(!hasWinogradTransforms(4, 5));
}

static std::vector<float> makeFilter(const FilterShape &shape, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> filter(shape.window * shape.window * shape.channels * shape.filters);
  for (float &x : filter)
    x = normal(random);
  return filter;
}

TEST_CASE("a transformed filter lies in panels, with zeros after the last filter", "[winograd]") {
  WinogradTransforms t = getWinogradTransforms(2, 3);
  FilterShape shape{3, 2, 5};
  std::vector<float> filter = makeFilter(shape, 1), packed(2 * 16 * 2 * 4, -1.0f);
  transformFilter(t, shape, filter.data(), 4, packed.data());
  for (int64_t point = 0; point < 16; ++point)
    for (int64_t c = 0; c < 2; ++c)
      for (int64_t f = 0; f < 8; ++f) {
        double wanted = 0;
        for (int64_t w = 0; w < 9 && f < 5; ++w)
          wanted += t.filter.at(point / 4, w / 3) * t.filter.at(point % 4, w % 3) * filter[(w * 2 + c) * 5 + f];
        CHECK(packed[((f / 4 * 16 + point) * 2 + c) * 4 + f % 4] == Approx(wanted).margin(1e-6));
      }
}

TEST_CASE("larger squares have larger errors, which are known", "[winograd]") {
  FilterShape shape{3, 64, 32};
  std::vector<float> filter = makeFilter(shape, 2);
  double two = measureWinogradError(getWinogradTransforms(2, 3), shape, filter.data());
  double four = measureWinogradError(getWinogradTransforms(4, 3), shape, filter.data());
  double six = measureWinogradError(getWinogradTransforms(6, 3), shape, filter.data());
  CHECK(two > 0);
  CHECK(two < 5e-7);
  CHECK(four > two);
  CHECK(four < 2.5e-6); // 4e-6 to 1e-5 with the points 0, 1, -1, 2, -2
  CHECK(six > four);
  CHECK(six < 1.2e-5);
}

TEST_CASE("a filter of bf16 has pairs of channels in whole steps, with zeros after the last one", "[winograd]") {
  WinogradTransforms t = getWinogradTransforms(2, 3);
  // One step of two; steps of 32; three of 28, which are four more than there are channels.
  for (auto [channels, pairs] : {std::pair<int64_t, int64_t>(1, 1), {3, 2}, {64, 32}, {80, 42}}) {
    CAPTURE(channels);
    REQUIRE(countBf16Pairs(channels) == pairs);
    FilterShape shape{3, channels, 5};
    std::vector<float> filter = makeFilter(shape, 1), floats(2 * 16 * channels * 4);
    transformFilter(t, shape, filter.data(), 4, floats.data());
    std::vector<uint16_t> packed(2 * 16 * pairs * 4 * 2, 1);
    transformFilterToBf16(t, shape, filter.data(), 4, packed.data());
    int64_t different = 0;
    for (int64_t panel = 0; panel < 2; ++panel)
      for (int64_t point = 0; point < 16; ++point)
        for (int64_t c = 0; c < 2 * pairs; ++c)
          for (int64_t f = 0; f < 4; ++f) {
            int64_t element = packed[(((panel * 16 + point) * pairs + c / 2) * 4 + f) * 2 + c % 2];
            float wanted = c < channels ? floats[((panel * 16 + point) * channels + c) * 4 + f] : 0;
            different += std::bit_cast<float>(uint32_t(element) << 16) != roundToBf16(wanted);
          }
    CHECK(different == 0);
  }
}

TEST_CASE("squares amplify the errors of rounding to bf16", "[winograd]") {
  for (int64_t channels : {1, 16, 64}) {
    CAPTURE(channels);
    FilterShape shape{3, channels, 32};
    std::vector<float> filter = makeFilter(shape, 2);
    auto measure = [&](int64_t outputs) {
      return measureWinogradError(getWinogradTransforms(outputs, 3), shape, filter.data(), WinogradFactors::bf16);
    };
    // A direct convolution of rounded factors has 2e-3.
    CHECK(measure(2) > 1e-3);
    CHECK(measure(2) < 8e-3);
    CHECK(measure(4) > 2 * measure(2));
    CHECK(measure(4) < 4e-2);
  }
}

TEST_CASE("balanced transforms are the same convolution, with elements of like magnitudes", "[winograd]") {
  for (int64_t outputs : {2, 4, 6}) {
    CAPTURE(outputs);
    WinogradTransforms plain = getWinogradTransforms(outputs, 3), balanced = balanceFilter(plain);
    double least = 1e9, most = 0;
    for (int64_t row = 0; row < plain.filter.rows; ++row) {
      double squares = 0;
      for (int64_t i = 0; i < 3; ++i)
        squares += balanced.filter.at(row, i) * balanced.filter.at(row, i);
      least = std::min(least, squares);
      most = std::max(most, squares);
      for (int64_t i = 0; i < 3; ++i)
        for (int64_t k = 0; k < plain.input.columns; ++k)
          CHECK(balanced.filter.at(row, i) * balanced.input.at(row, k) ==
                plain.filter.at(row, i) * plain.input.at(row, k));
    }
    CHECK(most <= 4.001 * least);
    CHECK(balanced.output.elements == plain.output.elements);
  }
}

TEST_CASE("a filter of i16 has a scale for each filter, and sums that i32 holds", "[winograd]") {
  for (int64_t channels : {1, 3, 64, 257})
    for (int64_t outputs : {2, 4, 6}) {
      CAPTURE(channels, outputs);
      WinogradTransforms t = balanceFilter(getWinogradTransforms(outputs, 3));
      int64_t points = t.input.rows * t.input.rows, pairs = (channels + 1) / 2;
      FilterShape shape{3, channels, 5};
      std::vector<float> filter = makeFilter(shape, 1), floats(2 * points * channels * 4), scales(5);
      for (int64_t i = 0; i < 9 * channels; ++i) {
        filter[i * 5 + 1] *= 1e6F;
        filter[i * 5 + 3] = 0;
        filter[i * 5 + 4] = 1;
      }
      transformFilter(t, shape, filter.data(), 4, floats.data());
      std::vector<int32_t> words(2 * points * pairs * 4, 1);
      transformFilterToScaledI16(t, shape, filter.data(), 4, words.data(), scales.data());
      CHECK(scales[3] == 0);
      Int16Groups groups = getWinogradGroups(channels);
      for (int64_t f = 0; f < 8; ++f)
        for (int64_t p = 0; p < points; ++p) {
          int64_t sum = 0;
          double off = 0;
          for (int64_t c = 0; c < 2 * pairs; ++c) {
            auto word = static_cast<uint32_t>(words[((f / 4 * points + p) * pairs + c / 2) * 4 + f % 4]);
            auto number = static_cast<int16_t>(c % 2 ? word >> 16 : word & 0xffff);
            double scale = f < 5 ? scales[f] : 0,
                   wanted = c < channels ? floats[((f / 4 * points + p) * channels + c) * 4 + f % 4] : 0;
            off = std::max(off, std::abs(number * scale - wanted) - 0.5001 * scale - 1e-6 * std::abs(wanted));
            sum += std::abs(int(number));
          }
          CHECK(off <= 0);
          CHECK(sum <= groups.getLargestSum());
        }
    }
}

TEST_CASE("squares of i16 are more exact than those of bf16", "[winograd]") {
  for (int64_t channels : {16, 64, 512})
    for (int64_t outputs : {2, 4, 6}) {
      CAPTURE(channels, outputs);
      FilterShape shape{3, channels, 32};
      std::vector<float> filter = makeFilter(shape, 2);
      WinogradTransforms t = getWinogradTransforms(outputs, 3);
      double bf16 = measureWinogradError(t, shape, filter.data(), WinogradFactors::bf16);
      double i16 = measureWinogradError(balanceFilter(t), shape, filter.data(), WinogradFactors::scaledI16);
      CHECK(i16 < bf16 / (channels <= 64 ? 6 : 2));
      CHECK(i16 > bf16 / 100);
    }
}

/// matrix * x * transpose(matrix).
static std::vector<int64_t> applyBoth(const SmallMatrix &matrix, const std::vector<int64_t> &x) {
  int64_t rows = matrix.rows, columns = matrix.columns;
  std::vector<int64_t> result(rows * rows);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < rows; ++j)
      for (int64_t k = 0; k < columns; ++k)
        for (int64_t l = 0; l < columns; ++l)
          result[i * rows + j] += int64_t(matrix.at(i, k)) * int64_t(matrix.at(j, l)) * x[k * columns + l];
  return result;
}

/// The largest magnitude that an element of matrix * x * transpose(matrix) has, for x from `low` to `high`.
static int64_t getLargestSum(const SmallMatrix &matrix, int64_t low, int64_t high) {
  int64_t largest = 0;
  for (int64_t r = 0; r < matrix.rows; ++r)
    for (int64_t s = 0; s < matrix.rows; ++s)
      for (bool isMost : {false, true}) {
        int64_t sum = 0;
        for (int64_t i = 0; i < matrix.columns; ++i)
          for (int64_t j = 0; j < matrix.columns; ++j) {
            int64_t factor = int64_t(matrix.at(r, i)) * int64_t(matrix.at(s, j));
            sum += factor * ((factor > 0) == isMost ? high : low);
          }
        largest = std::max(largest, std::abs(sum));
      }
  return largest;
}

TEST_CASE("integer transforms have no fractions, and keep bytes within 16 bits", "[winograd]") {
  for (int64_t outputs : {2, 4}) {
    CAPTURE(outputs);
    REQUIRE(hasIntegerTransforms(outputs, 3));
    IntegerTransforms t = getIntegerTransforms(outputs, 3);
    for (const SmallMatrix *matrix : {&t.input, &t.filter, &t.output})
      for (double element : matrix->elements)
        CHECK(element == std::round(element));
    CHECK(getLargestSum(t.input, 0, 255) < 1 << 15);
    CHECK(getLargestSum(t.filter, -128, 127) < 1 << 15);
    auto [inverse, shift] = getScaleInverse(t);
    CHECK(uint32_t(t.scale * t.scale >> shift) * inverse == 1u);
  }
  CHECK(!hasIntegerTransforms(6, 3));
  CHECK(!hasIntegerTransforms(4, 5));
}

/// All results of a square, from pairs of words as kernels have them.
static std::vector<int32_t> convolveSquare(const IntegerTransforms &t, const FilterShape &shape,
                                           const std::vector<uint8_t> &input, const std::vector<int32_t> &packed,
                                           int64_t panel, int64_t f) {
  int64_t side = t.input.rows, points = side * side, pairs = (shape.channels + 1) / 2;
  std::vector<int64_t> sums(points);
  for (int64_t c = 0; c < shape.channels; ++c) {
    std::vector<int64_t> square(input.begin() + c * points, input.begin() + (c + 1) * points),
        x = applyBoth(t.input, square);
    for (int64_t p = 0; p < points; ++p) {
      uint32_t pair = uint32_t(packed[((f / panel * points + p) * pairs + c / 2) * panel + f % panel]);
      sums[p] = int32_t(uint32_t(sums[p]) + uint32_t(int16_t(x[p]) * int16_t(c % 2 ? pair >> 16 : pair)));
    }
  }
  auto [inverse, shift] = getScaleInverse(t);
  std::vector<int32_t> results;
  for (int64_t sum : applyBoth(t.output, sums))
    results.push_back(int32_t(uint32_t(sum) * inverse) >> shift);
  return results;
}

TEST_CASE("convolutions of bytes are exact modulo 2^32", "[winograd]") {
  std::mt19937 random(7);
  constexpr int64_t kPanel = 4;
  for (int64_t outputs : {2, 4})
    for (int64_t channels : {1, 2, 5, 64, 113}) {
      IntegerTransforms t = getIntegerTransforms(outputs, 3);
      FilterShape shape{3, channels, 6};
      int64_t side = outputs + 2, points = side * side, pairs = (channels + 1) / 2;
      // The last two filters have the largest elements, so that results are as large as they can be.
      std::vector<int8_t> filter(9 * channels * shape.filters);
      for (size_t i = 0; i < filter.size(); ++i)
        filter[i] = i % 6 == 4 ? -128 : i % 6 == 5 ? 127 : int8_t(random());
      REQUIRE(fitsIntegerTransforms(t, shape, filter.data()));
      std::vector<uint8_t> input(channels * points);
      for (uint8_t &x : input)
        x = random() % 3 ? 255 : uint8_t(random());
      std::vector<int32_t> packed(2 * points * pairs * kPanel, -1);
      transformFilterToI16(t, shape, filter.data(), kPanel, packed.data());
      for (int64_t f = 0; f < shape.filters; ++f) {
        std::vector<int32_t> results = convolveSquare(t, shape, input, packed, kPanel, f);
        for (int64_t i = 0; i < outputs * outputs; ++i) {
          int32_t wanted = 0;
          for (int64_t c = 0; c < channels; ++c)
            for (int64_t w = 0; w < 9; ++w)
              wanted += filter[(w * channels + c) * shape.filters + f] *
                        input[c * points + (i / outputs + w / 3) * side + i % outputs + w % 3];
          CHECK(results[i] == wanted);
        }
      }
    }
}

TEST_CASE("filters whose results may be too large are told", "[winograd]") {
  for (auto [outputs, bits] : {std::pair<int64_t, int64_t>(2, 29), std::pair<int64_t, int64_t>(4, 25)}) {
    IntegerTransforms t = getIntegerTransforms(outputs, 3);
    int64_t most = ((int64_t(1) << bits) - 1) / 255, channels = most / (9 * 127) + 1;
    FilterShape shape{3, channels, 2};
    for (int8_t sign : {1, -1}) {
      // The second filter's sum is `most`, or one more.
      std::vector<int8_t> filter(9 * channels * 2);
      int64_t left = most;
      for (size_t i = 1; i < filter.size(); i += 2) {
        int64_t element = std::min<int64_t>(left, 127);
        filter[i] = int8_t(element * sign);
        left -= element;
      }
      REQUIRE(left == 0);
      CHECK(fitsIntegerTransforms(t, shape, filter.data()));
      filter.back() = int8_t(filter.back() + sign);
      CHECK(!fitsIntegerTransforms(t, shape, filter.data()));
    }
  }
}
