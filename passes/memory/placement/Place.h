//===- Place.h - places for buffers in the smallest arena -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_MEMORY_PLACEMENT_PLACE_H
#define TENON_PASSES_MEMORY_PLACEMENT_PLACE_H

#include "passes/memory/placement/Budget.h"
#include "passes/memory/placement/Instance.h"

namespace tenon::placement {

struct PlaceResult {
  Placement placement;
  int64_t lowerBound = 0; ///< no arena is smaller, as far as is known
};

/// Places all buffers, such that buffers in use at one time do not overlap, in as small an arena as the budget allows:
/// by greedy orders, by improving the best of them, and by search. It stops early at the lower bound, or at an arena of
/// at most `capacity`. Greedy orders are tried even with an empty budget. The instance must be valid.
PlaceResult place(const Instance &instance, Budget budget, int64_t capacity = 0);

} // namespace tenon::placement

#endif // TENON_PASSES_MEMORY_PLACEMENT_PLACE_H
