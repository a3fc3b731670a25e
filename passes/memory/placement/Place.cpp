//===- Place.cpp - places for buffers in the smallest arena ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/placement/Place.h"
#include "passes/memory/placement/ExactSearch.h"
#include "passes/memory/placement/Greedy.h"
#include "passes/memory/placement/Sweep.h"
#include <cassert>
#include <numeric>

using namespace tenon::placement;

/// With more buffers, greedy orders take too long if many are in use at one time.
static constexpr size_t kMaxOrdered = 30000; // limit: compile time
/// With more buffers, a search has no prospect of success.
static constexpr size_t kMaxSearched = 2000; // limit: compile time

namespace {

/// The buffers of an interval of time that no other buffers extend into.
struct Part {
  Instance buffers;
  std::vector<size_t> numbers; ///< in the whole instance
  int64_t bound = 0;
  GreedyPlacement best; ///< its placement may come from elsewhere
};

} // namespace

/// Splits an instance at times at which nothing is in use, or at which buffers only end and begin.
static std::vector<Part> split(const Instance &instance) {
  std::vector<size_t> byLower;
  for (size_t i = 0; i < instance.size(); ++i)
    if (instance[i].takesPlace())
      byLower.push_back(i);
  std::sort(byLower.begin(), byLower.end(),
            [&](size_t a, size_t b) { return std::pair(instance[a].lower, a) < std::pair(instance[b].lower, b); });
  std::vector<Part> parts;
  int64_t upper = 0;
  for (size_t i : byLower) {
    if (parts.empty() || instance[i].lower >= upper) {
      parts.emplace_back();
      upper = instance[i].upper;
    }
    upper = std::max(upper, instance[i].upper);
    parts.back().buffers.push_back(instance[i]);
    parts.back().numbers.push_back(i);
  }
  return parts;
}

/// Rounds the sizes up to multiples of all alignments, if these have a small common multiple. The search can then
/// ignore alignments.
static std::optional<Instance> roundSizes(const Instance &instance) {
  constexpr int64_t kMaxUnit = 4096; // limit: sums of rounded sizes stay in 64 bits
  int64_t unit = 1;
  for (const Buffer &buffer : instance) {
    if (buffer.alignment > kMaxUnit || (unit = std::lcm(unit, buffer.alignment)) > kMaxUnit)
      return std::nullopt;
  }
  Instance rounded = instance;
  int64_t sum = 0;
  for (Buffer &buffer : rounded) {
    if (__builtin_add_overflow(sum, buffer.size, &sum) || __builtin_add_overflow(sum, unit, &sum))
      return std::nullopt;
    buffer.size = alignTo(buffer.size, unit);
  }
  return rounded;
}

static bool haveSameSizes(const Instance &a, const Instance &b) {
  return std::equal(a.begin(), a.end(), b.begin(), [](const Buffer &x, const Buffer &y) { return x.size == y.size; });
}

/// Searches for an arena of `capacity` bytes, and updates the placement and bound of the part.
static SearchEnd searchPart(Part &part, const Instance &rounded, int64_t capacity, Budget &budget, int64_t share) {
  Budget own = budget.part(share);
  int64_t before = own.left();
  Placement placement;
  SearchEnd end = searchPlacement(rounded, capacity, own, placement);
  budget.spend(before - own.left());
  if (end == SearchEnd::found)
    part.best.placement = {placement.offsets, getPeak(part.buffers, placement.offsets)};
  else if (end == SearchEnd::impossible && haveSameSizes(rounded, part.buffers))
    part.bound = capacity + 1;
  return end;
}

/// Improves the greedy placement until the arena has at most `target` bytes: first by a short search, which usually
/// suffices, then by other orders, and then by bisection with searches between the target and the current size.
static void improvePart(Part &part, int64_t target, Budget &budget) {
  const int64_t &peak = part.best.placement.peak;
  if (peak <= target || part.best.order.empty())
    return;
  std::optional<Instance> rounded = roundSizes(part.buffers);
  bool canSearch = rounded && part.buffers.size() <= kMaxSearched;
  if (canSearch && searchPart(part, *rounded, target, budget, 4) == SearchEnd::found)
    return;
  Budget own = budget.part(8);
  int64_t before = own.left();
  improve(part.buffers, Conflicts(part.buffers), target, own, part.best);
  budget.spend(before - own.left());
  for (int64_t capacity = target; canSearch && peak > target && !budget.isSpent();) {
    if (part.bound > capacity || searchPart(part, *rounded, capacity, budget, 4) != SearchEnd::found)
      target = capacity + 1;
    capacity = target + (peak - target) / 2;
  }
}

static GreedyPlacement placeGreedilyAtAnySize(const Instance &instance, int64_t target, Budget &budget) {
  Conflicts conflicts(instance);
  if (!conflicts.isListed() && instance.size() > kMaxOrdered)
    return {placeBySweep(instance), {}, Fit::first};
  return placeGreedily(instance, conflicts, target, budget);
}

PlaceResult tenon::placement::place(const Instance &instance, Budget budget, int64_t capacity) {
  assert(!findInstanceFault(instance) && "the caller has checked the instance");
  PlaceResult result;
  result.lowerBound = getLowerBound(instance);
  result.placement.offsets.assign(instance.size(), 0);
  int64_t target = std::max(result.lowerBound, capacity);
  std::vector<Part> parts = split(instance);
  for (Part &part : parts) {
    part.bound = getLowerBound(part.buffers);
    part.best = placeGreedilyAtAnySize(part.buffers, target, budget);
  }
  std::sort(parts.begin(), parts.end(), [](const Part &a, const Part &b) {
    int64_t x = a.best.placement.peak, y = b.best.placement.peak;
    return x != y ? x > y : a.numbers.front() < b.numbers.front();
  });
  for (Part &part : parts) {
    improvePart(part, target, budget);
    const Placement &placement = part.best.placement;
    // No part needs to be smaller than the largest.
    target = std::max(target, placement.peak);
    result.lowerBound = std::max(result.lowerBound, part.bound);
    result.placement.peak = std::max(result.placement.peak, placement.peak);
    for (size_t i = 0; i < part.buffers.size(); ++i)
      result.placement.offsets[part.numbers[i]] = placement.offsets[i];
  }
  assert(result.placement.peak >= result.lowerBound && "no placement is smaller than what is live at one time");
  return result;
}
