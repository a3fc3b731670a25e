//===- ScheduleCost.h - what the tiles of a contraction cost --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_SCHEDULECOST_H
#define TENON_PASSES_COST_SCHEDULECOST_H

#include "passes/cost/ContractionTiles.h"
#include "passes/cost/Machine.h"
#include "passes/cost/SchedulePolicy.h"

namespace tenon {

/// The cycles of one core for all tiles of a contraction: its products at the peak, both operands of each tile from the
/// last-level cache, and a constant for each tile. `tile` are the elements of each dimension of the result in a tile.
/// A dynamic extent without a size hint counts as one tile.
double estimateTileCycles(const TileProblem &problem, llvm::ArrayRef<int64_t> tile, const Machine &machine,
                          const SchedulePolicy &policy = {});

} // namespace tenon

#endif // TENON_PASSES_COST_SCHEDULECOST_H
