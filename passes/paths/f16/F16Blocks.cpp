//===- F16Blocks.cpp - sums of products of f16 in short blocks ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/f16/F16Blocks.h"
#include <algorithm>
#include <cassert>
#include <cmath>

using namespace tenon;

std::optional<int> tenon::chooseF16Exponent(float largest) {
  assert(!(largest < 0) && "a magnitude has no sign");
  constexpr int kScaledExponent = 8;  // math: 4 * 2^8 * 32 products are 2^15, half of the largest f16
  constexpr int kMostOfExponent = 64; // limit: results times 2^64 are f32 at any depth
  if (!std::isfinite(largest))
    return std::nullopt;
  if (largest == 0)
    return 0;
  int exponent;
  std::frexp(largest, &exponent); // largest < 2^exponent
  int chosen = kScaledExponent - exponent;
  return std::abs(chosen) <= kMostOfExponent ? std::optional(chosen) : std::nullopt;
}

/// Returns the sum of the variances of all partial sums of a block that are rounded, in units of that of a product.
static double getRoundedVariance(int64_t products) {
  double variance = 0;
  for (int64_t first = 0; first < products; first += kF16ChainProducts) {
    auto length = static_cast<double>(std::min(kF16ChainProducts, products - first));
    variance += length * (length + 1) / 2;
    // The first chain is added to zero.
    if (first > 0)
      variance += static_cast<double>(first) + length;
  }
  return variance;
}

double tenon::getF16SumError(int64_t depth) {
  assert(depth > 0 && "a sum has a product");
  double blocks = static_cast<double>(depth / kF16BlockProducts);
  double variance = blocks * getRoundedVariance(kF16BlockProducts) + getRoundedVariance(depth % kF16BlockProducts);
  return kF16RoundingError * std::sqrt(variance / static_cast<double>(depth));
}
