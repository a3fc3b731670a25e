//===- FixedOffsetGroups.cpp - places for buffers that lie at fixed distances -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/placement/FixedOffsetGroups.h"
#include "passes/memory/placement/Greedy.h"
#include <cassert>

using namespace tenon::placement;

Placement tenon::placement::placeGroups(const Instance &instance, const std::vector<FixedOffsetGroup> &groups,
                                        Budget budget) {
  assert(!findInstanceFault(instance) && "the caller has checked the instance");
  Conflicts conflicts(instance);
  int64_t bound = getLowerBound(instance);
  GreedyPlacement placed = placeGreedily(instance, conflicts, bound, budget, groups);
  improve(instance, conflicts, bound, budget, placed, groups);
  return std::move(placed.placement);
}
