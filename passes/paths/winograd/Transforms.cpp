//===- Transforms.cpp - the matrices of Winograd convolutions -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/winograd/Transforms.h"
#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <random>

using namespace tenon;

/// Where the polynomials are evaluated, beside infinity. Pairs of opposite points share half of their arithmetic.
/// Those for 4 outputs have a third of the error of 0, +-1, +-2: found by trying multiples of 1/8.
static const std::vector<double> *getPoints(int64_t outputs, int64_t window) {
  static const std::vector<double> four{0, 1, -1}, six{0, 0.75, -0.75, 1.5, -1.5},
      eight{0, 0.5, -0.5, 1, -1, 1.75, -1.75};
  if (window != 3)
    return nullptr;
  return outputs == 2 ? &four : outputs == 4 ? &six : outputs == 6 ? &eight : nullptr;
}

bool tenon::hasWinogradTransforms(int64_t outputs, int64_t window) { return getPoints(outputs, window) != nullptr; }

/// The coefficients of the product of (x - p) over all points but number `skipped`.
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

WinogradTransforms tenon::getWinogradTransforms(int64_t outputs, int64_t window) {
  const std::vector<double> *points = getPoints(outputs, window);
  assert(points && "ask hasWinogradTransforms before");
  int64_t side = outputs + window - 1, last = side - 1;
  WinogradTransforms t{SmallMatrix(side, side), SmallMatrix(side, window), SmallMatrix(outputs, side)};
  for (int64_t j = 0; j < last; ++j) {
    double point = (*points)[j], distance = 1;
    for (int64_t k = 0; k < last; ++k)
      distance *= k == j ? 1 : point - (*points)[k];
    for (int64_t i = 0; i < outputs; ++i)
      t.output.at(i, j) = std::pow(point, i);
    for (int64_t i = 0; i < window; ++i)
      t.filter.at(j, i) = std::pow(point, i) / distance;
    std::vector<double> polynomial = multiplyOut(*points, j);
    std::copy(polynomial.begin(), polynomial.end(), &t.input.at(j, 0));
  }
  // The point at infinity.
  t.output.at(outputs - 1, last) = 1;
  t.filter.at(last, window - 1) = 1;
  std::vector<double> polynomial = multiplyOut(*points, points->size());
  std::copy(polynomial.begin(), polynomial.end(), &t.input.at(last, 0));
  return t;
}

static constexpr int64_t kMaxSide = 8;

/// matrix * x * transpose(matrix), for a square x.
template <typename T>
static void applyBoth(const SmallMatrix &matrix, const T *x, T *result) {
  int64_t rows = matrix.rows, columns = matrix.columns;
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

void tenon::transformFilter(const WinogradTransforms &transforms, const FilterShape &shape, const float *filter,
                            int64_t panel, float *result) {
  int64_t side = transforms.input.rows, points = side * side, numPanels = (shape.filters + panel - 1) / panel;
  std::fill_n(result, numPanels * points * shape.channels * panel, 0.0f);
  std::vector<double> window(shape.window * shape.window), transformed(points);
  for (int64_t c = 0; c < shape.channels; ++c)
    for (int64_t f = 0; f < shape.filters; ++f) {
      for (int64_t w = 0; w < shape.window * shape.window; ++w)
        window[w] = filter[(w * shape.channels + c) * shape.filters + f];
      applyBoth(transforms.filter, window.data(), transformed.data());
      for (int64_t p = 0; p < points; ++p)
        result[((f / panel * points + p) * shape.channels + c) * panel + f % panel] = float(transformed[p]);
    }
}

double tenon::measureWinogradError(const WinogradTransforms &transforms, const FilterShape &shape,
                                   const float *filter) {
  constexpr int64_t kTiles = 2, kFilters = 16;
  int64_t side = transforms.input.rows, points = side * side, outputs = transforms.output.rows, window = shape.window;
  int64_t step = std::max<int64_t>(shape.filters / kFilters, 1);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  double largest = 0, difference = 0;
  std::vector<float> input(shape.channels * points), transformed(shape.channels * points), products(points),
      results(outputs * outputs);
  std::vector<double> weights(window * window), transformedWeights(points);
  for (int64_t tile = 0; tile < kTiles; ++tile) {
    for (float &x : input)
      x = std::max(normal(random), 0.0f);
    for (int64_t c = 0; c < shape.channels; ++c)
      applyBoth(transforms.input, &input[c * points], &transformed[c * points]);
    for (int64_t f = 0; f < shape.filters; f += step) {
      std::fill(products.begin(), products.end(), 0.0f);
      std::vector<double> exact(outputs * outputs);
      for (int64_t c = 0; c < shape.channels; ++c) {
        for (int64_t w = 0; w < window * window; ++w)
          weights[w] = filter[(w * shape.channels + c) * shape.filters + f];
        applyBoth(transforms.filter, weights.data(), transformedWeights.data());
        for (int64_t p = 0; p < points; ++p)
          products[p] = std::fma(float(transformedWeights[p]), transformed[c * points + p], products[p]);
        for (int64_t y = 0; y < outputs; ++y)
          for (int64_t x = 0; x < outputs; ++x)
            for (int64_t w = 0; w < window * window; ++w)
              exact[y * outputs + x] +=
                  weights[w] * input[c * points + (y + w / window) * side + x + w % window];
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
