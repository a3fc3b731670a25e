//===- Int8Kernel.h - dot products of int8 in vector registers ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_INT8KERNEL_H
#define TENON_PASSES_KERNEL_CONTRACT_INT8KERNEL_H

#include "passes/kernel/contract/VectorKernel.h"

namespace tenon {

/// A vector micro-kernel for int8 contractions with VNNI packing. A step sums a group of four i8, or the remainder of
/// the summed dimension. A derived class decides which instructions compute the products.
class Int8Kernel : public VectorKernel {
public:
  using VectorKernel::VectorKernel;
  /// Skips the first `count` groups of each sum, which are summed elsewhere.
  void skipGroups(int64_t count) { firstGroup = count; }

  bool versionsFewRows() const override { return false; }
  bool emitsLoop(unsigned loop) const override { return loop == *contraction.dot4Loop; }
  llvm::SmallVector<mlir::Value> emitLoops(Reduction &reduction, llvm::ArrayRef<unsigned> loops, const SumBlock &block,
                                           llvm::ArrayRef<int64_t> rows, mlir::ValueRange sums) override;
  llvm::SmallVector<mlir::Value> emitStep(const SumBlock &block, llvm::ArrayRef<int64_t> rows,
                                          mlir::ValueRange sums) override;

protected:
  /// True if two groups are unrolled for blocks at the border of a convolution, too.
  virtual bool unrollsBorder() const { return true; }
  /// Splits groups of the RHS, and one of the LHS, into the vectors whose products `addProducts` adds one after the
  /// other.
  virtual llvm::SmallVector<mlir::Value> splitRhs(mlir::Value groups) { return {groups}; }
  virtual llvm::SmallVector<mlir::Value> splitLhs(mlir::Value group);
  virtual mlir::Value addProducts(mlir::Value sum, mlir::Value lhs, mlir::Value rhs) = 0;
  /// Loads the groups of a vector of columns. Panels are padded with zeros beyond the last column and beyond the summed
  /// dimension.
  mlir::Value loadRhsGroups(int64_t vector);

private:
  mlir::Value loadLhsGroup(int64_t row);

  int64_t firstGroup = 0;
  int64_t groupBytes = 4; ///< that the current group has
};

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_INT8KERNEL_H
