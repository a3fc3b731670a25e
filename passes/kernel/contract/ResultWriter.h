//===- ResultWriter.h - what is stored of the sums of a contraction -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_RESULTWRITER_H
#define TENON_PASSES_KERNEL_CONTRACT_RESULTWRITER_H

#include "passes/kernel/Epilogue.h"
#include "passes/kernel/contract/ColumnLoops.h"

namespace tenon {

/// Applies the epilogue, the elementwise operations that follow the contraction, and stores the results of register
/// blocks.
class ResultWriter : EmitterPart {
public:
  /// Collects the operations of the epilogue. Moves the insertion point to where all their operands are defined.
  ResultWriter(LoopBuilder &nest, const ContractionProblem &problem);
  /// Erases the operations of the epilogue. Must be called after all blocks are emitted.
  void eraseEpilogue();
  /// True if rows that are summed twice have the same results, because none of their inputs is overwritten.
  bool mayRepeatRows() const;

  /// True if sums of the type of the result are stored as they are.
  bool storesSums() { return epilogue.empty() && getElementTypeOrSelf(op.getDpsInits()[0]) == type; }

  /// Prefetches the epilogue's inputs for each row of a block while the block is summed.
  void prefetch(const SumBlock &block);
  /// Applies the epilogue to all sums of a block and stores the results; `isLastColumnAlone` if its last vector has a
  /// single column.
  void store(mlir::MutableArrayRef<mlir::Value> sums, const SumBlock &block, bool isLastColumnAlone);

private:
  void applyEpilogue(mlir::MutableArrayRef<mlir::Value> sums, const SumBlock &block);

  llvm::SmallVector<EpilogueStage> epilogue;
};

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_RESULTWRITER_H
