//===- Int8Terms.cpp - f32 as a sum of int8 terms with a scale -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/split/Int8Terms.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

using namespace tenon;

Int8Columns tenon::measureColumns(const TermPacking &p, const float *source) {
  Int8Columns columns{std::vector<float>(p.columns), std::vector<double>(p.columns)};
  forTerms(p, source, [&](float element, int64_t column, int64_t) {
    columns.scales[column] = std::max(columns.scales[column], std::fabs(element));
    columns.squares[column] += static_cast<double>(element) * element;
  });
  for (int64_t i = 0; i < p.columns; ++i) {
    bool isFinite = std::isfinite(columns.squares[i]);
    columns.isFinite &= isFinite;
    columns.scales[i] =
        isFinite ? static_cast<float>(columns.scales[i] / kLargestInt8) : std::numeric_limits<float>::quiet_NaN();
  }
  return columns;
}

/// The units of the last term in 1.
static double getUnits(int64_t numTerms) { return std::exp2(kInt8TermBits * (numTerms - 1)); }

void tenon::packInt8Terms(const TermPacking &p, const float *scales, const float *source, int8_t *target) {
  int64_t term = p.step * kTermColumns;
  double units = getUnits(p.numTerms), most = kLargestInt8 * units;
  forTerms(p, source, [&](float element, int64_t column, int64_t place) {
    // Not of columns of zeros, or of what is not finite.
    double scale = scales[column], exact = scale > 0 ? element / scale * units : 0;
    auto rest = static_cast<int32_t>(std::nearbyint(std::clamp(exact, -most, most)));
    for (int64_t i = p.numTerms; i-- > 0;) {
      auto digit = static_cast<int8_t>(rest);
      target[place + i * term] = digit;
      rest = (rest - digit) >> kInt8TermBits;
    }
  });
}

bool tenon::fitInt8Sums(int64_t depth, int64_t numTerms) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max() / (128 * 128); // math: products of the least digits
  return depth <= kMost / numTerms;
}

double tenon::getInt8RowError(int64_t numTerms, double crest) {
  return crest / (kLargestInt8 * getUnits(numTerms)) / std::sqrt(12.0);
}

double tenon::getInt8TermError(const Int8Columns &columns, int64_t depth, int64_t numTerms, double crest) {
  if (!columns.isFinite)
    return std::numeric_limits<double>::infinity();
  // Terms but the first are equally distributed digits. Those that are left out and count most are (i, j) with
  // i + j = numTerms and i, j > 0.
  const double kDigit = 256 / std::sqrt(12.0); // math: their root mean square
  double leftOut = kDigit * kDigit * std::sqrt(static_cast<double>(numTerms - 1)) *
                   std::exp2(-kInt8TermBits * numTerms) * crest / kLargestInt8;
  double rounding = 1 / getUnits(numTerms) / std::sqrt(12.0), ofRows = getInt8RowError(numTerms, crest);
  double largest = *std::max_element(columns.squares.begin(), columns.squares.end()), worst = 0;
  for (size_t i = 0; i < columns.scales.size(); ++i) {
    double scale = columns.scales[i], perElement = std::hypot(rounding, leftOut) * scale;
    worst =
        std::max(worst, perElement * perElement * static_cast<double>(depth) + ofRows * ofRows * columns.squares[i]);
  }
  return largest > 0 ? std::sqrt(worst / largest) : 0;
}
