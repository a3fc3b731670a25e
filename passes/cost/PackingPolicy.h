//===- PackingPolicy.h - which operands kernels pack to scratch -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_PACKINGPOLICY_H
#define TENON_PASSES_COST_PACKINGPOLICY_H

#include <cstdint>

namespace tenon {

/// Decides which parts of the operands of a contraction a kernel packs to the scratch memory of its thread
/// (passes/kernel/contract/Pack*.cpp).
struct PackingPolicy {
  /// Rows whose lines map to the same set of L1 are packed if there are at least `minRows` rows and `minColumns`
  /// columns, so that each copy is reused.
  int64_t minRows = 24, minColumns = 256;
  /// Upper bounds in bytes for the packed copy of a tile's LHS. An f32 copy of f16 or bf16 fits L2 together with a
  /// panel. An i16 copy of int8 may be larger, because it is read as a stream.
  int64_t maxPromotedBytes = 1 << 18, maxI16Bytes = 1 << 19;
  /// Panels with more groups of four int8 are not widened to i16; a panel of 32 columns would exceed 2 MiB.
  int64_t maxI16Groups = 1 << 13;
  /// Columns of a depthwise convolution that are packed at a time: two vectors of AVX-512.
  int64_t columns = 32;
  /// Columns are packed if pixels fall into at most `maxSets` sets of L1, each of which has `setLines` lines, and a
  /// register block needs more lines than these hold: some of the filter and of pixels for each tap, and
  /// `writtenLines` of the result. With more than `maxTaps` taps, the copies are few bytes for each product.
  int64_t maxSets = 16, setLines = 8, writtenLines = 4, maxTaps = 1 << 10;
};

} // namespace tenon

#endif // TENON_PASSES_COST_PACKINGPOLICY_H
