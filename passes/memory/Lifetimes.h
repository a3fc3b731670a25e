//===- Lifetimes.h - when a program uses its activations -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_MEMORY_LIFETIMES_H
#define TENON_PASSES_MEMORY_LIFETIMES_H

#include "dialects/plan/Plan.h"
#include "llvm/ADT/DenseMap.h"
#include <limits>
#include <vector>

namespace tenon {

/// Bytes of an activation, and the first and last instruction between which they hold data.
struct LiveRange {
  static constexpr int64_t kAll = std::numeric_limits<int64_t>::max(); // format: stands for all bytes
  int64_t first, last;
  int64_t begin = 0, end = kAll; ///< of the activation; kAll where that ends
};

/// An activation and the numbers of the first and the last instruction that use it, or may use it in the next iteration
/// of a loop. Both are -1 if nothing uses it.
struct Activation {
  plan::AllocOp alloc;
  int64_t first, last;
  /// The disjoint live ranges of an activation that is idle for a time, or in some of its bytes; empty for one that is
  /// live as a whole from `first` to `last`.
  std::vector<LiveRange> liveRanges = {};

  /// Returns an upper bound for its bytes that is known before the run, if there is one.
  mlir::Value getRoom() { return alloc.getBound() ? alloc.getBound() : alloc.getSize(); }
};

/// When launches run, by the numbers of lifetimes.
using LaunchTimes = llvm::DenseMap<mlir::Operation *, int64_t>;

/// Returns all activations of a program, in the order of their allocations.
std::vector<Activation> computeLifetimes(plan::ProgramOp program, LaunchTimes *times = nullptr);

} // namespace tenon

#endif // TENON_PASSES_MEMORY_LIFETIMES_H
