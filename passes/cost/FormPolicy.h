//===- FormPolicy.h - what forms of a graph cost --------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_FORMPOLICY_H
#define TENON_PASSES_COST_FORMPOLICY_H

#include <cstdint>

namespace tenon {

/// The coefficients of the choice of forms (passes/forms).
struct FormPolicy {
  /// Estimates compare forms whose kernels reach shares of the peak that differ by some percent. Without a measurement
  /// a form must save this share of its site's time.
  double minSavedShare = 0.02;
  /// Upper bound for the product of two of three factors, relative to the largest tensor of the original expression.
  double maxProductGrowth = 1;
  /// Sums of f32 with fewer products than `minLongDepth` are as exact as any others. Those of `minInexactDepth` may be
  /// split even if the result has tiles for all threads: as a whole they are off by more than the default tolerance.
  int64_t minLongDepth = 1 << 13, minInexactDepth = 1 << 15;
  /// Convolutions with more filters have channels last: their vectors are full, or nearly so.
  int64_t maxFirstFilters = 16;
  /// A shorter line takes as long as one of so many elements, if it is copied with its border.
  double shortLineElements = 16;
  /// The share of the peak that the matmuls within attention reach; it is that of matmuls without packed operands.
  double attentionShare = 0.7;
  /// The share of the f32 peak that they reach if their factors are rounded to bf16, and the cycles that it takes to
  /// round an element of a key or a value and to store it in a pair.
  double attentionBf16Share = 1.1, bf16PairCycles = 0.1;
  /// AMX: cycles for each element of a value, half a pair, to transpose it (docs/performance/attention.md).
  double amxTransposeCycles = 0.1;
  /// The share of the memory's bandwidth at which keys and values of few queries are read a head at a time, from memory
  /// that has those of all heads side by side: 24 of 42 GB/s on two cores of Zen 4.
  double interleavedShare = 0.6;
};

} // namespace tenon

#endif // TENON_PASSES_COST_FORMPOLICY_H
