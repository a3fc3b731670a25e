//===- PagingPlan.h - which weights stay and which come and go ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With less memory than weights, some blocks are read again in every run. A plan
// says which stay (pinned) and how many of the others are in memory at one time
// (the window): those that a launch reads, and those that are read ahead for the
// launches after it. A wide window lets reading go on while a long launch runs; a
// narrow one leaves more room for what stays, so that less is read.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_PLAN_PAGINGPLAN_H
#define TENON_RUNTIME_PLAN_PAGINGPLAN_H

#include "runtime/plan/WeightUses.h"

#include <vector>

namespace tenon::rt {

struct PagingPlan {
  std::vector<uint8_t> pinned; ///< of each block, whether it stays
  uint64_t numPinned = 0;
  uint64_t window = 0; ///< blocks of the others that may be in memory at one time
  double seconds = 0;  ///< that a run is expected to take
};

/// The speed of this machine, measured in earlier runs.
struct PagingTimes {
  std::vector<double> compute; ///< seconds of each instruction
  double readBlock = 0;        ///< seconds
};

/// Returns a plan that streams everything: for a first run, about which nothing is known.
PagingPlan makeFirstPagingPlan(const WeightUses &uses, uint64_t budget);

/// Returns the plan for `budget` blocks with the smallest expected time of a run; among equals, the one that pins the
/// most. The budget must fit the blocks of any single instruction.
PagingPlan makePagingPlan(const WeightUses &uses, uint64_t budget, const PagingTimes &times);

/// Simulates the time in seconds of a run within a sequence of runs: blocks are read one after the other, in order, as
/// soon as the window has room, and an instruction begins when its own blocks are resident.
double simulateRun(const WeightUses &uses, const PagingPlan &plan, const PagingTimes &times);

} // namespace tenon::rt

#endif // TENON_RUNTIME_PLAN_PAGINGPLAN_H
