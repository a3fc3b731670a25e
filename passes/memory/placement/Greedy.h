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
  best,  ///< the smallest gap that is large enough
  first, ///< the lowest gap that is large enough
};

/// Places buffers in this order, each into a gap between the conflicting buffers that are placed already. With the
/// first member of a group all its members are placed, at their distances.
Placement placeInOrder(const Instance &instance, const Conflicts &conflicts, const std::vector<uint32_t> &order,
                       Fit fit, const std::vector<FixedOffsetGroup> &groups = {});

struct GreedyPlacement {
  Placement placement;
  std::vector<uint32_t> order;
  Fit fit;
};

/// Returns the best of several orders: by size, lifetime, area, start, and total size of conflicting buffers; if there
/// are groups, each also with their members first. At least one order is tried, and none after one that reaches
/// `bound`.
GreedyPlacement placeGreedily(const Instance &instance, const Conflicts &conflicts, int64_t bound, Budget &budget,
                              const std::vector<FixedOffsetGroup> &groups = {});

/// Moves a random buffer of an order to a random position.
void moveOne(uint64_t random, std::vector<uint32_t> &order);

/// Tries to lower the peak: moves the buffers at the peak forwards in the order or, if there are groups, any buffer
/// anywhere, and keeps an order that is not worse. Stops at `bound`.
void improve(const Instance &instance, const Conflicts &conflicts, int64_t bound, Budget &budget, GreedyPlacement &best,
             const std::vector<FixedOffsetGroup> &groups = {});

} // namespace tenon::placement

#endif // TENON_PASSES_MEMORY_PLACEMENT_GREEDY_H
