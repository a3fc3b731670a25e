//===- CopyPolicy.h - which f16 and bf16 operands kernels convert as they copy them -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_COPYPOLICY_H
#define TENON_PASSES_COST_COPYPOLICY_H

#include <cstdint>

namespace tenon {

/// Decides whether a kernel converts an f16 or bf16 operand to f32 as it copies a tile of it to scratch
/// (PromotedCopies.h). The limits are those of the scratch that kernels have for it.
struct CopyPolicy {
  /// A row is copied if its length is a multiple of `rowMultiple` elements and at most `maxDepth`; scratch has room for
  /// a tile of 56 such rows.
  int64_t rowMultiple = 16, maxDepth = 4096;
  /// Bytes that the windows of `pixels` neighbouring pixels may cover.
  int64_t maxWindowBytes = 1 << 18;
  int64_t pixels = 16;
};

} // namespace tenon

#endif // TENON_PASSES_COST_COPYPOLICY_H
