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

int64_t tenon::chooseStep(int64_t depth, int64_t neighbours) {
  constexpr int64_t kRows = 16; // format: of an AMX tile
  int64_t most = kRows * neighbours, steps = std::max<int64_t>(1, (depth + most - 1) / most), all = neighbours * steps;
  return std::max<int64_t>(1, (depth + all - 1) / all) * neighbours;
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

void tenon::packTerms(const TermPacking &p, const float *source, uint16_t *target) {
  int64_t term = p.step * kTermColumns;
  forTerms(p, source, [&](float rest, int64_t, int64_t place) {
    for (int64_t i = 0; i < p.numTerms; ++i)
      target[place + i * term] = splitOff(rest, p.numTerms < 3);
  });
}

void tenon::packWhole(const TermPacking &p, const float *source, float *target) {
  forTerms(p, source, [&](float element, int64_t, int64_t place) { target[place] = element; });
}
