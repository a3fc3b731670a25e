//===- Conflicts.h - which buffers are in use at one time -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_MEMORY_PLACEMENT_CONFLICTS_H
#define TENON_PASSES_MEMORY_PLACEMENT_CONFLICTS_H

#include "passes/memory/placement/Instance.h"
#include <span>

namespace tenon::placement {

/// Counts the pairs of conflicting buffers. O(n log n).
int64_t countConflicts(const Instance &instance);

/// Lists the conflicting buffers of each buffer, in ascending order, unless there are too many. O(n log n + conflicts)
/// time and memory.
class Conflicts {
public:
  explicit Conflicts(const Instance &instance);

  /// Whether there are few enough.
  bool isListed() const { return !starts.empty(); }

  std::span<const uint32_t> of(size_t buffer) const {
    return {others.data() + starts[buffer], others.data() + starts[buffer + 1]};
  }

  /// Ordered pairs.
  size_t count() const { return others.size(); }

private:
  std::vector<size_t> starts;
  std::vector<uint32_t> others;
};

} // namespace tenon::placement

#endif // TENON_PASSES_MEMORY_PLACEMENT_CONFLICTS_H
