//===- EmitterChoices.cpp - numbers that shape the loops of a contraction -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/EmitterChoices.h"
#include "passes/cost/CacheLines.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cassert>
#include <numeric>

using namespace tenon;

int64_t tenon::chooseUnrolledSteps(const InnerLoop &loop, const EmitterPolicy &policy) {
  // If the number of taps in bounds is not known, it is taken to be small.
  if (loop.hasFewRegisters ? loop.isWindow && !loop.steps : loop.isWindow || !loop.steps)
    return 1;
  if (loop.hasFewRegisters && loop.steps && *loop.steps <= policy.maxUnrolledSteps)
    return std::max<int64_t>(*loop.steps, 1);
  int64_t unrolled = 1;
  while (unrolled < policy.maxUnrolledSteps && unrolled * loop.products < policy.minLoopProducts &&
         (loop.hasFewRegisters || *loop.steps % (2 * unrolled) == 0))
    unrolled *= 2;
  return unrolled;
}

std::optional<KBlocks> tenon::chooseKBlocks(int64_t steps, int64_t elementBytes, const EmitterPolicy &policy) {
  assert(steps >= 0 && elementBytes > 0 && "a sum has elements of some size");
  if (steps * elementBytes <= policy.maxUnblockedBytes)
    return std::nullopt;
  auto count = static_cast<int64_t>(llvm::divideCeil(steps * elementBytes, policy.kBlockBytes));
  return KBlocks{count, static_cast<int64_t>(llvm::alignTo(llvm::divideCeil(steps, count), 2))};
}

bool tenon::sharesFewSets(int64_t pixelBytes, int64_t taps, const PackingPolicy &policy) {
  assert(pixelBytes > 0 && "neighbouring pixels have different addresses");
  // A block of rows reads the filter and twice as many pixels, and writes some lines; the hardware also prefetches the
  // lines that follow.
  int64_t lines = 2 * (3 * taps + policy.writtenLines), sets = kL1SetBytes / std::gcd(pixelBytes, kL1SetBytes);
  return taps > 1 && taps <= policy.maxTaps && sets <= policy.maxSets && sets * policy.setLines < lines;
}
