//===- Greedy.cpp - places for buffers, one after the other ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/placement/Greedy.h"
#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <numeric>

using namespace tenon::placement;

namespace {

/// Offsets that are taken: those between these two.
struct Taken {
  int64_t after, before;
  auto operator<=>(const Taken &) const = default;
};

} // namespace

/// Finds a free offset that is a multiple of the alignment. `taken` is sorted.
static int64_t findGap(const std::vector<Taken> &taken, int64_t alignment, Fit fit) {
  assert(std::is_sorted(taken.begin(), taken.end()) && "gaps are found from the lowest offset on");
  int64_t end = 0, best = -1, bestGap = std::numeric_limits<int64_t>::max();
  for (auto [after, before] : taken) {
    int64_t start = alignTo(end, alignment), gap = after - start;
    if (gap >= 0 && gap < bestGap) {
      best = start;
      bestGap = gap;
      if (fit == Fit::first)
        return best;
    }
    end = std::max(end, before);
  }
  return best >= 0 ? best : alignTo(end, alignment);
}

namespace {

/// What has been placed.
class Placed {
public:
  Placed(const Instance &instance, const Conflicts &conflicts)
      : instance(instance), conflicts(conflicts), isPlaced(instance.size()) {
    placement.offsets.assign(instance.size(), 0);
  }

  void place(uint32_t buffer, Fit fit) {
    taken.clear();
    collectTaken(buffer, 0);
    settle(buffer, findOffset(instance[buffer].alignment, fit));
  }

  /// Places all members of a group, none of which is placed yet.
  void place(const FixedOffsetGroup &group, Fit fit) {
    assert(group.members.size() == group.distances.size() && "each member of a group has a distance");
    taken.clear();
    for (size_t i = 0; i < group.members.size(); ++i)
      collectTaken(group.members[i], group.distances[i]);
    int64_t offset = findOffset(group.alignment, fit);
    for (size_t i = 0; i < group.members.size(); ++i)
      settle(group.members[i], offset + group.distances[i]);
  }

  bool has(uint32_t buffer) const { return isPlaced[buffer]; }

  Placement placement;

private:
  int64_t findOffset(int64_t alignment, Fit fit) {
    if (!std::is_sorted(taken.begin(), taken.end()))
      std::sort(taken.begin(), taken.end());
    return findGap(taken, alignment, fit);
  }

  /// Collects the offsets of the group at which a buffer, `distance` above them, would collide.
  void collectTaken(uint32_t buffer, int64_t distance) {
    auto add = [&](uint32_t other) {
      int64_t offset = placement.offsets[other] - distance;
      taken.push_back({offset - instance[buffer].size, offset + instance[other].size});
    };
    if (conflicts.isListed()) {
      for (uint32_t other : conflicts.of(buffer))
        if (isPlaced[other])
          add(other);
    } else {
      for (auto [offset, other] : byOffset)
        if (inConflict(instance[buffer], instance[other]))
          add(other);
    }
  }

  void settle(uint32_t buffer, int64_t offset) {
    assert(!isPlaced[buffer] && offset >= 0 && offset % instance[buffer].alignment == 0 &&
           "a buffer is placed once, at an aligned offset");
    isPlaced[buffer] = true;
    placement.offsets[buffer] = offset;
    // A buffer of zero bytes may be in a group with nonempty ones.
    if (!instance[buffer].takesPlace())
      return;
    placement.peak = std::max(placement.peak, offset + instance[buffer].size);
    if (conflicts.isListed())
      return;
    std::pair entry(offset, buffer);
    byOffset.insert(std::upper_bound(byOffset.begin(), byOffset.end(), entry), entry);
  }

  const Instance &instance;
  const Conflicts &conflicts;
  std::vector<char> isPlaced;
  std::vector<Taken> taken;                           // scratch
  std::vector<std::pair<int64_t, uint32_t>> byOffset; // where conflicts are not listed
};

} // namespace

/// Returns the group number of each buffer; the number of groups for a buffer without one.
static std::vector<size_t> getGroupOf(size_t count, const std::vector<FixedOffsetGroup> &groups) {
  std::vector<size_t> groupOf(count, groups.size());
  for (size_t number = 0; number < groups.size(); ++number)
    for (uint32_t member : groups[number].members) {
      assert(groupOf[member] == groups.size() && "a buffer is in one group");
      groupOf[member] = number;
    }
  return groupOf;
}

