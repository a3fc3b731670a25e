//===- Bf16Split.h - operands that are split to bf16 terms on load --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_BF16SPLIT_H
#define TENON_PASSES_KERNEL_CONTRACT_BF16SPLIT_H

#include "passes/kernel/contract/KBlocking.h"

namespace tenon {

/// Splits f32 operands of a contraction with `terms` into bf16 terms in scratch memory, from which AMX tiles load them.
class Bf16Split : EmitterPart {
public:
  Bf16Split(LoopBuilder &nest, const ContractionProblem &problem, const KBlocking &kBlocking)
      : EmitterPart(nest, problem), kBlocking(kBlocking), lhsTerms(contraction.terms->lhs) {}

  /// Splits all rows of the tile, for the current K-block. Does nothing if the LHS is stored in terms.
  void splitLhs();
  /// The reads of the LHS terms, the largest first: from the operand or from the memory that `splitLhs` wrote.
  mlir::ArrayRef<ElementRead> getLhsTerms() const { return lhsTerms; }

  /// Splits the first pair of panels of a tile with `columns` columns. Must be called once if the RHS is split in the
  /// kernel.
  void beginRhs(mlir::Value columns);
  /// Selects the pair of panels that is split meanwhile. Must be called before a pair of panels, or one panel, is
  /// multiplied.
  void moveToPanels();
  /// Splits the share of the current step in the block of rows at `row`. If the next panels are those of the next tile,
  /// they are prefetched instead.
  void splitShare(mlir::Value row);
  mlir::Value getRhsMemory() const { return terms; }
  /// Returns the indices of a term of the current step, `panel` panels from the current one.
  llvm::SmallVector<mlir::Value> getRhsIndices(int64_t panel, int64_t term);

private:
  /// Two neighboring panels that are split.
  struct PanelPair {
    mlir::Value slot;   ///< its number among the pairs that are kept
    mlir::Value column; ///< the first column
    mlir::Value begin;  ///< the first iteration of the K-block
    mlir::Value panels; ///< how many panels exist
    mlir::Value rows;   ///< pairs of rows of each panel
    mlir::Value exists; ///< whether this tile has the pair
  };
  mlir::Value getKBegin();
  int64_t getKLength();
  mlir::Value getRowsOfPanels();
  mlir::Value countPanels(mlir::Value column);
  mlir::Value countRows(mlir::Value begin);
  int64_t countStepsOfBlock();
  mlir::Value getStepOfBlock();
  mlir::Value countRowBlocks();
  mlir::Value getRowBlock(mlir::Value row);
  void forRows(int64_t panel, mlir::Value first, mlir::Value last, llvm::function_ref<void(mlir::Value)> body);
  llvm::SmallVector<mlir::Value> getSourceIndices(int64_t panel, mlir::Value row);
  void splitElements(mlir::Value elements, int64_t count,
                     llvm::function_ref<void(int64_t term, mlir::Value elements)> store);
  void splitRow(int64_t panel, mlir::Value row);
  void prefetchRow(int64_t panel, mlir::Value row);

  const KBlocking &kBlocking;
  llvm::SmallVector<ElementRead> lhsTerms;
  mlir::Value columnExtent;
  mlir::Value source;           ///< the RHS as [panel, pair of rows, columns in pairs]
  mlir::Value terms;            ///< [slot, panel, step, term, pair of rows, columns in pairs]
  mlir::Value slot, firstPanel; ///< of the panels that are multiplied now
  mlir::Value share;            ///< pairs of rows that are split at a step of a block of rows
  PanelPair next;               ///< the pair that is split now
};

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_BF16SPLIT_H
