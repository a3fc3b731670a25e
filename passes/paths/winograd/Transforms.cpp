//===- Transforms.cpp - the matrices of Winograd convolutions -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/winograd/Transforms.h"
#include "passes/paths/split/Bf16Terms.h"
#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

using namespace tenon;

/// Returns the interpolation points besides infinity. Pairs of opposite points share half of their arithmetic. The
/// points for 4 outputs have a third of the error of 0, +-1, +-2; they were found by a search over multiples of 1/8.
static const std::vector<double> *getPoints(int64_t outputs, int64_t window) {
  static const std::vector<double> four{0, 1, -1}, six{0, 0.75, -0.75, 1.5, -1.5},
      eight{0, 0.5, -0.5, 1, -1, 1.75, -1.75};
  if (window != 3)
    return nullptr;
  return outputs == 2 ? &four : outputs == 4 ? &six : outputs == 6 ? &eight : nullptr;
}

bool tenon::hasWinogradTransforms(int64_t outputs, int64_t window) { return getPoints(outputs, window) != nullptr; }

/// Returns the coefficients of the product of (x - p) over all points but number `skipped`.
static std::vector<double> multiplyOut(const std::vector<double> &points, size_t skipped) {
  std::vector<double> product{1};
  for (size_t k = 0; k < points.size(); ++k) {
    if (k == skipped)
      continue;
    product.insert(product.begin(), 0);
    for (size_t i = 0; i + 1 < product.size(); ++i)
      product[i] -= points[k] * product[i + 1];
  }
  return product;
}

/// How far a point is from all others, as a product.
static double getDistance(const std::vector<double> &points, size_t number) {
  double distance = 1;
  for (size_t k = 0; k < points.size(); ++k)
    distance *= k == number ? 1 : points[number] - points[k];
  return distance;
}

static WinogradTransforms getTransforms(const std::vector<double> &points, int64_t outputs, int64_t window) {
  int64_t side = outputs + window - 1, last = side - 1;
  assert(static_cast<int64_t>(points.size()) == last && "one of the points is at infinity");
  WinogradTransforms t{SmallMatrix(side, side), SmallMatrix(side, window), SmallMatrix(outputs, side)};
  for (int64_t j = 0; j < last; ++j) {
    double point = points[j], distance = getDistance(points, j);
    for (int64_t i = 0; i < outputs; ++i)
      t.output.at(i, j) = std::pow(point, i);
    for (int64_t i = 0; i < window; ++i)
      t.filter.at(j, i) = std::pow(point, i) / distance;
    std::vector<double> polynomial = multiplyOut(points, j);
    std::copy(polynomial.begin(), polynomial.end(), &t.input.at(j, 0));
  }
  // The point at infinity.
  t.output.at(outputs - 1, last) = 1;
  t.filter.at(last, window - 1) = 1;
  std::vector<double> polynomial = multiplyOut(points, points.size());
  std::copy(polynomial.begin(), polynomial.end(), &t.input.at(last, 0));
  return t;
}

WinogradTransforms tenon::getWinogradTransforms(int64_t outputs, int64_t window) {
  const std::vector<double> *points = getPoints(outputs, window);
  assert(points && "ask hasWinogradTransforms before");
  return getTransforms(*points, outputs, window);
}

WinogradTransforms tenon::balanceFilter(WinogradTransforms transforms) {
  auto getNorm = [&](int64_t row) {
    double squares = 0;
    for (int64_t i = 0; i < transforms.filter.columns; ++i)
      squares += transforms.filter.at(row, i) * transforms.filter.at(row, i);
    return std::sqrt(squares);
  };
  for (int64_t row = 0; row < transforms.filter.rows; ++row) {
    double factor = std::exp2(std::round(std::log2(getNorm(row))));
    for (int64_t i = 0; i < transforms.filter.columns; ++i)
      transforms.filter.at(row, i) /= factor;
    for (int64_t i = 0; i < transforms.input.columns; ++i)
      transforms.input.at(row, i) *= factor;
  }
  return transforms;
}

/// Six outputs have transforms of more than 16 bits.
static const std::vector<double> *getWholePoints(int64_t outputs, int64_t window) {
  static const std::vector<double> four{0, 1, -1}, six{0, 1, -1, 2, -2};
  if (window != 3)
    return nullptr;
  return outputs == 2 ? &four : outputs == 4 ? &six : nullptr;
}

