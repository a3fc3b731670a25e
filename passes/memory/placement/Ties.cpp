//===- Ties.cpp - places for buffers that lie at fixed distances -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/placement/Ties.h"
#include "passes/memory/placement/Greedy.h"
#include <cassert>

using namespace tenon::placement;

Placement tenon::placement::placeTied(const Instance &instance, const std::vector<Tie> &ties, Budget budget) {
  assert(!findInstanceFault(instance) && "the caller has checked the instance");
  Conflicts conflicts(instance);
  int64_t bound = getLowerBound(instance);
  GreedyPlacement placed = placeGreedily(instance, conflicts, bound, budget, ties);
  improve(instance, conflicts, bound, budget, placed, ties);
  return std::move(placed.placement);
}
