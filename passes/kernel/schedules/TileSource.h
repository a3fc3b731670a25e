//===- TileSource.h - tiles that are larger and smaller -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_SCHEDULES_TILESOURCE_H
#define TENON_PASSES_KERNEL_SCHEDULES_TILESOURCE_H

#include "passes/cost/ScheduleCost.h"
#include "passes/kernel/schedules/ScheduleSource.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tenon {

/// A dimension of the result of which a tile may have more and fewer elements.
struct VariedDim {
  unsigned dim;
  int64_t step; ///< sizes are multiples of it, or all of the extent
  std::optional<int64_t> extent;
};

/// Returns drafts whose tile has more and fewer elements in one dimension. `estimate` gives the cycles of a kernel with
/// a tile.
std::vector<ScheduleProposal> proposeSizes(const ScheduleDraft &own, const VariedDim &varied,
                                           llvm::function_ref<double(llvm::ArrayRef<int64_t>)> estimate,
                                           const SchedulePolicy &policy);

/// Appends drafts whose tile has more and fewer elements in dimension `dim` of the result, in multiples of `step`.
void proposeTiles(const ScheduleProblem &problem, const ScheduleDraft &own, unsigned dim, int64_t step,
                  const SchedulePolicy &policy, std::vector<ScheduleProposal> &proposals);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_SCHEDULES_TILESOURCE_H
