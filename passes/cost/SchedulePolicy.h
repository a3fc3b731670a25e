//===- SchedulePolicy.h - which schedules are worth a measurement ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_SCHEDULEPOLICY_H
#define TENON_PASSES_COST_SCHEDULEPOLICY_H

#include <cstddef>
#include <cstdint>

namespace tenon {

/// Bounds the alternatives of a schedule (passes/kernel/schedules), and estimates their times relative to the schedule
/// that the other policies choose where no cost model does. The estimates only order the measurements; a schedule is
/// never chosen without one.
struct SchedulePolicy {
  /// Upper bound for the alternatives of a kernel, among them pairs of two changes.
  size_t maxAlternatives = 96;
  /// Upper bound for the register blocks besides the one of the cost model.
  size_t maxBlocks = 4;
  /// The factors by which a tile is made larger and smaller.
  int64_t tileFactors[2] = {2, 4};
  /// Cycles of a tile besides its products and loads: the loops around register blocks, and their smaller remainder
  /// blocks.
  double tileCycles = 2000;
  /// The numbers of parts that a long sum is split into, if each part has at least `minKBlock` elements.
  int64_t kBlockParts[2] = {2, 4}, minKBlock = 256;
  /// Steps of the innermost loop in an iteration.
  int64_t unrolledSteps[3] = {1, 4, 8};
  /// Expected times relative to the policy's schedule. Vectors of half the width take twice the instructions, but run
  /// at a higher clock and waste fewer lanes.
  double packingCost = 1.05, kBlockCost = 1.05, unrollCost = 1.03, noPrefetchCost = 1.1, halfVectorCost = 1.4,
         orderCost = 1.02, elementsCost = 1.03, chainTileCost = 1.05;
  /// A schedule replaces the policy's if it saves more than this share of the time.
  double minGain = 0.02;
};

} // namespace tenon

#endif // TENON_PASSES_COST_SCHEDULEPOLICY_H
