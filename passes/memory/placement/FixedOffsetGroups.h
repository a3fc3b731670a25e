//===- FixedOffsetGroups.h - places for buffers that lie at fixed distances -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_MEMORY_PLACEMENT_FIXEDOFFSETGROUPS_H
#define TENON_PASSES_MEMORY_PLACEMENT_FIXEDOFFSETGROUPS_H

#include "passes/memory/placement/Budget.h"
#include "passes/memory/placement/Instance.h"

namespace tenon::placement {

/// Buffers at fixed distances from a common offset: the parts of one activation that are in use at different times, or
/// one activation that is idle for a time. (The complement of the gaps of a buffer in MiniMalloc's instances.)
struct FixedOffsetGroup {
  std::vector<uint32_t> members;
  std::vector<int64_t> distances; ///< of each member's offset from the common one, multiples of its alignment
  int64_t alignment = 1;          ///< of the common offset, a multiple of the members'
};

/// Returns a placement by greedy orders that keeps the distances. A buffer is a member of at most one group.
Placement placeGroups(const Instance &instance, const std::vector<FixedOffsetGroup> &groups, Budget budget);

} // namespace tenon::placement

#endif // TENON_PASSES_MEMORY_PLACEMENT_FIXEDOFFSETGROUPS_H
