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

/// How long the planner of memory looks for a smaller arena, and which launches and weights it considers
/// (passes/memory). A step is some nanoseconds.
struct MemoryPolicy {
  /// Steps of one placement: less than 50 ms, and most often far less, since greedy orders alone find the smallest
  /// arena of most networks.
  int64_t placementSteps = 8'000'000;
  /// Activations with more live ranges are placed as wholes.
  int64_t maxLiveRanges = 4096;
  /// An arena of so many bytes is small: activations of bounded size may make it as large.
  int64_t smallArena = 1 << 20;
  /// Rematerialization: the number of the largest activations that are tried, and of launches that one is computed by.
  int64_t maxRematerialized = 24, maxRematerializedDepth = 3;
  /// Weights of fewer bytes are not streamed: they share most of their pages with others.
  int64_t minStreamedBytes = 64 << 10;
  /// The extent that orders of launches assume for a symbol.
  int64_t typicalExtent = 128;
};

} // namespace tenon

#endif // TENON_PASSES_COST_MEMORYPOLICY_H
