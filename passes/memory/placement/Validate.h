//===- Validate.h - whether a placement holds -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_MEMORY_PLACEMENT_VALIDATE_H
#define TENON_PASSES_MEMORY_PLACEMENT_VALIDATE_H

#include "passes/memory/placement/Instance.h"

namespace tenon::placement {

/// Checks a placement from the definition, independently of the code that creates placements. Returns none if it is
/// valid, otherwise the numbers of two buffers that collide, or twice the number of one that is out of bounds or
/// misaligned. O(n log n).
std::optional<std::pair<size_t, size_t>> findPlacementFault(const Instance &instance, const Placement &placement);

} // namespace tenon::placement

#endif // TENON_PASSES_MEMORY_PLACEMENT_VALIDATE_H
