//===- VectorKernel.h - micro-kernels that sum in vector registers --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_VECTORKERNEL_H
#define TENON_PASSES_KERNEL_CONTRACT_VECTORKERNEL_H

#include "passes/kernel/contract/MicroKernel.h"

namespace tenon {

class Reduction;

/// A micro-kernel whose sums are a block of rows by vectors of columns in vector registers. BlockLoops emits the loops
/// around the blocks, Reduction the summed loops, and the micro-kernel the products of a step.
class VectorKernel : public MicroKernel {
public:
  using MicroKernel::MicroKernel;
  void emit() override;

  //===--- What BlockLoops asks ---===//

  /// Reserves the registers that the instructions need besides sums and operands, and bounds the size of blocks.
  virtual void limitBlock(BlockProblem &block) const {}
  /// Returns the block that is used instead of the chosen one.
  virtual RegisterBlock adjustBlock(RegisterBlock chosen) const { return chosen; }
  /// True if small numbers of rows may have their own versions of the code.
  virtual bool versionsFewRows() const { return true; }
  /// True if sums may be stored between K-blocks.
  virtual bool allowsKBlocks() const { return false; }
  /// True if rows of the LHS may be packed for register blocks.
  virtual bool allowsPackedRows() const { return true; }
  /// Called before and after the loops of a chosen block.
  virtual void beginBlocks(RegisterBlock block) {}
  virtual void endBlocks() {}
  /// Called for each block of columns before it is multiplied with all rows.
  virtual void packColumns(int64_t vectors) {}

  //===--- What Reduction asks ---===//

  /// True if the micro-kernel emits the summed loop `loop` itself, by `emitLoops`.
  virtual bool emitsLoop(unsigned loop) const { return false; }
  /// Adds the products of `loops`, the first of which the micro-kernel emits, to the sums of `rows` rows of a block.
  /// `sums` has the sums of all its rows. `reduction` emits the inner loops.
  virtual llvm::SmallVector<mlir::Value> emitLoops(Reduction &reduction, llvm::ArrayRef<unsigned> loops,
                                                   const SumBlock &block, llvm::ArrayRef<int64_t> rows,
                                                   mlir::ValueRange sums);
  /// Adds the products of the current step to the sums of `rows` rows of a block.
  virtual llvm::SmallVector<mlir::Value> emitStep(const SumBlock &block, llvm::ArrayRef<int64_t> rows,
                                                  mlir::ValueRange sums);
};

/// A vector micro-kernel whose steps multiply vectors of columns of the RHS with one element of each row of the LHS.
class BroadcastKernel : public VectorKernel {
public:
  using VectorKernel::VectorKernel;
  llvm::SmallVector<mlir::Value> emitStep(const SumBlock &block, llvm::ArrayRef<int64_t> rows,
                                          mlir::ValueRange sums) override;

protected:
  /// Adds the products of two vectors to a sum.
  virtual mlir::Value multiplyAdd(mlir::Value sum, mlir::Value lhs, mlir::Value rhs) = 0;
};

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_VECTORKERNEL_H
