//===- RowLoops.h - loops over rows in register blocks --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_ROWLOOPS_H
#define TENON_PASSES_KERNEL_CONTRACT_ROWLOOPS_H

#include "passes/kernel/contract/Border.h"

namespace tenon {

/// Loops over the rows of a tile in register blocks.
class RowLoops : EmitterPart {
public:
  /// If `mayRepeatRows`, a block may sum rows that an earlier block has stored, with the same results.
  RowLoops(LoopBuilder &nest, const ContractionProblem &problem, Border &border, bool mayRepeatRows)
      : EmitterPart(nest, problem), border(border), mayRepeatRows(mayRepeatRows) {}

  /// Sets the register block, whose height is the step of the loops.
  void setBlock(RegisterBlock chosen) { block = chosen; }
  const RegisterBlock &getBlock() const { return block; }
  /// Sets a lower bound for a dynamic number of rows other than zero.
  void setMinRows(int64_t rows) { minRows = rows; }
  /// Returns the blocks of a static number of rows; none if it is dynamic.
  std::optional<RowBlocks> getRowBlocks() const;

  /// Emits `body` for the rows of all blocks, and passes it the height of the block.
  void forRows(llvm::function_ref<void(int64_t rows)> body);

private:
  void forStaticRows(const RowBlocks &blocks, llvm::function_ref<void(int64_t rows)> body);
  void forDynamicRows(llvm::function_ref<void(int64_t rows)> body);
  void forBlocks(mlir::Value begin, mlir::Value end, int64_t rows, llvm::function_ref<void(int64_t rows)> body);
  int64_t countSmallerHeights(int64_t step);
  mlir::Value forBlocksOfSomeHeights(llvm::function_ref<void(int64_t rows)> body);
  mlir::Value forHeights(mlir::Value begin, mlir::ArrayRef<int64_t> heights,
                         llvm::function_ref<void(int64_t rows)> body);

  Border &border;
  const bool mayRepeatRows;
  RegisterBlock block{1, 1};
  int64_t minRows = 1;
};

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_ROWLOOPS_H
