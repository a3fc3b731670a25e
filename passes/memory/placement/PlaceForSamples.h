//===- PlaceForSamples.h - one orientation for sizes that are not known ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_MEMORY_PLACEMENT_PLACEFORSAMPLES_H
#define TENON_PASSES_MEMORY_PLACEMENT_PLACEFORSAMPLES_H

#include "passes/memory/placement/Budget.h"
#include "passes/memory/placement/Orientation.h"

namespace tenon::placement {

struct SampledPlacement {
  Orientation orientation;
  double worstRatio = 1;              ///< the largest of a sample's peak over its lower bound
  std::vector<int64_t> peaks, bounds; ///< one a sample
};

/// An orientation for buffers whose sizes, and how they are aligned, are known at some samples only. It holds for any
/// others, too, and is chosen for the smallest worst ratio. `samples`, at least one, are instances without fault of the
/// same lifetimes. With `liveRanges`, buffers are in use at these times alone, of which each has some.
SampledPlacement placeForSamples(const std::vector<Instance> &samples, Budget budget,
                                 const std::vector<LiveRange> &liveRanges = {});

} // namespace tenon::placement

#endif // TENON_PASSES_MEMORY_PLACEMENT_PLACEFORSAMPLES_H
