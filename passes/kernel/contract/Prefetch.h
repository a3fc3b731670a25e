//===- Prefetch.h - prefetching of the panels of the RHS ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_PREFETCH_H
#define TENON_PASSES_KERNEL_CONTRACT_PREFETCH_H

#include "passes/kernel/contract/RowLoops.h"

namespace tenon {

/// Prefetches what will be read of the RHS.
class Prefetch : EmitterPart {
public:
  Prefetch(LoopBuilder &nest, const ContractionProblem &problem, const Operands &operands, const KBlocking &kBlocking,
           const RowLoops &rowLoops)
      : EmitterPart(nest, problem), operands(operands), kBlocking(kBlocking), rowLoops(rowLoops) {}

  /// Prefetches the share of one step of one register block in the panels that follow. `loop` is the innermost summed
  /// loop.
  void prefetchPanels(unsigned loop, UnrolledStep step, const SumBlock &block);
  /// The same for a step of `vectors` panels of terms in AMX tiles.
  void prefetchTermPanels(int64_t vectors);

private:
  void prefetchLaterSteps(const SumBlock &block);
  void countOuterBlocks(mlir::AffineExpr &number, llvm::SmallVector<mlir::Value> &places, int64_t &count);
  void moveToNextTermPanels(int64_t vectors);

  const Operands &operands;
  const KBlocking &kBlocking;
  const RowLoops &rowLoops;
};

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_PREFETCH_H