bool tenon::hasIntegerTransforms(int64_t outputs, int64_t window) { return getWholePoints(outputs, window) != nullptr; }

IntegerTransforms tenon::getIntegerTransforms(int64_t outputs, int64_t window) {
  const std::vector<double> *points = getWholePoints(outputs, window);
  assert(points && "ask hasIntegerTransforms before");
  IntegerTransforms t{getTransforms(*points, outputs, window), 1};
  int64_t last = t.input.rows - 1;
  for (int64_t j = 0; j < last; ++j)
    t.scale = std::lcm(t.scale, std::llround(getDistance(*points, j)));
  // The factor moves from the filter's transform to the output's, if all distances divide the scale.
  for (int64_t j = 0; j <= last; ++j) {
    double distance = j < last ? getDistance(*points, j) : 1;
    for (int64_t i = 0; i < window; ++i)
      t.filter.at(j, i) = std::round(t.filter.at(j, i) * distance);
    for (int64_t i = 0; i < outputs; ++i)
      t.output.at(i, j) *= double(t.scale) / distance;
  }
  return t;
}

ScaleInverse tenon::getScaleInverse(const IntegerTransforms &transforms) {
  assert(transforms.scale > 0 && transforms.scale <= std::numeric_limits<uint16_t>::max() &&
         "the square of the scale is a number of 32 bits, and has an odd factor");
  uint32_t odd = uint32_t(transforms.scale * transforms.scale);
  int64_t shift = 0;
  for (; odd % 2 == 0; odd /= 2)
    ++shift;
  // Newton's method doubles the number of correct bits; an odd number is its own inverse modulo 8, which gives three
  // bits.
  uint32_t inverse = odd;
  for (int bits = 3; bits < 32; bits *= 2)
    inverse *= 2 - odd * inverse;
  return {inverse, shift};
}

static constexpr int64_t kMaxSide = 8; // math: of the transforms in the table

/// matrix * x * transpose(matrix), for a square x.
template <typename T> static void applyBoth(const SmallMatrix &matrix, const T *x, T *result) {
  int64_t rows = matrix.rows, columns = matrix.columns;
  assert(rows <= kMaxSide && columns <= kMaxSide && "the transforms of the table fit the memory for half of a product");
  std::array<T, kMaxSide * kMaxSide> half{};
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t k = 0; k < columns; ++k)
        half[i * columns + j] += T(matrix.at(i, k)) * x[k * columns + j];
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < rows; ++j) {
      T sum = 0;
      for (int64_t k = 0; k < columns; ++k)
        sum += half[i * columns + k] * T(matrix.at(j, k));
      result[i * rows + j] = sum;
    }
}

/// Calls `store` with each element of the transformed filter, and its point, channel and filter.
template <typename T, typename Store>
static void transformWindows(const WinogradTransforms &transforms, const FilterShape &shape, const T *filter,
                             Store store) {
  assert(transforms.filter.columns == shape.window && "a transform is that of the window");
  int64_t side = transforms.input.rows, points = side * side;
  std::vector<double> window(shape.window * shape.window), transformed(points);
  for (int64_t c = 0; c < shape.channels; ++c)
    for (int64_t f = 0; f < shape.filters; ++f) {
      for (int64_t w = 0; w < shape.window * shape.window; ++w)
        window[w] = filter[(w * shape.channels + c) * shape.filters + f];
      applyBoth(transforms.filter, window.data(), transformed.data());
      for (int64_t p = 0; p < points; ++p)
        store(p, c, f, transformed[p]);
    }
}

void tenon::transformFilter(const WinogradTransforms &transforms, const FilterShape &shape, const float *filter,
                            int64_t panel, float *result) {
  int64_t side = transforms.input.rows, points = side * side, numPanels = (shape.filters + panel - 1) / panel;
  std::fill_n(result, numPanels * points * shape.channels * panel, 0.0f);
  transformWindows(transforms, shape, filter, [&](int64_t p, int64_t c, int64_t f, double element) {
    result[((f / panel * points + p) * shape.channels + c) * panel + f % panel] = float(element);
  });
}

