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

/// Gives each buffer, in the order of their starts, the lowest gap that is free then, as an allocator would at
/// run time. Not the best of orders, but it needs neither conflicts nor memory: it is for what is too large
/// for anything else. O(n log n + gaps looked at).
Placement placeBySweep(const Instance &instance);

} // namespace tenon::placement

#endif // TENON_PASSES_MEMORY_PLACEMENT_SWEEP_H
