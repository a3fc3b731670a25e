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

/// The operations of an attention: the contraction of queries and keys, the softmax, the contraction with values, and
/// the operations in between.
struct AttentionMatch {
  ContractOp scores, mix;
  SoftmaxOp softmax;
  unsigned weightsNumber;                             ///< which operand of `mix` the weights are
  llvm::SmallVector<mlir::Operation *> before, after; ///< what is between `scores`, `softmax` and `mix`
  bool zeroesQueries;                                 ///< weights that are no numbers become 0
  mlir::Value weights;                                ///< after that

  mlir::Value getWeights() { return mix->getOperand(weightsNumber); }
};

/// Matches the attention that ends with the contraction `mix`; none if there is no match.
std::optional<AttentionMatch> matchAttention(ContractOp mix);

/// True if one kernel computes the attention: one index each for queries, keys and sizes, static sizes, and several
/// queries for each key.
bool isFusible(AttentionMatch m, const AttentionPolicy &policy);

/// True if the kernel may round the factors of both products to bf16: they are summed in f32, and there are more than
/// few queries, for which keys and values are read once anyway.
bool canRoundFactors(AttentionMatch m, const AttentionPolicy &policy);

/// True if its sizes are those of products that AMX tiles pay for.
bool fillsAmxTiles(AttentionMatch m, const AttentionPolicy &policy);

/// Replaces the matched operations by one attention, which rounds the factors of its products to bf16 if
/// `roundsFactors` and it may; null if they are not fusible. Dead operations are left.
AttentionOp fuseAttention(AttentionMatch m, const AttentionPolicy &policy, bool roundsFactors = false);

/// Returns true if the keys can be split: there are few queries, the number of keys is dynamic or large, and no mask
/// compares positions. Other kernels skip the blocks of keys that such a mask hides.
bool isSplittable(AttentionMatch m, const AttentionPolicy &policy);

/// Replaces the attention by one with `split_keys` and the operation that combines the splits. Returns the latter; null
/// if the keys cannot be split.
CombineSplitsOp splitAttention(AttentionMatch m, const AttentionPolicy &policy);

/// Erases what nothing reads any more, such as what went into bodies of attention.
void eraseUnused(mlir::func::FuncOp function);

} // namespace tenon

#endif // TENON_PASSES_FUSION_ATTENTIONMATCH_H
