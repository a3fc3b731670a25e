//===- Orientation.h - which buffer lies upon which, whatever their sizes -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_MEMORY_PLACEMENT_ORIENTATION_H
#define TENON_PASSES_MEMORY_PLACEMENT_ORIENTATION_H

#include "passes/memory/placement/Instance.h"

namespace tenon::placement {

/// The buffers that each buffer lies upon: its offset is the largest of their ends, rounded up to its alignment, or 0.
/// Of two buffers in use at one time, one lies upon the other, directly or transitively, so there is no collision
/// whatever the sizes are.
struct Orientation {
  std::vector<std::vector<uint32_t>> below;
  std::vector<uint32_t> order; ///< each buffer after those that it lies upon
};

/// A time at which a buffer is in use.
struct LiveRange {
  uint32_t buffer;
  int64_t lower, upper; ///< [lower, upper)
};

/// Returns the orientation of a placement for the given times of use, or for the buffers' own if none are given. It is
/// transitively reduced, and has at most two edges per buffer on average. O(n log n).
Orientation getOrientation(const Instance &instance, const Placement &placement,
                           const std::vector<LiveRange> &liveRanges = {});

/// Returns the offsets for the sizes and alignments of a valid instance. Its lifetimes are not read.
Placement evaluateOrientation(const Orientation &orientation, const Instance &instance);

} // namespace tenon::placement

#endif // TENON_PASSES_MEMORY_PLACEMENT_ORIENTATION_H
