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
  int64_t best = kMostOfStep, least = -1;
  // Half as long steps at most twice as many.
  for (int64_t step = kMostOfStep; step >= kMostOfStep / 2; step -= 2) {
    int64_t beyond = (depth + step - 1) / step * step - depth;
    if (least >= 0 && beyond >= least)
      continue;
    best = step;
    least = beyond;
  }
  return depth < kMostOfStep / 2 ? depth + depth % 2 : best;
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

void tenon::packParts(const PartPacking &p, const float *source, uint16_t *target) {
  int64_t part = p.step * kPartColumns;
  for (int64_t first = 0; first < p.columns; first += kPartColumns)
    for (int64_t outer = 0; outer < p.outer; ++outer) {
      int64_t width = std::min(kPartColumns, p.columns - first);
      const float *from = source + outer * p.outerStride + first * p.columnStride;
      for (int64_t k = 0; k < p.depth; ++k) {
        uint16_t *row = target + k / p.step * p.numParts * part + k % p.step / 2 * 2 * kPartColumns + k % 2;
        for (int64_t column = 0; column < width; ++column) {
          float rest = from[k * p.depthStride + column * p.columnStride];
          for (int64_t i = 0; i < p.numParts; ++i)
            row[i * part + 2 * column] = cutPart(rest, p.numParts < 3);
        }
      }
      target += p.getNumSteps() * p.numParts * part;
    }
}
