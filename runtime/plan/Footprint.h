//===- Footprint.h - the memory that sizes come to -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_PLAN_FOOTPRINT_H
#define TENON_RUNTIME_PLAN_FOOTPRINT_H

#include "runtime/base/Status.h"
#include "runtime/plan/Intervals.h"

namespace tenon::rt {

/// Computes the bytes of each output: enough for its buffers, and at least those of its dimensions.
Status addUpOutputs(const Plan &plan, const int64_t *exprs, uint64_t *needed);

/// Computes the distance in bytes between the scratch memories of two threads.
Status addUpScratch(const Plan &plan, const int64_t *exprs, uint64_t *stride);

/// Returns an upper bound for heap blocks, including their over-allocation; UINT64_MAX if there is none. `bounds` has
/// the bounds of all expressions.
uint64_t boundHeap(const Plan &plan, const std::vector<Interval> &bounds);

/// Returns an upper bound for all outputs together, in the same way.
uint64_t boundOutputs(const Plan &plan, const std::vector<Interval> &bounds);

} // namespace tenon::rt

#endif // TENON_RUNTIME_PLAN_FOOTPRINT_H
