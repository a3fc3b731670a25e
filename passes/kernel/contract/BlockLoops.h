//===- BlockLoops.h - loops around the register blocks of a tile ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_BLOCKLOOPS_H
#define TENON_PASSES_KERNEL_CONTRACT_BLOCKLOOPS_H

#include "passes/kernel/contract/Reduction.h"

namespace tenon {

/// Emits the loops of a vector micro-kernel.
class BlockLoops : EmitterPart {
public:
  BlockLoops(const EmitterParts &parts, VectorKernel &kernel)
      : EmitterPart(parts.nest, parts.problem), parts(parts), kernel(kernel), reduction(parts, kernel) {}

  /// Emits all loops, with versions for numbers of rows that the schedule names.
  void emit();
  /// Emits all loops, in blocks that registers hold.
  void emitBlocks();

private:
  BlockProblem getBlockProblem();
  RegisterBlock chooseBlock();
  void emitWholeAndLastTile();
  void emitFewRows();
  void emitLoops();
  void emitPanels();
  void emitPackedColumns();
  void emitColumnsOfRows();
  bool isRhsCommon();
  bool readsColumnsInOrder();
  void emitBlock(const SumBlock &block);

  const EmitterParts parts;
  VectorKernel &kernel;
  Reduction reduction;
  RegisterBlock chosen{1, 1};
};

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_BLOCKLOOPS_H
