//===- MaskedKeyBlocks.h - keys that a mask of positions hides ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_LOWER_TENON_TO_LINALG_MASKEDKEYBLOCKS_H
#define TENON_PASSES_LOWER_TENON_TO_LINALG_MASKEDKEYBLOCKS_H

#include "dialects/tenon/Tenon.h"

namespace tenon {

/// A condition on the positions of a query and a key. A key is masked if it does not hold. If it fails at one corner of
/// a block of queries and keys, it fails everywhere in the block.
struct LiveTest {
  mlir::Value condition;
  bool wanted;                                 ///< what the condition has to be for a key to count
  llvm::SmallVector<mlir::AffineExpr> indices; ///< of its element, over the indices of the scores
  bool atLastQuery, atLastKey;                 ///< the corner
};

/// A mask of at most kMaskValue hides a key: scores are far smaller in magnitude (an f32 sum of products near 5e7 has
/// no digits left) and cannot compensate it. A query has an unmasked key if its largest score is above kMaskedScore;
/// the exponentials of masked keys are 0 relative to it.
inline constexpr double kMaskValue = -1e8, kMaskedScore = -4e7; // math: precision of f32

/// Returns the conditions that follow from comparisons of positions in the body of `op`, as in a causal mask or a
/// sliding window. `indices` are those of a score, of which `query` and `key` are loops.
llvm::SmallVector<LiveTest> findLiveTests(AttentionOp op, llvm::ArrayRef<mlir::AffineExpr> indices,
                                          mlir::AffineExpr query, mlir::AffineExpr key);

} // namespace tenon

#endif // TENON_PASSES_LOWER_TENON_TO_LINALG_MASKEDKEYBLOCKS_H
