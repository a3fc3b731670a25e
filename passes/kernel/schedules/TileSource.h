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

namespace tenon {

/// Appends drafts whose tile has more and fewer elements in dimension `dim` of the result, in multiples of `step`.
void proposeTiles(const ScheduleProblem &problem, const ScheduleDraft &own, unsigned dim, int64_t step,
                  const SchedulePolicy &policy, std::vector<ScheduleProposal> &proposals);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_SCHEDULES_TILESOURCE_H
