//===- AttentionMatch.h - attention as a model has it ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_FUSION_ATTENTIONMATCH_H
#define TENON_PASSES_FUSION_ATTENTIONMATCH_H

#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/cost/AttentionPolicy.h"
#include <optional>

namespace tenon {

/// A contraction, a softmax, a contraction, and what is between them.
struct AttentionMatch {
  ContractOp scores, mix;
  SoftmaxOp softmax;
  unsigned weightsNumber;                             ///< which operand of `mix` the weights are
  llvm::SmallVector<mlir::Operation *> before, after; ///< what is between `scores`, `softmax` and `mix`
  bool zeroesQueries;                                 ///< weights that are no numbers become 0
  mlir::Value weights;                                ///< after that

  mlir::Value getWeights() { return mix->getOperand(weightsNumber); }
};

/// The attention that ends with a contraction, if it does.
std::optional<AttentionMatch> matchAttention(ContractOp mix);

/// Whether one kernel does this: one index each for what has one, sizes that are known, and queries to share each key.
bool isFusible(AttentionMatch m, const AttentionPolicy &policy);

/// Puts one operation in the place of all; null where that is not fusible. What nothing reads any more is left.
AttentionOp fuseAttention(AttentionMatch m, const AttentionPolicy &policy);

/// Whether kernels do this a split of the keys at a time: few queries, keys whose number is open or large, and no
/// comparison of positions, since masks never hide a whole split.
bool isSplittable(AttentionMatch m, const AttentionPolicy &policy);

/// Puts attention for each split of the keys, and what combines them, in the place of all; the latter, or null where
/// that is not possible.
CombineSplitsOp splitAttention(AttentionMatch m, const AttentionPolicy &policy);

/// Erases what nothing reads any more, such as what went into bodies of attention.
void eraseUnused(mlir::func::FuncOp function);

} // namespace tenon

#endif // TENON_PASSES_FUSION_ATTENTIONMATCH_H
