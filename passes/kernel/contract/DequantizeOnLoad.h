//===- DequantizeOnLoad.h - weights that are dequantized by a kernel -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_DEQUANTIZEONLOAD_H
#define TENON_PASSES_KERNEL_CONTRACT_DEQUANTIZEONLOAD_H

#include "passes/kernel/contract/ColumnValues.h"

namespace tenon {

/// Dequantizes the RHS: in registers if there are few rows, or a panel at a time to scratch if there are many.
class DequantizeOnLoad : EmitterPart {
public:
  DequantizeOnLoad(LoopBuilder &nest, const ContractionProblem &problem, bool inRegisters);

  /// Adds all products of `rows` rows of a block of `vectors` vectors to `sums`, which has the sums of all rows of the
  /// block. `loadLhs` returns the element of a row at the current position.
  llvm::SmallVector<mlir::Value> emitProducts(int64_t vectors, mlir::ArrayRef<int64_t> rows, mlir::ValueRange sums,
                                              llvm::function_ref<mlir::Value(int64_t row)> loadLhs);

  /// Reserves scratch for panels of `width` columns. Returns the read that replaces that of the RHS.
  ElementRead beginPanels(int64_t width);
  /// Dequantizes `vectors` vectors of the panel at the current column.
  void packPanel(int64_t vectors);

private:
  void forBlocks(mlir::MutableArrayRef<mlir::Value> carried,
                 llvm::function_ref<void(mlir::Value first, int64_t steps, mlir::MutableArrayRef<mlir::Value>)> body);
  void forSteps(mlir::Value first, int64_t steps, int64_t vectors, mlir::MutableArrayRef<mlir::Value> carried,
                llvm::function_ref<void(int64_t vector, int64_t step, mlir::MutableArrayRef<mlir::Value>)> body);
  void prefetchNumbers(mlir::Value first, mlir::Value index, int64_t number, int64_t vectors);
  mlir::Value emitScale(int64_t vector);

  const bool inRegisters;
  /// The unroll factor: with it, the number of each step within a group is known statically.
  const int64_t unrolled;
  ElementRead panel;
  ColumnValues columns; ///< at the current step
};

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_DEQUANTIZEONLOAD_H
