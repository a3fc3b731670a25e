//===- Reduction.h - the summed loops of a register block -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_REDUCTION_H
#define TENON_PASSES_KERNEL_CONTRACT_REDUCTION_H

#include "passes/kernel/contract/VectorKernel.h"

namespace tenon {

/// Emits the summed loops of a register block, and in them the steps of a micro-kernel.
class Reduction : EmitterPart {
public:
  Reduction(const EmitterParts &parts, VectorKernel &kernel)
      : EmitterPart(parts.nest, parts.problem), parts(parts), kernel(kernel) {}

  /// Adds the products of `loops` to the sums of `rows` rows of a block; `sums` has the sums of all its rows, row by
  /// row.
  llvm::SmallVector<mlir::Value> emit(mlir::ArrayRef<unsigned> loops, const SumBlock &block,
                                      mlir::ArrayRef<int64_t> rows, mlir::ValueRange sums);
  /// The same for all summed loops and rows of a block.
  llvm::SmallVector<mlir::Value> emitAll(const SumBlock &block, mlir::ValueRange sums);

private:
  llvm::SmallVector<mlir::Value> emitLoop(mlir::ArrayRef<unsigned> loops, LoopRange range, const SumBlock &block,
                                          mlir::ArrayRef<int64_t> rows, mlir::ValueRange sums);
  llvm::SmallVector<mlir::Value> emitSteps(mlir::ArrayRef<unsigned> loops, mlir::Value begin, mlir::Value end,
                                           int64_t unrolled, const SumBlock &block, mlir::ArrayRef<int64_t> rows,
                                           mlir::ValueRange sums);

  const EmitterParts parts;
  VectorKernel &kernel;
};

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_REDUCTION_H
