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
};

} // namespace tenon

#endif // TENON_PASSES_COST_FUSIONPOLICY_H
