//===- FusionPolicy.h - which operations become one kernel ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_FUSIONPOLICY_H
#define TENON_PASSES_COST_FUSIONPOLICY_H

#include <cstdint>

namespace tenon {

/// Decides which operations of a graph are fused into one kernel (passes/fusion/Fuse.cpp).
struct FusionPolicy {
  /// Cycles for a vector of a costly elementwise function (exponential, quotient, root) whose result is broadcast, and
  /// for a vector of the operation that reads it: the inputs of `paysToRecompute`.
  double costlyVectorCycles = 24, userVectorCycles = 1;
  /// A convolution with fewer input channels reads its pixels equally fast in any order.
  int64_t fewChannels = 4;

  // Which decisions have an alternative (passes/fusion/FusionChoices.h). What lies below these bounds cannot pay by
  // more than a launch costs.
  /// Elements of a producer that its consumers read, repeated reads counted.
  int64_t minChoiceReads = 1 << 14;
  /// Cycles for a vector of an epilogue: it has a costly function, or as many cheap ones.
  double minEpilogueVectorCycles = 12;
  /// Kernels that recompute a result, and tensors that it is computed of.
  int64_t maxRecomputingKernels = 8, maxRecomputedOperands = 2;
  /// Cycles for a vector of an operation that is a single instruction, of which two begin in a cycle, and for one that
  /// takes more, but no costly function.
  double instructionVectorCycles = 0.5, movedVectorCycles = 2;
};

} // namespace tenon

#endif // TENON_PASSES_COST_FUSIONPOLICY_H
