//===- ReductionPolicy.h - when reductions are split and normalizations kept whole -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_REDUCTIONPOLICY_H
#define TENON_PASSES_COST_REDUCTIONPOLICY_H

#include <cstdint>

namespace tenon {

/// Decides how reductions and normalizations are shared among threads (passes/simplify).
struct ReductionPolicy {
  /// A reduction to at most `fewResults` elements is split into two if each sums at least `manyElements`.
  int64_t fewResults = 8, manyElements = 1 << 16;
  /// A reduction over the pixels of an image is split by lines for at least so many pixels and elements.
  int64_t minPixels = 112, minImageElements = 1 << 14;
  /// A normalization computes a row per tile. Rows from `longRow` elements on need at least `minRows` of them to keep
  /// all threads busy.
  int64_t longRow = 1 << 15, minRows = 16;
};

} // namespace tenon

#endif // TENON_PASSES_COST_REDUCTIONPOLICY_H
