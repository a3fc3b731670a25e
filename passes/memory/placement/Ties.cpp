//===- Ties.cpp - places for buffers that lie at fixed distances -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/placement/Ties.h"
#include "passes/memory/placement/Greedy.h"
#include <algorithm>
#include <numeric>

using namespace tenon::placement;

/// The lowest common offset of a tie above which no member collides with what is pinned.
static int64_t findOffset(const Instance &instance, const Tie &tie, const Pinned &pinned) {
  int64_t offset = 0;
  for (bool isMoved = true; isMoved;) {
    isMoved = false;
    for (size_t i = 0; i < tie.members.size(); ++i)
      for (auto [other, start] : pinned) {
        const Buffer &member = instance[tie.members[i]];
        int64_t begin = offset + tie.distances[i], end = start + instance[other].size;
        if (!inConflict(member, instance[other]) || begin >= end || begin + member.size <= start)
          continue;
        offset = alignTo(end - tie.distances[i], tie.alignment);
        isMoved = true;
      }
  }
  return offset;
}

static Pinned pin(const Instance &instance, const std::vector<Tie> &ties, const std::vector<size_t> &order) {
  Pinned pinned;
  for (size_t number : order) {
    const Tie &tie = ties[number];
    int64_t offset = findOffset(instance, tie, pinned);
    for (size_t i = 0; i < tie.members.size(); ++i)
      pinned.push_back({tie.members[i], offset + tie.distances[i]});
  }
  return pinned;
}

Placement tenon::placement::placeTied(const Instance &instance, const std::vector<Tie> &ties, Budget budget) {
  auto getSize = [&](const Tie &tie) {
    int64_t end = 0;
    for (size_t i = 0; i < tie.members.size(); ++i)
      end = std::max(end, tie.distances[i] + instance[tie.members[i]].size);
    return end;
  };
  auto getStart = [&](const Tie &tie) {
    int64_t lower = instance[tie.members.front()].lower;
    for (uint32_t member : tie.members)
      lower = std::min(lower, instance[member].lower);
    return lower;
  };
  std::vector<size_t> bySize(ties.size()), byStart;
  std::iota(bySize.begin(), bySize.end(), 0);
  byStart = bySize;
  std::stable_sort(bySize.begin(), bySize.end(),
                   [&](size_t a, size_t b) { return getSize(ties[a]) > getSize(ties[b]); });
  std::stable_sort(byStart.begin(), byStart.end(),
                   [&](size_t a, size_t b) { return getStart(ties[a]) < getStart(ties[b]); });
  Conflicts conflicts(instance);
  int64_t bound = getLowerBound(instance);
  Placement best;
  for (std::vector<size_t> order : {bySize, byStart, std::vector<size_t>(bySize.rbegin(), bySize.rend())}) {
    Budget own = budget.part(3);
    GreedyPlacement placed = placeGreedily(instance, conflicts, bound, own, pin(instance, ties, order));
    improve(instance, conflicts, bound, own, placed);
    if (best.offsets.empty() || placed.placement.peak < best.peak)
      best = std::move(placed.placement);
    if (best.peak == bound)
      break;
  }
  return best;
}
