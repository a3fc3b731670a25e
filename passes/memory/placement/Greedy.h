//===- Greedy.h - places for buffers, one after the other -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_MEMORY_PLACEMENT_GREEDY_H
#define TENON_PASSES_MEMORY_PLACEMENT_GREEDY_H

#include "passes/memory/placement/Budget.h"
#include "passes/memory/placement/Conflicts.h"
#include "passes/memory/placement/FixedOffsetGroups.h"

namespace tenon::placement {

enum class Fit {
  Best,  ///< the smallest gap that is large enough
  First, ///< the lowest gap that is large enough
};

/// Places buffers in this order, each into a gap between those in conflict with it that were placed before: with the
/// first one of a group all of its members, into gaps at their distances.
Placement placeInOrder(const Instance &instance, const Conflicts &conflicts, const std::vector<uint32_t> &order,
                       Fit fit, const std::vector<FixedOffsetGroup> &groups = {});

struct GreedyPlacement {
  Placement placement;
  std::vector<uint32_t> order;
  Fit fit;
};

/// The best of several orders: by size, lifetime, area, start, and by how much is in conflict; with groups also those
/// in which their members come first. At least one is tried, and none after one that reaches `bound`.
GreedyPlacement placeGreedily(const Instance &instance, const Conflicts &conflicts, int64_t bound, Budget &budget,
                              const std::vector<FixedOffsetGroup> &groups = {});

/// Moves one buffer of an order to another place, both of which `random` decides.
void moveOne(uint64_t random, std::vector<uint32_t> &order);

/// Tries to lower the peak: the buffers that make it move forwards in the order, or with groups any one somewhere else,
/// and the order that results is kept where it is not worse. Ends at `bound`.
void improve(const Instance &instance, const Conflicts &conflicts, int64_t bound, Budget &budget, GreedyPlacement &best,
             const std::vector<FixedOffsetGroup> &groups = {});

} // namespace tenon::placement

#endif // TENON_PASSES_MEMORY_PLACEMENT_GREEDY_H
