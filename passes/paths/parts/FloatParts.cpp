//===- FloatParts.cpp - floats as sums of shorter ones -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/parts/FloatParts.h"
#include <algorithm>
#include <bit>

using namespace tenon;

int64_t tenon::chooseStep(int64_t depth) {
  int64_t steps = std::max<int64_t>(1, (depth + kMaxOfStep - 1) / kMaxOfStep);
  return std::max<int64_t>(1, (depth + 2 * steps - 1) / (2 * steps)) * 2;
}

/// The bits of the bf16 that is closest, of two the even one. NaN stays NaN.
static uint32_t roundToHalf(float x) {
  uint32_t bits = std::bit_cast<uint32_t>(x);
  if (x != x)
    return (bits >> 16) | 0x40;
  return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

/// The next part of `rest`, which becomes what is left.
static uint16_t cutPart(float &rest, bool isRounded) {
  uint32_t half = isRounded ? roundToHalf(rest) : std::bit_cast<uint32_t>(rest) >> 16;
  rest -= std::bit_cast<float>(half << 16);
  return static_cast<uint16_t>(half);
}

/// Gives `place` each element, and where its first part is.
template <typename Place> static void forElements(const PartPacking &p, const float *source, Place place) {
  int64_t part = p.step * kPartColumns, panel = 0;
  for (int64_t first = 0; first < p.columns; first += kPartColumns)
    for (int64_t outer = 0; outer < p.outer; ++outer) {
      int64_t width = std::min(kPartColumns, p.columns - first);
      const float *from = source + outer * p.outerStride + first * p.columnStride;
      for (int64_t k = 0; k < p.depth; ++k) {
        int64_t row = panel + k / p.step * p.numParts * part + k % p.step / 2 * 2 * kPartColumns + k % 2;
        for (int64_t column = 0; column < width; ++column)
          place(from[k * p.depthStride + column * p.columnStride], row + 2 * column);
      }
      panel += p.getNumSteps() * p.numParts * part;
    }
}

void tenon::packParts(const PartPacking &p, const float *source, uint16_t *target) {
  int64_t part = p.step * kPartColumns;
  forElements(p, source, [&](float rest, int64_t place) {
    for (int64_t i = 0; i < p.numParts; ++i)
      target[place + i * part] = cutPart(rest, p.numParts < 3);
  });
}

void tenon::packWhole(const PartPacking &p, const float *source, float *target) {
  forElements(p, source, [&](float element, int64_t place) { target[place] = element; });
}