void tenon::transformFilterToI16(const IntegerTransforms &transforms, const FilterShape &shape, const int8_t *filter,
                                 int64_t panel, int32_t *result) {
  int64_t side = transforms.input.rows, points = side * side, numPanels = (shape.filters + panel - 1) / panel;
  int64_t pairs = (shape.channels + 1) / 2;
  std::fill_n(result, numPanels * points * pairs * panel, 0);
  transformWindows(transforms, shape, filter, [&](int64_t p, int64_t c, int64_t f, double element) {
    uint32_t word = uint16_t(int16_t(element));
    result[((f / panel * points + p) * pairs + c / 2) * panel + f % panel] |= int32_t(c % 2 ? word << 16 : word);
  });
}

int64_t tenon::countBf16Pairs(int64_t channels) {
  int64_t step = chooseStep(channels);
  return (channels + step - 1) / step * step / 2;
}

void tenon::transformFilterToBf16(const WinogradTransforms &transforms, const FilterShape &shape, const float *filter,
                                  int64_t panel, uint16_t *result) {
  int64_t side = transforms.input.rows, points = side * side, numPanels = (shape.filters + panel - 1) / panel;
  int64_t pairs = countBf16Pairs(shape.channels);
  std::fill_n(result, numPanels * points * pairs * panel * 2, uint16_t(0));
  transformWindows(transforms, shape, filter, [&](int64_t p, int64_t c, int64_t f, double element) {
    uint32_t bits = std::bit_cast<uint32_t>(roundToBf16(float(element)));
    result[(((f / panel * points + p) * pairs + c / 2) * panel + f % panel) * 2 + c % 2] = uint16_t(bits >> 16);
  });
}

Int16Groups tenon::getWinogradGroups(int64_t channels) {
  assert(channels > 0 && "a convolution sums channels");
  return Int16Groups((channels + 1) / 2 * 2);
}

void tenon::transformFilterToScaledI16(const WinogradTransforms &transforms, const FilterShape &shape,
                                       const float *filter, int64_t panel, int32_t *result, float *scales) {
  int64_t side = transforms.input.rows, points = side * side, numPanels = (shape.filters + panel - 1) / panel;
  int64_t pairs = (shape.channels + 1) / 2;
  Int16Groups groups = getWinogradGroups(shape.channels);
  std::vector<double> largest(points * shape.filters), sums(points * shape.filters);
  transformWindows(transforms, shape, filter, [&](int64_t p, int64_t, int64_t f, double element) {
    largest[p * shape.filters + f] = std::max(largest[p * shape.filters + f], std::abs(element));
    sums[p * shape.filters + f] += std::abs(element);
  });
  std::fill_n(scales, shape.filters, 0.0f);
  for (int64_t i = 0; i < points * shape.filters; ++i)
    scales[i % shape.filters] = std::max(scales[i % shape.filters], groups.chooseScale(largest[i], sums[i]));
  std::fill_n(result, numPanels * points * pairs * panel, 0);
  transformWindows(transforms, shape, filter, [&](int64_t p, int64_t c, int64_t f, double element) {
    double number = scales[f] > 0 ? std::nearbyint(element / scales[f]) : 0;
    uint32_t word = uint16_t(int16_t(number));
    result[((f / panel * points + p) * pairs + c / 2) * panel + f % panel] |= int32_t(c % 2 ? word << 16 : word);
  });
}

bool tenon::fitsIntegerTransforms(const IntegerTransforms &transforms, const FilterShape &shape, const int8_t *filter) {
  constexpr int64_t kLargestInput = 255; // math: of u8
  int64_t most = std::numeric_limits<int32_t>::max() >> getScaleInverse(transforms).shift;
  std::vector<int64_t> positive(shape.filters), negative(shape.filters);
  for (int64_t i = 0; i < shape.window * shape.window * shape.channels; ++i)
    for (int64_t f = 0; f < shape.filters; ++f) {
      int64_t element = filter[i * shape.filters + f];
      (element > 0 ? positive : negative)[f] += std::abs(element);
    }
  auto fits = [&](int64_t sum) { return sum * kLargestInput <= most; };
  return std::all_of(positive.begin(), positive.end(), fits) && std::all_of(negative.begin(), negative.end(), fits);
}

