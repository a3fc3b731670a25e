//===- GroupQuantizerTests.cpp ---------------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/precision/GroupQuantizer.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace tenon;

/// What the numbers of a group stand for.
static std::vector<float> restore(GroupCode code, const GroupFormat &format, const std::vector<char> &numbers) {
  std::vector<float> restored;
  for (char number : numbers) {
    int value = format.isSigned() ? static_cast<signed char>(number) : static_cast<unsigned char>(number);
    REQUIRE(value < (format.isSigned() ? 1 << (format.bits - 1) : 1 << format.bits));
    restored.push_back(static_cast<float>(value - code.zero) * code.scale);
  }
  return restored;
}

static std::vector<float> roundTrip(const std::vector<float> &elements, const GroupFormat &format) {
  std::vector<char> numbers(elements.size());
  GroupCode code = quantizeGroup(elements, format, numbers);
  return restore(code, format, numbers);
}

static double getSquaredError(const std::vector<float> &a, const std::vector<float> &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += double(a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

static std::vector<float> drawNormal(size_t count, unsigned seed, float mean = 0) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(mean, 1);
  std::vector<float> elements(count);
  for (float &x : elements)
    x = normal(random);
  return elements;
}

static constexpr GroupFormat kInt4{4, 32, false, false}, kInt8{8, 32, false, false},
    kInt4Asymmetric{4, 32, true, false}, kInt8Asymmetric{8, 32, true, false};

TEST_CASE("every f16 is the f16 that is nearest to it") {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    auto half = static_cast<uint16_t>(bits);
    float value = toFloat(FloatKind::f16, reinterpret_cast<const char *>(&half));
    if (std::isnan(value))
      CHECK((toF16Bits(value) & 0x7fff) > 0x7c00);
    else
      CHECK(toF16Bits(value) == half);
  }
}

TEST_CASE("f16 and bf16 round to nearest, ties to even") {
  CHECK(toF16Bits(1.0f + 0x1p-11f) == 0x3c00);
  CHECK(toF16Bits(1.0f + 3 * 0x1p-11f) == 0x3c02);
  CHECK(toF16Bits(65519.0f) == 0x7bff);
  CHECK(toF16Bits(65520.0f) == 0x7c00);
  CHECK(toF16Bits(0x1p-25f) == 0);
  CHECK(toF16Bits(1.5f * 0x1p-25f) == 1);
  CHECK(toF16Bits(-0x1p-24f) == 0x8001);
  CHECK(toBf16Bits(1.0f + 0x1p-8f) == 0x3f80);
  CHECK(toBf16Bits(1.0f + 3 * 0x1p-8f) == 0x3f82);
  CHECK(toBf16Bits(std::numeric_limits<float>::infinity()) == 0x7f80);
  CHECK(std::isnan(std::numeric_limits<float>::quiet_NaN()));
  CHECK((toBf16Bits(std::numeric_limits<float>::quiet_NaN()) & 0x7fff) > 0x7f80);
}

TEST_CASE("elements that are numbers times a scale are exact") {
  std::vector<float> elements, negated;
  for (int i = -8; i < 8; ++i)
    elements.push_back(0.5f * static_cast<float>(i));
  CHECK(roundTrip(elements, kInt4) == elements);
  // The largest element is positive: it becomes -8 with a negative scale.
  for (float x : elements)
    negated.push_back(-x);
  CHECK(roundTrip(negated, kInt4) == negated);
  std::vector<float> above;
  for (int i = 3; i < 16; ++i)
    above.push_back(0.25f * static_cast<float>(i));
  above.push_back(0);
  CHECK(roundTrip(above, kInt4Asymmetric) == above);
  std::vector<float> eight = {-127, 5, 0, 126};
  CHECK(roundTrip(eight, kInt8) == eight);
  std::vector<float> bytes = {-100, 155, 0, 7};
  CHECK(roundTrip(bytes, kInt8Asymmetric) == bytes);
}

TEST_CASE("an element is off by half of a scale at most where the scale is that of the largest one") {
  for (const GroupFormat &format : {kInt8, kInt8Asymmetric})
    for (unsigned seed = 0; seed < 20; ++seed) {
      std::vector<float> elements = drawNormal(32, seed, 0.5f);
      std::vector<char> numbers(elements.size());
      GroupCode code = quantizeGroup(elements, format, numbers);
      std::vector<float> restored = restore(code, format, numbers);
      for (size_t i = 0; i < elements.size(); ++i)
        // Zero points of a range are rounded, too.
        CHECK(std::abs(elements[i] - restored[i]) <= (format.isAsymmetric ? 1.01f : 0.501f) * std::abs(code.scale));
    }
}

