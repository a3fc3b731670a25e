//===- MemoryPolicy.h - how much effort the planner of memory makes ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_MEMORYPOLICY_H
#define TENON_PASSES_COST_MEMORYPOLICY_H

#include <cstdint>

namespace tenon {

/// Bounds how long the memory planner looks for a smaller arena, and which launches and weights it considers
/// (passes/memory). A step takes some nanoseconds.
struct MemoryPolicy {
  /// Upper bound for the steps of one placement, which take less than 50 ms; greedy orders alone find the smallest
  /// arena of most networks.
  int64_t placementSteps = 8'000'000;
  /// An activation with more live ranges is placed as a whole.
  int64_t maxLiveRanges = 4096;
  /// An arena of up to this many bytes is small: activations of bounded size may enlarge it to this size.
  int64_t smallArena = 1 << 20;
  /// Rematerialization: how many of the largest activations are tried, and the largest number of launches that
  /// recompute one.
  int64_t maxRematerialized = 24, maxRematerializedDepth = 3;
  /// Smaller weights are not streamed, because they share most of their pages with others.
  int64_t minStreamedBytes = 64 << 10;
  /// The value of a symbol that is assumed when launches are ordered.
  int64_t typicalExtent = 128;
};

} // namespace tenon

#endif // TENON_PASSES_COST_MEMORYPOLICY_H