/// Rounds the transformed squares of all channels, [channel, point], as kernels do.
static void roundSquares(std::vector<float> &squares, int64_t points, WinogradFactors factors) {
  int64_t channels = static_cast<int64_t>(squares.size()) / points;
  if (factors == WinogradFactors::bf16)
    std::transform(squares.begin(), squares.end(), squares.begin(), roundToBf16);
  if (factors != WinogradFactors::scaledI16)
    return;
  auto most = static_cast<float>(getWinogradGroups(channels).getLargestOfRow());
  for (int64_t p = 0; p < points; ++p) {
    float largest = 0;
    for (int64_t c = 0; c < channels; ++c)
      largest = std::max(largest, std::abs(squares[c * points + p]));
    for (int64_t c = 0; c < channels && largest > 0; ++c)
      squares[c * points + p] = std::nearbyint(squares[c * points + p] * (most / largest)) * (largest / most);
  }
}

/// Returns a transformed filter, [channel, point], with the numbers that its factors have.
static std::vector<float> roundFilter(const WinogradTransforms &transforms, const FilterShape &shape,
                                      const float *filter, WinogradFactors factors) {
  int64_t points = transforms.input.rows * transforms.input.rows;
  std::vector<float> result(shape.channels * points);
  if (factors == WinogradFactors::scaledI16) {
    std::vector<int32_t> words(points * ((shape.channels + 1) / 2));
    float scale = 0;
    transformFilterToScaledI16(transforms, shape, filter, /*panel=*/1, words.data(), &scale);
    for (int64_t c = 0; c < shape.channels; ++c)
      for (int64_t p = 0; p < points; ++p) {
        auto word = uint32_t(words[p * ((shape.channels + 1) / 2) + c / 2]);
        result[c * points + p] = float(int16_t(c % 2 ? word >> 16 : word & 0xffff)) * scale;
      }
    return result;
  }
  transformWindows(transforms, shape, filter, [&](int64_t p, int64_t c, int64_t, double element) {
    result[c * points + p] = factors == WinogradFactors::bf16 ? roundToBf16(float(element)) : float(element);
  });
  return result;
}

double tenon::measureWinogradError(const WinogradTransforms &transforms, const FilterShape &shape, const float *filter,
                                   WinogradFactors factors) {
  assert(factors != WinogradFactors::i16 && "convolutions of integers are exact");
  constexpr int64_t kTiles = 2, kFilters = 16; // limit: compile time of a measurement
  int64_t side = transforms.input.rows, points = side * side, outputs = transforms.output.rows, window = shape.window;
  int64_t step = std::max<int64_t>(shape.filters / kFilters, 1), taps = window * window;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  double largest = 0, difference = 0;
  std::vector<float> inputs[kTiles], squares[kTiles], weights(taps * shape.channels), products(points),
      results(outputs * outputs);
  for (int64_t tile = 0; tile < kTiles; ++tile) {
    inputs[tile].resize(shape.channels * points);
    squares[tile].resize(shape.channels * points);
    for (float &x : inputs[tile])
      x = std::max(normal(random), 0.0f);
    for (int64_t c = 0; c < shape.channels; ++c)
      applyBoth(transforms.input, &inputs[tile][c * points], &squares[tile][c * points]);
    roundSquares(squares[tile], points, factors);
  }
  for (int64_t f = 0; f < shape.filters; f += step) {
    for (int64_t i = 0; i < taps * shape.channels; ++i)
      weights[i] = filter[i * shape.filters + f];
    std::vector<float> transformed = roundFilter(transforms, {window, shape.channels, 1}, weights.data(), factors);
    for (int64_t tile = 0; tile < kTiles; ++tile) {
      std::fill(products.begin(), products.end(), 0.0f);
      std::vector<double> exact(outputs * outputs);
      for (int64_t c = 0; c < shape.channels; ++c) {
        for (int64_t p = 0; p < points; ++p)
          products[p] = std::fma(transformed[c * points + p], squares[tile][c * points + p], products[p]);
        for (int64_t y = 0; y < outputs; ++y)
          for (int64_t x = 0; x < outputs; ++x)
            for (int64_t w = 0; w < taps; ++w)
              exact[y * outputs + x] += double(weights[w * shape.channels + c]) *
                                        inputs[tile][c * points + (y + w / window) * side + x + w % window];
      }
      applyBoth(transforms.output, products.data(), results.data());
      for (int64_t i = 0; i < outputs * outputs; ++i) {
        largest = std::max(largest, std::abs(exact[i]));
        difference = std::max(difference, std::abs(exact[i] - results[i]));
      }
    }
  }
  return largest > 0 ? difference / largest : 0;
}
