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

/// A condition on the places of a query and of a key. If it does not hold in one corner of a block of queries and keys
/// it holds nowhere in the block, and where it does not hold a key counts for nothing.
struct LiveTest {
  mlir::Value condition;
  bool wanted;                                 ///< what the condition has to be for a key to count
  llvm::SmallVector<mlir::AffineExpr> indices; ///< of its element, over the indices of the scores
  bool atLastQuery, atLastKey;                 ///< the corner
};

/// A mask with a number this low hides a key: scores themselves, which are far from it (of 5e7 a sum of products in f32
/// has no digit left), do not bring it back. A query has a key that counts where its largest score is above the other
/// number, beside which the exponentials of hidden ones are 0.
inline constexpr double kMaskValue = -1e8, kMaskedScore = -4e7; // math: precision of f32

/// The conditions that follow from comparisons of positions in the body of `op`, as in a causal mask or a sliding
/// window. `indices` are those of a score, of which `query` and `key` are loops.
llvm::SmallVector<LiveTest> findLiveTests(AttentionOp op, llvm::ArrayRef<mlir::AffineExpr> indices,
                                          mlir::AffineExpr query, mlir::AffineExpr key);

} // namespace tenon

#endif // TENON_PASSES_LOWER_TENON_TO_LINALG_MASKEDKEYBLOCKS_H
