//===- LaunchPolicy.h - which launches are merged ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_LAUNCHPOLICY_H
#define TENON_PASSES_COST_LAUNCHPOLICY_H

#include <cstdint>

namespace tenon {

/// Decides which launches become one (passes/launches/MergeLaunches.cpp).
struct LaunchPolicy {
  /// A launch of fewer cycles is small: the runtime does not split it, so that all threads but one wait for it. Each
  /// thread may compute it for itself in the same time.
  double smallCycles = 6000;
  /// Cycles for a vector of results of a small launch, which may be exponentials, quotients or roots.
  double vectorCycles = 24;
  /// A launch of more cycles is not merged: waiting for it is a negligible part of its time.
  double largeCycles = 16e6;
  /// Upper bound for the bytes of results that each thread keeps of small launches.
  int64_t slotBytes = 64 << 10;
};

} // namespace tenon

#endif // TENON_PASSES_COST_LAUNCHPOLICY_H
