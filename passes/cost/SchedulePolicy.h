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

/// Bounds the alternatives of a schedule (passes/kernel/schedules) and says how much time each is expected to take,
/// relative to the schedule that the other policies choose, where no model does. These decide in which order
/// alternatives are measured, and none of them decides without a measurement.
struct SchedulePolicy {
  /// Alternatives of a kernel, among them pairs of two changes.
  size_t maxAlternatives = 96;
  /// Register blocks besides the one of the cost model.
  size_t maxBlocks = 4;
  /// The factors by which a tile is made larger and smaller.
  int64_t tileFactors[2] = {2, 4};
  /// Cycles of a tile besides its products and what it reads: the loops around register blocks, and their last ones,
  /// which are smaller.
  double tileCycles = 2000;
  /// The parts that a long sum is divided into, if each of them has at least so many elements.
  int64_t kBlockParts[2] = {2, 4}, minKBlock = 256;
  /// Steps of the innermost loop in an iteration.
  int64_t unrolledSteps[3] = {1, 4, 8};
  /// Expected time relative to the policy's schedule. Vectors of half the width take twice the instructions, but at
  /// more cycles a second, and waste fewer lanes.
  double packingCost = 1.05, kBlockCost = 1.05, unrollCost = 1.03, noPrefetchCost = 1.1, halfVectorCost = 1.4,
         orderCost = 1.02;
  /// A schedule takes the place of the policy's if it saves more than this share of its time.
  double minGain = 0.02;
};

} // namespace tenon

#endif // TENON_PASSES_COST_SCHEDULEPOLICY_H
