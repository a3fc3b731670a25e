//===- LoopBuilder.h - loops and positions of a contraction ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_LOOPBUILDER_H
#define TENON_PASSES_KERNEL_CONTRACT_LOOPBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/kernel/Contraction.h"

namespace tenon {

/// One of `count` unrolled steps of a loop: step `number` of those that begin at iteration `first`. Each step sums
/// `length` iterations.
struct UnrolledStep {
  mlir::Value first;
  int64_t number = 0, count = 1, length = 1;
};

/// Builds the loop nest of a contraction. It knows the extent of each loop, and its current position.
class LoopBuilder {
public:
  /// Code is inserted before `op`, unless the insertion point of `b` is moved.
  LoopBuilder(kernel::ContractOp op, const Contraction &contraction);
  /// Emits the extents of the loops at the insertion point. Must be called once, before any function that uses an
  /// extent.
  void emitExtents(kernel::ContractOp op);

  mlir::OpBuilder b;
  const mlir::Location loc;

  //===--- Extents and positions ---===//

  mlir::Value getExtent(unsigned loop) const { return extents[loop]; }
  std::optional<int64_t> getStaticExtent(unsigned loop) const { return mlir::getConstantIntValue(extents[loop]); }
  mlir::ArrayRef<mlir::Value> getExtents() const { return extents; }
  /// For code that is versioned by the number of rows.
  void setExtent(unsigned loop, mlir::Value extent) { extents[loop] = extent; }
  /// The current iteration of a loop, or null outside of it.
  mlir::Value at(unsigned loop) const { return position[loop]; }
  mlir::ArrayRef<mlir::Value> getPosition() const { return position; }
  void moveTo(unsigned loop, mlir::Value iteration) { position[loop] = iteration; }
  /// Returns the row at which the current register block would begin if it had not been moved up to end with the last
  /// row.
  mlir::Value getBlockRow() const { return blockRow ? blockRow : position[*rowLoop]; }
  /// Sets that row; null means that blocks begin with the current row.
  void setBlockRow(mlir::Value row) { blockRow = row; }
  /// The current step of the innermost summed loop, if that is unrolled.
  const UnrolledStep &getUnrolledStep() const { return unrolledStep; }
  void moveToUnrolledStep(UnrolledStep step) { unrolledStep = step; }
  /// The parallel loops other than rows and columns, and the reduction loops, from the outermost one.
  mlir::ArrayRef<unsigned> getOuterLoops() const { return outerLoops; }
  mlir::ArrayRef<unsigned> getSummedLoops() const { return summedLoops; }

  //===--- Loops ---===//

  /// Emits a loop from `begin` to `end` with `body` in it; if there is a single iteration, emits only `body`.
  void forLoop(mlir::Value begin, mlir::Value end, int64_t step, llvm::function_ref<void(mlir::Value)> body);
  /// Runs `body` for the start of each full block of `step` iterations from `begin` on; returns the start of the
  /// remainder.
  mlir::Value forWholeBlocks(mlir::Value begin, mlir::Value end, int64_t step,
                             llvm::function_ref<void(mlir::Value)> body);
  /// Emits a nest of `loops`, each from 0 to its extent, and updates the position.
  void forParallel(mlir::ArrayRef<unsigned> loops, llvm::function_ref<void()> body);

  //===--- Indices ---===//

  mlir::Value constant(int64_t value) { return mlir::arith::ConstantIndexOp::create(b, loc, value); }
  /// Emits an affine expression whose symbols are `operands`.
  mlir::Value compute(mlir::AffineExpr expr, mlir::ArrayRef<mlir::Value> operands);
  /// `index`, `rows` beyond the current row.
  mlir::AffineExpr shiftRows(mlir::AffineExpr index, int64_t rows);
  /// Emits the indices of a read, `rows` rows and `columns` columns after the current position.
  llvm::SmallVector<mlir::Value> getIndices(const ElementRead &read, int64_t rows, int64_t columns);

private:
  const std::optional<unsigned> rowLoop;
  const unsigned columnLoop;
  llvm::SmallVector<mlir::Value> extents, position;
  llvm::SmallVector<unsigned> outerLoops, summedLoops;
  mlir::Value blockRow;
  UnrolledStep unrolledStep;
};

/// Returns the largest value of an extent, such as that of a tile if the last tile may be smaller; none if it is
/// unbounded.
std::optional<int64_t> getUpperBound(mlir::Value extent);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_LOOPBUILDER_H
