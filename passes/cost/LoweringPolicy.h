//===- LoweringPolicy.h - which loops pools and selections become ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_LOWERINGPOLICY_H
#define TENON_PASSES_COST_LOWERINGPOLICY_H

#include <cstdint>

namespace tenon {

/// Decides whether a pool is computed one dimension after the other (passes/lower/tenon-to-linalg/Windows.cpp).
struct PoolPolicy {
  /// Bytes of the intermediate results, which must stay in cache.
  int64_t maxIntermediateBytes = 1 << 16;
  /// Bytes of an accumulator.
  int64_t accumulatorBytes = 4;
  /// The cost factor of vectors whose elements are not contiguous: they take two loads and a permutation.
  double stridedFactor = 2;
};

/// Decides how the first k elements of a line are found (passes/lower/tenon-to-linalg/Selection.cpp).
struct SelectionPolicy {
  /// A radix sort is used for at least `minSorted` results if the line has at most `maxElementsPerResult` elements for
  /// each result.
  int64_t minSorted = 129, maxElementsPerResult = 16;
  /// The largest number of results that are kept in order; more are kept in a heap.
  int64_t maxKeptInOrder = 16;
  /// The largest number of results that are sorted by comparing each with all others.
  int64_t maxCounted = 256;
  /// Elements of a block that is skipped as a whole if none of it is a result: a few vectors of ranks.
  int64_t blockElements = 64;
};

/// Decides how an index is drawn from a line (passes/lower/tenon-to-linalg/Sampling.cpp).
struct SamplingPolicy {
  /// Elements of a block whose sum is skipped as a whole before the place that is drawn.
  int64_t blockElements = 1024;
};

} // namespace tenon

#endif // TENON_PASSES_COST_LOWERINGPOLICY_H