Placement tenon::placement::placeInOrder(const Instance &instance, const Conflicts &conflicts,
                                         const std::vector<uint32_t> &order, Fit fit,
                                         const std::vector<FixedOffsetGroup> &groups) {
  Placed placed(instance, conflicts);
  std::vector<size_t> groupOf = getGroupOf(instance.size(), groups);
  for (uint32_t i : order) {
    if (!instance[i].takesPlace() || placed.has(i))
      continue;
    if (groupOf[i] < groups.size())
      placed.place(groups[groupOf[i]], fit);
    else
      placed.place(i, fit);
  }
  return std::move(placed.placement);
}

/// What an order costs, in steps.
static int64_t getCost(const Instance &instance, const Conflicts &conflicts) {
  int64_t count = static_cast<int64_t>(instance.size());
  return conflicts.isListed() ? 4 * (static_cast<int64_t>(conflicts.count()) + count) : count * count / 2;
}

/// Returns for each buffer the total size of buffers that are in use during its lifetime.
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

/// Returns the sort keys of each order that is tried, largest first.
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

/// Returns the buffers by priority, optionally with members of groups first.
static std::vector<uint32_t> getOrder(const std::vector<double> &priority, const std::vector<char> &comesFirst) {
  std::vector<uint32_t> order(priority.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    if (comesFirst[a] != comesFirst[b])
      return comesFirst[a] > comesFirst[b];
    return priority[a] != priority[b] ? priority[a] > priority[b] : a < b;
  });
  return order;
}

GreedyPlacement tenon::placement::placeGreedily(const Instance &instance, const Conflicts &conflicts, int64_t bound,
                                                Budget &budget, const std::vector<FixedOffsetGroup> &groups) {
  std::vector<std::vector<char>> whichFirst(1, std::vector<char>(instance.size()));
  if (!groups.empty()) {
    std::vector<char> &isTied = whichFirst.emplace_back(instance.size());
    for (const FixedOffsetGroup &group : groups)
      for (uint32_t member : group.members)
        isTied[member] = true;
  }
  GreedyPlacement best;
  for (const std::vector<double> &priority : getPriorities(instance))
    for (const std::vector<char> &comesFirst : whichFirst) {
      std::vector<uint32_t> order = getOrder(priority, comesFirst);
      for (Fit fit : {Fit::best, Fit::first}) {
        bool isFirst = best.order.empty();
        if (!isFirst && (best.placement.peak <= bound || budget.isSpent()))
          return best;
        budget.spend(getCost(instance, conflicts));
        Placement placement = placeInOrder(instance, conflicts, order, fit, groups);
        if (isFirst || placement.peak < best.placement.peak)
          best = {std::move(placement), order, fit};
      }
    }
  return best;
}

/// Moves the buffers that end at the peak to random earlier positions in the order.
static void moveForwards(const Instance &instance, const Placement &placement, uint64_t random,
                         std::vector<uint32_t> &order) {
  for (size_t k = 0; k < order.size(); ++k) {
    uint32_t i = order[k];
    if (!instance[i].takesPlace() || placement.offsets[i] + instance[i].size < placement.peak)
      continue;
    // Every fourth time the buffer moves to the front, otherwise to any earlier position.
    size_t to = random % 4 == 0 ? 0 : (random / 4) % (k + 1);
    std::rotate(order.begin() + to, order.begin() + k, order.begin() + k + 1);
  }
}

void tenon::placement::moveOne(uint64_t random, std::vector<uint32_t> &order) {
  size_t from = random % order.size(), to = random / order.size() % order.size();
  uint32_t moved = order[from];
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, moved);
}

void tenon::placement::improve(const Instance &instance, const Conflicts &conflicts, int64_t bound, Budget &budget,
                               GreedyPlacement &best, const std::vector<FixedOffsetGroup> &groups) {
  // The constants of Knuth's MMIX generator, which make the numbers reproducible everywhere.
  uint64_t random = 1;
  GreedyPlacement current = best;
  while (best.placement.peak > bound && !budget.isSpent()) {
    budget.spend(getCost(instance, conflicts));
    random = random * 6364136223846793005u + 1442695040888963407u;
    std::vector<uint32_t> order = current.order;
    // If a buffer at the peak is in a group, the other members may prevent a move, so sometimes any buffer moves.
    if (!groups.empty() && (random >> 32) % 2)
      moveOne(random >> 33, order);
    else
      moveForwards(instance, current.placement, random >> 33, order);
    Placement placement = placeInOrder(instance, conflicts, order, current.fit, groups);
    if (placement.peak > current.placement.peak)
      continue;
    current.placement = std::move(placement);
    current.order = std::move(order);
    if (current.placement.peak < best.placement.peak)
      best = current;
  }
}
