//===- Bf16Terms.cpp - f32 as a sum of bf16 terms -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/split/Bf16Terms.h"
#include <algorithm>
#include <bit>

using namespace tenon;

int64_t tenon::chooseStep(int64_t depth) {
  int64_t steps = std::max<int64_t>(1, (depth + kMaxOfStep - 1) / kMaxOfStep);
  return std::max<int64_t>(1, (depth + 2 * steps - 1) / (2 * steps)) * 2;
}

/// Rounds to the nearest bf16, ties to even, and returns its bits. NaN stays NaN.
static uint32_t getRoundedBits(float x) {
  uint32_t bits = std::bit_cast<uint32_t>(x);
  if (x != x)
    return (bits >> 16) | 0x40;
  return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

float tenon::roundToBf16(float x) { return std::bit_cast<float>(getRoundedBits(x) << 16); }

/// Returns the next term of `rest`, and subtracts it from `rest`.
static uint16_t splitOff(float &rest, bool isRounded) {
  uint32_t bf16 = isRounded ? getRoundedBits(rest) : std::bit_cast<uint32_t>(rest) >> 16;
  rest -= std::bit_cast<float>(bf16 << 16);
  return static_cast<uint16_t>(bf16);
}

/// Calls `place` with each element and the index of its first term.
template <typename Place> static void forElements(const TermPacking &p, const float *source, Place place) {
  int64_t term = p.step * kTermColumns, panel = 0;
  for (int64_t first = 0; first < p.columns; first += kTermColumns)
    for (int64_t outer = 0; outer < p.outer; ++outer) {
      int64_t width = std::min(kTermColumns, p.columns - first);
      const float *from = source + outer * p.outerStride + first * p.columnStride;
      for (int64_t k = 0; k < p.depth; ++k) {
        int64_t row = panel + k / p.step * p.numTerms * term + k % p.step / 2 * 2 * kTermColumns + k % 2;
        for (int64_t column = 0; column < width; ++column)
          place(from[k * p.depthStride + column * p.columnStride], row + 2 * column);
      }
      panel += p.getNumSteps() * p.numTerms * term;
    }
}

void tenon::packTerms(const TermPacking &p, const float *source, uint16_t *target) {
  int64_t term = p.step * kTermColumns;
  forElements(p, source, [&](float rest, int64_t place) {
    for (int64_t i = 0; i < p.numTerms; ++i)
      target[place + i * term] = splitOff(rest, p.numTerms < 3);
  });
}

void tenon::packWhole(const TermPacking &p, const float *source, float *target) {
  forElements(p, source, [&](float element, int64_t place) { target[place] = element; });
}
