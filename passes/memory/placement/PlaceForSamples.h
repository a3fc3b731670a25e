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

/// Returns an orientation for buffers whose sizes and alignments are known only at some samples. It is valid for all
/// sizes, and chosen to minimize the worst ratio. `samples`, at least one, are valid instances with the same lifetimes.
/// With `liveRanges`, which has some for each buffer, buffers are only in use at these times.
SampledPlacement placeForSamples(const std::vector<Instance> &samples, Budget budget,
                                 const std::vector<LiveRange> &liveRanges = {});

} // namespace tenon::placement

#endif // TENON_PASSES_MEMORY_PLACEMENT_PLACEFORSAMPLES_H