TEST_CASE("the scale of four bits is better than that of the largest element") {
  double searched = 0, simple = 0, asymmetric = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::vector<float> elements = drawNormal(32, seed), restored;
    float largest = 0;
    for (float x : elements)
      largest = std::max(largest, std::abs(x));
    for (float x : elements)
      restored.push_back(std::round(x / (largest / 7)) * (largest / 7));
    double own = getSquaredError(elements, roundTrip(elements, kInt4));
    CHECK(own <= getSquaredError(elements, restored) * 1.0001);
    searched += own;
    simple += getSquaredError(elements, restored);
    asymmetric += getSquaredError(elements, roundTrip(elements, kInt4Asymmetric));
  }
  CHECK(searched < 0.75 * simple);
  CHECK(asymmetric < searched);
}

TEST_CASE("a zero point pays where elements have one sign") {
  std::vector<float> elements = drawNormal(32, 1, 6);
  CHECK(getSquaredError(elements, roundTrip(elements, kInt4Asymmetric)) <
        0.5 * getSquaredError(elements, roundTrip(elements, kInt4)));
}

TEST_CASE("a group of zeros, or of nearly nothing, has zeros") {
  for (float value : {0.0f, 1e-40f})
    for (const GroupFormat &format : {kInt4, kInt8, kInt4Asymmetric, kInt8Asymmetric})
      CHECK(roundTrip(std::vector<float>(32, value), format) == std::vector<float>(32, 0));
}

namespace {
struct Quantized {
  std::vector<char> numbers, scales, zeros;
  QuantizationError error;
};
} // namespace

static Quantized quantize(const FloatMatrix &matrix, const GroupFormat &format, bool isTransposed) {
  auto groups = static_cast<size_t>((matrix.depth + format.group - 1) / format.group);
  auto rows = static_cast<size_t>(matrix.rows);
  Quantized result{std::vector<char>(rows * static_cast<size_t>(matrix.depth)),
                   std::vector<char>(rows * groups * 4),
                   std::vector<char>(rows * groups),
                   {}};
  QuantizedStorage storage{result.numbers.data(), result.scales.data(),
                           format.isAsymmetric ? result.zeros.data() : nullptr,
                           isTransposed ? 1 : static_cast<int64_t>(groups), isTransposed ? matrix.rows : 1};
  result.error = quantizeRows(matrix, 0, matrix.rows, format, storage);
  return result;
}

TEST_CASE("a matrix and its transpose have the same numbers, and the last group may be shorter") {
  constexpr size_t kRows = 37, kDepth = 70;
  std::vector<float> elements = drawNormal(kRows * kDepth, 3), transposed(elements.size());
  for (size_t row = 0; row < kRows; ++row)
    for (size_t i = 0; i < kDepth; ++i)
      transposed[i * kRows + row] = elements[row * kDepth + i];
  FloatMatrix matrix{reinterpret_cast<const char *>(elements.data()), FloatKind::f32, kRows, kDepth, kDepth, 1};
  FloatMatrix other{reinterpret_cast<const char *>(transposed.data()), FloatKind::f32, kRows, kDepth, 1, kRows};
  Quantized a = quantize(matrix, kInt4Asymmetric, false), b = quantize(other, kInt4Asymmetric, true);
  constexpr size_t kGroups = 3;
  double squares = 0, off = 0;
  for (size_t row = 0; row < kRows; ++row)
    for (size_t i = 0; i < kDepth; ++i) {
      size_t place = row * kGroups + i / 32, otherPlace = i / 32 * kRows + row;
      CHECK(a.numbers[row * kDepth + i] == b.numbers[i * kRows + row]);
      CHECK(a.zeros[place] == b.zeros[otherPlace]);
      float scale, otherScale, x = elements[row * kDepth + i];
      std::memcpy(&scale, &a.scales[place * sizeof scale], sizeof scale);
      std::memcpy(&otherScale, &b.scales[otherPlace * sizeof scale], sizeof scale);
      CHECK(scale == otherScale);
      squares += double(x) * x;
      off += std::pow(double(x) - double(scale) * (a.numbers[row * kDepth + i] - a.zeros[place]), 2);
    }
  CHECK(a.error.getRelative() == Approx(std::sqrt(off / squares)));
  CHECK(a.error.getRelative() > 0.04);
  CHECK(a.error.getRelative() < 0.09);
}

TEST_CASE("what has no number, or no scale in f16, is told") {
  std::vector<float> elements(64, 1);
  FloatMatrix matrix{reinterpret_cast<const char *>(elements.data()), FloatKind::f32, 2, 32, 32, 1};
  GroupFormat format{4, 32, false, true};
  CHECK(quantize(matrix, format, false).error.isFinite);
  CHECK(quantize(matrix, format, false).error.fitsF16);
  for (float value : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), 3e38f}) {
    elements[40] = value;
    CHECK(!quantize(matrix, format, false).error.isFinite);
  }
  elements.assign(64, 1e-6f);
  CHECK(!quantize(matrix, format, false).error.fitsF16);
  format.hasF16Scales = false;
  CHECK(quantize(matrix, format, false).error.getRelative() < 1e-3);
}
