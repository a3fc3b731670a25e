//===- IntegerGroupKernel.h - integers of groups that have scales ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_INTEGERGROUPKERNEL_H
#define TENON_PASSES_KERNEL_CONTRACT_INTEGERGROUPKERNEL_H

#include "passes/kernel/contract/ColumnValues.h"
#include "passes/kernel/contract/VectorKernel.h"

namespace tenon {

/// A micro-kernel that sums the products of a group as integers, and scales the sum once.
class IntegerGroupKernel : public VectorKernel {
public:
  explicit IntegerGroupKernel(const EmitterParts &parts)
      : VectorKernel(parts), groups(*contraction.integerGroups), values(nest, problem) {}
  void limitBlock(BlockProblem &block) const override;
  RegisterBlock adjustBlock(RegisterBlock chosen) const override;
  bool allowsPackedRows() const override { return false; }
  bool allowsKBlocks() const override { return true; }
  bool emitsLoop(unsigned loop) const override { return loop == groups.loop; }
  llvm::SmallVector<mlir::Value> emitLoops(Reduction &reduction, llvm::ArrayRef<unsigned> loops, const SumBlock &block,
                                           llvm::ArrayRef<int64_t> rows, mlir::ValueRange sums) final;

protected:
  /// The integer sums of a group, vectors of i32: one for each row and vector, row by row, and then those that the
  /// micro-kernel has besides.
  using GroupSums = llvm::SmallVector<mlir::Value>;

  /// Registers that hold neither sums of rows nor, doubled, integers of them.
  virtual int64_t countOtherRegisters() const = 0;
  /// The number of sums besides those of rows.
  virtual int64_t countOtherSums(int64_t vectors) const { return 0; }
  /// The i32 of a group whose code is not a loop, and those of an iteration if it is one.
  virtual int64_t getUnrolledWords() const = 0;
  /// Called at the beginning of each group.
  virtual void beginGroup(mlir::Value first, int64_t vectors) {}
  /// Adds the products of the i32 at `step`, at which the nest stands.
  virtual void addWord(mlir::Value step, int64_t vectors, llvm::ArrayRef<int64_t> rows, GroupSums &sums) = 0;
  /// Returns the sum of row `i` of `rows` rows and vector `v` of `vectors`.
  virtual mlir::Value getSum(const GroupSums &sums, int64_t i, int64_t rows, int64_t v, int64_t vectors) {
    return sums[i * vectors + v];
  }

  /// Loads a vector of i32 of the current step.
  mlir::Value loadWords(int64_t vector);
  /// Loads neighbours of a row that are `offset` beyond `step` and fill an i32, for all columns: a vector of i32.
  mlir::Value loadRow(int64_t row, mlir::Value step, int64_t offset);
  /// Prefetches what is at a fixed distance from the i32 at `step`, and moves the nest there.
  void prefetchWord(mlir::Value step, int64_t vectors);
  mlir::Value splatInteger(int64_t number);

  const IntegerGroups &groups;
  ColumnValues values;
  const mlir::VectorType integers = mlir::VectorType::get({lanes}, b.getI32Type());

private:
  GroupSums sumGroup(mlir::Value first, int64_t vectors, llvm::ArrayRef<int64_t> rows);
  void addWordAt(mlir::Value step, int64_t vectors, llvm::ArrayRef<int64_t> rows, GroupSums &sums);
};

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_INTEGERGROUPKERNEL_H
