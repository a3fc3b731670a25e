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
  /// Estimates compare forms of different kernels, whose shares of the peak differ by some percent. Without a
  /// measurement a form has to save this share of the time of its site.
  double minSavedShare = 0.02;
  /// How many times as large as the largest tensor of a product of three factors the product of two of them may be.
  double maxProductGrowth = 1;
  /// The share of the peak that products within attention reach, as those of operands that are not packed.
  double attentionShare = 0.7;
  /// The share of the memory's bandwidth at which keys and values of few queries are read a head at a time, from memory
  /// that has those of all heads side by side: 24 of 42 GB/s on two cores of Zen 4.
  double interleavedShare = 0.6;
};

} // namespace tenon

#endif // TENON_PASSES_COST_FORMPOLICY_H
