//===- Greedy.cpp - places for buffers, one after the other ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/placement/Greedy.h"
#include <array>
#include <limits>
#include <numeric>

using namespace tenon::placement;

/// The offset that a buffer of `size` gets among these, which are in use at that time and sorted by offset.
static int64_t findGap(const Instance &instance, const std::vector<std::pair<int64_t, uint32_t>> &placed,
                       const Buffer &buffer, Fit fit) {
  int64_t end = 0, best = -1, bestGap = std::numeric_limits<int64_t>::max();
  for (auto [offset, other] : placed) {
    int64_t start = alignTo(end, buffer.alignment), gap = offset - start;
    if (gap >= buffer.size && gap < bestGap) {
      best = start;
      bestGap = gap;
      if (fit == Fit::First)
        return best;
    }
    end = std::max(end, offset + instance[other].size);
  }
  return best >= 0 ? best : alignTo(end, buffer.alignment);
}

namespace {

/// What has been placed.
class Placed {
public:
  Placed(const Instance &instance, const Conflicts &conflicts)
      : instance(instance), conflicts(conflicts), isPlaced(instance.size()) {
    placement.offsets.assign(instance.size(), 0);
  }

  void place(uint32_t buffer, int64_t offset) {
    placement.offsets[buffer] = offset;
    placement.peak = std::max(placement.peak, offset + instance[buffer].size);
    isPlaced[buffer] = true;
    if (conflicts.isListed())
      return;
    std::pair entry(offset, buffer);
    byOffset.insert(std::upper_bound(byOffset.begin(), byOffset.end(), entry), entry);
  }

  bool has(uint32_t buffer) const { return isPlaced[buffer]; }

  /// What is in conflict with a buffer, sorted by offset.
  const std::vector<std::pair<int64_t, uint32_t>> &getConflicts(uint32_t buffer) {
    found.clear();
    if (conflicts.isListed()) {
      for (uint32_t other : conflicts.of(buffer))
        if (isPlaced[other])
          found.push_back({placement.offsets[other], other});
      std::sort(found.begin(), found.end());
    } else {
      for (auto entry : byOffset)
        if (inConflict(instance[buffer], instance[entry.second]))
          found.push_back(entry);
    }
    return found;
  }

  Placement placement;

private:
  const Instance &instance;
  const Conflicts &conflicts;
  std::vector<char> isPlaced;
  std::vector<std::pair<int64_t, uint32_t>> found;
  std::vector<std::pair<int64_t, uint32_t>> byOffset; // where conflicts are not listed
};

} // namespace

Placement tenon::placement::placeInOrder(const Instance &instance, const Conflicts &conflicts,
                                         const std::vector<uint32_t> &order, Fit fit, const Pinned &pinned) {
  Placed placed(instance, conflicts);
  for (auto [i, offset] : pinned)
    placed.place(i, offset);
  for (uint32_t i : order)
    if (instance[i].takesPlace() && !placed.has(i))
      placed.place(i, findGap(instance, placed.getConflicts(i), instance[i], fit));
  return std::move(placed.placement);
}

/// What an order costs, in steps.
static int64_t getCost(const Instance &instance, const Conflicts &conflicts) {
  int64_t count = static_cast<int64_t>(instance.size());
  return conflicts.isListed() ? 4 * (static_cast<int64_t>(conflicts.count()) + count) : count * count / 2;
}

/// For each buffer the sum of sizes that are in use in its lifetime.
static std::vector<double> getSizesAround(const Instance &instance) {
  Columns columns = getColumns(instance);
  std::vector<double> ended(columns.count + 1), begun(columns.count + 1);
  for (size_t i = 0; i < instance.size(); ++i) {
    if (!instance[i].takesPlace())
      continue;
    ended[columns.ranges[i].end] += static_cast<double>(instance[i].size);
    begun[columns.ranges[i].begin] += static_cast<double>(instance[i].size);
  }
  std::partial_sum(ended.begin(), ended.end(), ended.begin());
  std::partial_sum(begun.begin(), begun.end(), begun.begin());
  std::vector<double> around;
  for (const Columns::Range &range : columns.ranges)
    around.push_back(range.begin < range.end ? begun[range.end - 1] - ended[range.begin] : 0);
  return around;
}

/// For each order that is tried, what its largest comes first by.
static std::array<std::vector<double>, 5> getPriorities(const Instance &instance) {
  std::array<std::vector<double>, 5> priorities;
  for (const Buffer &buffer : instance) {
    double size = static_cast<double>(buffer.size);
    double length = static_cast<double>(buffer.upper) - static_cast<double>(buffer.lower);
    const double values[] = {size, length, size * length, -static_cast<double>(buffer.lower)};
    for (size_t k = 0; k < std::size(values); ++k)
      priorities[k].push_back(values[k]);
  }
  priorities.back() = getSizesAround(instance);
  return priorities;
}

GreedyPlacement tenon::placement::placeGreedily(const Instance &instance, const Conflicts &conflicts, int64_t bound,
                                                Budget &budget, const Pinned &pinned) {
  GreedyPlacement best;
  for (const std::vector<double> &priority : getPriorities(instance)) {
    std::vector<uint32_t> order(instance.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return priority[a] != priority[b] ? priority[a] > priority[b] : a < b;
    });
    for (Fit fit : {Fit::Best, Fit::First}) {
      bool isFirst = best.order.empty();
      if (!isFirst && (best.placement.peak <= bound || budget.isSpent()))
        return best;
      budget.spend(getCost(instance, conflicts));
      Placement placement = placeInOrder(instance, conflicts, order, fit, pinned);
      if (isFirst || placement.peak < best.placement.peak)
        best = {std::move(placement), order, fit, pinned};
    }
  }
  return best;
}

/// Moves what ends at the peak to places before it that `random` decides.
static void moveForwards(const Instance &instance, const Placement &placement, uint64_t random,
                         std::vector<uint32_t> &order) {
  for (size_t k = 0; k < order.size(); ++k) {
    uint32_t i = order[k];
    if (!instance[i].takesPlace() || placement.offsets[i] + instance[i].size < placement.peak)
      continue;
    // Now and then to the very front, else anywhere before.
    size_t to = random % 4 == 0 ? 0 : (random / 4) % (k + 1);
    std::rotate(order.begin() + to, order.begin() + k, order.begin() + k + 1);
  }
}

void tenon::placement::improve(const Instance &instance, const Conflicts &conflicts, int64_t bound, Budget &budget,
                               GreedyPlacement &best) {
  // The constants of Knuth's MMIX generator: the same numbers everywhere.
  uint64_t random = 1;
  GreedyPlacement current = best;
  while (best.placement.peak > bound && !budget.isSpent()) {
    budget.spend(getCost(instance, conflicts));
    random = random * 6364136223846793005u + 1442695040888963407u;
    std::vector<uint32_t> order = current.order;
    moveForwards(instance, current.placement, random >> 33, order);
    Placement placement = placeInOrder(instance, conflicts, order, current.fit, current.pinned);
    if (placement.peak > current.placement.peak)
      continue;
    current.placement = std::move(placement);
    current.order = std::move(order);
    if (current.placement.peak < best.placement.peak)
      best = current;
  }
}
