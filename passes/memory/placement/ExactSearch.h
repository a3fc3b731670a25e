//===- ExactSearch.h - places within a capacity, if there are any ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Buffers are dropped onto a skyline: one height a column of time, as in exact strip packing (Martello, Monaci and
// Vigo, "An Exact Approach to the Strip-Packing Problem", 2003), but with fixed times. A valley is a run of columns of
// one height between higher ones. The next item on a column of a valley is either within the valley, and then placed
// directly on it without loss, or the column loses some height. So a step examines few buffers, no two branches have
// the same placement, and infeasibility is detected early: a column may lose no more than the capacity minus the sizes
// that it has yet to hold.
//
// From MiniMalloc (Moffitt, "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine Learning",
// ASPLOS 2023): the sum of the remaining sizes on a section as a bound, separate searches of independent parts, several
// orders in turn with growing limits. From constraint solvers: the choice with the fewest ways first, weighted by past
// failures (Boussemart et al., "Boosting Systematic Search by Weighting Constraints", 2004), and a table of states that
// are known to fail, which outlives restarts.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_MEMORY_PLACEMENT_EXACTSEARCH_H
#define TENON_PASSES_MEMORY_PLACEMENT_EXACTSEARCH_H

#include "passes/memory/placement/Budget.h"
#include "passes/memory/placement/Instance.h"

namespace tenon::placement {

enum class SearchEnd {
  found,
  impossible, ///< nothing fits (but for a collision of two hashes of 64 bits)
  gaveUp,     ///< the budget is spent
};

/// Searches offsets below `capacity` for buffers, all of nonzero size and lifetime, whose sizes are multiples of all
/// alignments. Writes them to `placement` if it finds any.
SearchEnd searchPlacement(const Instance &instance, int64_t capacity, Budget &budget, Placement &placement);

} // namespace tenon::placement

#endif // TENON_PASSES_MEMORY_PLACEMENT_EXACTSEARCH_H
