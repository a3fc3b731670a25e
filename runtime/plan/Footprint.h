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

/// What each output needs, into `needed`: as far as its buffers reach, and at least what its dimensions come to.
Status addUpOutputs(const Plan &plan, const int64_t *exprs, uint64_t *needed);

/// Bytes from one thread's scratch memory to the next one's.
Status addUpScratch(const Plan &plan, const int64_t *exprs, uint64_t *stride);

/// The most that heap blocks can come to, with what they grow in advance; UINT64_MAX where that has no bound.
/// `bounds` has those of all expressions.
uint64_t boundHeap(const Plan &plan, const std::vector<Interval> &bounds);

/// The most that all outputs together can come to, likewise.
uint64_t boundOutputs(const Plan &plan, const std::vector<Interval> &bounds);

} // namespace tenon::rt

#endif // TENON_RUNTIME_PLAN_FOOTPRINT_H
