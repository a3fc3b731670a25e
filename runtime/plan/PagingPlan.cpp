//===- PagingPlan.cpp - which weights stay and which come and go --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/PagingPlan.h"

#include <algorithm>
#include <cassert>

namespace tenon::rt {

// policy: the number of blocks that are pinned or streamed together, so that reads are of a megabyte.
static constexpr uint64_t kTogether = 4;
// policy: the number of window sizes that are tried, from a part of the budget to all of it.
static constexpr uint64_t kWindows = 16;
// policy: a smaller window is preferred if it is at most this much slower, which is within the measurement noise.
static constexpr double kSame = 0.01;

PagingPlan makeFirstPagingPlan(const WeightUses &uses, uint64_t budget) {
  PagingPlan plan;
  plan.pinned.resize(uses.numBlocks);
  plan.window = budget;
  return plan;
}

namespace {
/// Chooses what stays.
class Pins {
public:
  explicit Pins(const WeightUses &uses);
  /// Lets `room` blocks stay.
  void choose(uint64_t room, PagingPlan &plan) const;

private:
  std::vector<uint64_t> inLoops, others; // blocks by their first use
};
} // namespace

Pins::Pins(const WeightUses &uses) {
  std::vector<uint8_t> isInLoop(uses.numBlocks);
  for (uint32_t i = 0; i < uses.of.size(); ++i)
    for (uint32_t k = 0; k < uses.of[i].count && uses.loops[i]; ++k) {
      const BlockRange &range = uses.ranges[uses.of[i].begin + k];
      std::fill(isInLoop.begin() + ptrdiff_t(range.begin), isInLoop.begin() + ptrdiff_t(range.end), 1);
    }
  for (const BlockRange &range : uses.listByFirstUse())
    for (uint64_t block = range.begin; block < range.end; ++block)
      (isInLoop[block] ? inLoops : others).push_back(block);
}

/// Pins `room` blocks of `order`, evenly spread, so that there is always something to compute while the next streamed
/// block is read.
static void spread(const std::vector<uint64_t> &order, uint64_t room, PagingPlan &plan) {
  assert(plan.pinned.size() >= order.size() && "a block is listed once");
  uint64_t groups = (order.size() + kTogether - 1) / kTogether,
           pinned = room >= order.size() ? groups : room / kTogether;
  for (uint64_t i = 0; i < order.size(); ++i) {
    uint64_t group = i / kTogether;
    if ((group + 1) * pinned / groups == group * pinned / groups)
      continue;
    plan.pinned[order[i]] = 1;
    ++plan.numPinned;
  }
}

void Pins::choose(uint64_t room, PagingPlan &plan) const {
  // Blocks that a loop reads come first, since they would be read again in each iteration.
  spread(inLoops, room, plan);
  if (plan.numPinned == inLoops.size())
    spread(others, room - plan.numPinned, plan);
}

/// Returns the largest number of streamed blocks of one instruction.
static uint64_t largestStreamed(const WeightUses &uses, const PagingPlan &plan) {
  uint64_t most = 0;
  for (const IndexRange &own : uses.of) {
    uint64_t streamed = 0;
    for (uint32_t k = 0; k < own.count; ++k) {
      const BlockRange &range = uses.ranges[own.begin + k];
      for (uint64_t block = range.begin; block < range.end; ++block)
        streamed += !plan.pinned[block];
    }
    most = std::max(most, streamed);
  }
  return most;
}

double simulateRun(const WeightUses &uses, const PagingPlan &plan, const PagingTimes &times) {
  assert(plan.pinned.size() == uses.numBlocks && times.compute.size() == uses.of.size() &&
         "a plan tells of each block, and times of each instruction");
  struct Step {
    uint64_t blocks; // that are read for it
    double compute;
  };
  std::vector<Step> steps;
  for (uint32_t i = 0; i < uses.of.size(); ++i) {
    uint64_t streamed = 0;
    for (uint32_t k = 0; k < uses.of[i].count; ++k) {
      const BlockRange &range = uses.ranges[uses.of[i].begin + k];
      for (uint64_t block = range.begin; block < range.end; ++block)
        streamed += !plan.pinned[block];
    }
    steps.push_back({streamed, times.compute[i]});
  }
  // Simulates two runs; the second one begins like a run in a sequence, with its first blocks already read.
  double computed = 0, read = 0, firstEnd = 0;
  std::vector<double> ends(2 * steps.size());
  size_t oldest = 0;
  uint64_t held = 0;
  for (size_t i = 0; i < ends.size(); ++i) {
    const Step &step = steps[i % steps.size()];
    for (held += step.blocks; held > plan.window && oldest < i; ++oldest) {
      held -= steps[oldest % steps.size()].blocks;
      read = std::max(read, ends[oldest]);
    }
    if (step.blocks)
      read += double(step.blocks) * times.readBlock;
    computed = ends[i] = std::max(computed, step.blocks ? read : 0) + step.compute;
    if (i + 1 == steps.size())
      firstEnd = computed;
  }
  return computed - firstEnd;
}

PagingPlan makePagingPlan(const WeightUses &uses, uint64_t budget, const PagingTimes &times) {
  Pins pins(uses);
  std::vector<PagingPlan> plans;
  for (uint64_t part = 0; part <= kWindows; ++part) {
    PagingPlan plan = makeFirstPagingPlan(uses, budget * part / kWindows);
    pins.choose(budget - plan.window, plan);
    // What is left over by groups widens the window.
    assert(plan.numPinned <= budget && "no more blocks stay than the budget has");
    plan.window = budget - plan.numPinned;
    if (largestStreamed(uses, plan) > plan.window)
      continue;
    plan.seconds = simulateRun(uses, plan, times);
    plans.push_back(std::move(plan));
  }
  if (plans.empty())
    return makeFirstPagingPlan(uses, budget);
  double best = plans.front().seconds;
  for (const PagingPlan &plan : plans)
    best = std::min(best, plan.seconds);
  // The narrowest comes first.
  for (PagingPlan &plan : plans)
    if (plan.seconds <= best * (1 + kSame))
      return std::move(plan);
  return std::move(plans.back());
}

} // namespace tenon::rt
