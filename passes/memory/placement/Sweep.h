//===- Sweep.h - places for buffers, in the order of time -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_MEMORY_PLACEMENT_SWEEP_H
#define TENON_PASSES_MEMORY_PLACEMENT_SWEEP_H

#include "passes/memory/placement/Instance.h"

namespace tenon::placement {

/// Gives each buffer, in the order of their starts, the lowest free gap at that time, like an allocator at run time
/// (first fit). The result is not the best, but it needs neither conflicts nor memory, and is used for instances that
/// are too large for anything else. O(n log n + gaps visited).
Placement placeBySweep(const Instance &instance);

} // namespace tenon::placement

#endif // TENON_PASSES_MEMORY_PLACEMENT_SWEEP_H
