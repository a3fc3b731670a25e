//===- Orientation.cpp - which lies upon which, whatever the sizes --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/placement/Orientation.h"
#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

using namespace tenon::placement;

/// Buffers from the lowest to the highest.
static std::vector<uint32_t> getOrder(const Instance &instance, const Placement &placement) {
  std::vector<uint32_t> order(instance.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    // An empty buffer is below a nonempty one at the same offset.
    return std::tuple(placement.offsets[a], instance[a].size != 0, a) <
           std::tuple(placement.offsets[b], instance[b].size != 0, b);
  });
  return order;
}

namespace {

/// A sweep over time that keeps the buffers in use sorted by offset.
///
/// Two neighbours need an edge unless a third buffer is between them at some time while both are in use. No other path
/// can replace the edge: any chain of buffers that overlap in time, from one to the other, contains one that is in use
/// at the same time as both.
class Sweep {
public:
  explicit Sweep(const std::vector<uint32_t> &order) : order(order), below(order.size()) {}

  void start(uint32_t rank) {
    auto here = live.insert(rank).first;
    auto above = std::next(here);
    bool hasBelow = here != live.begin(), hasAbove = above != live.end();
    if (hasBelow && hasAbove)
      below[*above].erase(*std::prev(here));
    if (hasBelow)
      below[rank].insert(*std::prev(here));
    if (hasAbove)
      below[*above].insert(rank);
  }

  void end(uint32_t rank) { live.erase(rank); }

  std::vector<std::vector<uint32_t>> getEdges() const {
    std::vector<std::vector<uint32_t>> edges(order.size());
    for (size_t rank = 0; rank < order.size(); ++rank)
      for (uint32_t other : below[rank])
        edges[order[rank]].push_back(order[other]);
    return edges;
  }

private:
  const std::vector<uint32_t> &order;
  std::set<uint32_t> live;               // ranks
  std::vector<std::set<uint32_t>> below; // by rank
};

} // namespace

Orientation tenon::placement::getOrientation(const Instance &instance, const Placement &placement,
                                             const std::vector<LiveRange> &liveRanges) {
  Orientation orientation;
  orientation.order = getOrder(instance, placement);
  std::vector<uint32_t> rankOf(instance.size());
  for (uint32_t rank = 0; rank < instance.size(); ++rank)
    rankOf[orientation.order[rank]] = rank;
  // Ends sort first, because a buffer is not in conflict with one that ends when it begins.
  std::vector<std::tuple<int64_t, bool, uint32_t>> events;
  auto add = [&](const LiveRange &range) {
    if (range.lower == range.upper)
      return;
    events.push_back({range.lower, true, rankOf[range.buffer]});
    events.push_back({range.upper, false, rankOf[range.buffer]});
  };
  for (const LiveRange &range : liveRanges)
    add(range);
  for (uint32_t i = 0; liveRanges.empty() && i < instance.size(); ++i)
    add({i, instance[i].lower, instance[i].upper});
  std::sort(events.begin(), events.end());
  Sweep sweep(orientation.order);
  for (auto [time, isStart, rank] : events)
    isStart ? sweep.start(rank) : sweep.end(rank);
  orientation.below = sweep.getEdges();
  return orientation;
}

Placement tenon::placement::evaluateOrientation(const Orientation &orientation, const Instance &instance) {
  Placement placement;
  placement.offsets.assign(instance.size(), 0);
  for (uint32_t i : orientation.order) {
    int64_t end = 0;
    for (uint32_t other : orientation.below[i])
      end = std::max(end, placement.offsets[other] + instance[other].size);
    placement.offsets[i] = alignTo(end, instance[i].alignment);
    placement.peak = std::max(placement.peak, placement.offsets[i] + instance[i].size);
  }
  return placement;
}
