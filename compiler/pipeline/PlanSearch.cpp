//===- PlanSearch.cpp - plans that need less and less memory --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/PlanSearch.h"
#include <algorithm>

using namespace tenon;

/// For an order: about a second.
static constexpr int64_t kOrderingSteps = 200'000'000;
/// More activations are not computed again.
static constexpr int64_t kMaxRecomputed = 256;
/// Nor where so many plans in a row were no better.
static constexpr size_t kMaxIdle = 5;

std::optional<PlanOptions> PlanSearch::getNext() {
  if (step == Step::none)
    return std::nullopt;
  if (count == 1) {
    current.orderingSteps = kOrderingSteps;
  } else if (step == Step::recompute) {
    current.recomputed = std::max<int64_t>(1, 2 * current.recomputed);
  } else if (step == Step::stream) {
    current = best;
    assert(bestBytes && *bestBytes >= bestWeightBytes && "weights are a part of what the best plan needs");
    uint64_t others = *bestBytes - bestWeightBytes;
    current.weightBudget = limit > others ? static_cast<int64_t>(limit - others) : 0;
  }
  ++count;
  return current;
}

bool PlanSearch::report(uint64_t bytes, uint64_t weightBytes) {
  assert(step != Step::none && "a plan is reported that the search asked for");
  bool isBetter = !bestBytes || bytes < *bestBytes;
  ++sinceBest;
  if (isBetter) {
    sinceBest = 0;
    best = current;
    bestBytes = bytes;
    bestWeightBytes = weightBytes;
  }
  // What no plan can keep is not searched for.
  if (bytes <= limit || bytes == UINT64_MAX || step == Step::stream)
    step = Step::none;
  else if (step == Step::order)
    step = count > 1 ? Step::recompute : Step::order;
  else if (current.recomputed >= kMaxRecomputed || (current.recomputed && sinceBest >= kMaxIdle))
    step = Step::stream;
  return isBetter;
}
