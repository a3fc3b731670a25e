//===- ColumnLoops.h - loops over columns in vectors ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_COLUMNLOOPS_H
#define TENON_PASSES_KERNEL_CONTRACT_COLUMNLOOPS_H

#include "passes/kernel/contract/EmitterPart.h"

namespace tenon {

/// Emits loops over the columns of a tile in vectors: over all columns, over the panel of each group, or over the
/// columns that are packed together.
class ColumnLoops : EmitterPart {
public:
  ColumnLoops(LoopBuilder &nest, const ContractionProblem &problem);

  /// True if operands of a depthwise convolution are packed some columns at a time.
  bool packsColumns() const { return isPacked; }
  /// Returns the number of columns that `forVectors` loops over: those of the tile, of one group, or of one packed
  /// part.
  mlir::Value getExtent();
  /// True if the last vector of columns has a single one.
  bool isLastColumnAlone();

  /// Emits `body` for the first column of each group, or of each packed part.
  void forGroups(llvm::function_ref<void(mlir::Value firstColumn)> body);
  /// Emits `body` for blocks of `block.vectors` vectors of columns, then for the remainder, in one block if the extent
  /// is static and in narrower blocks if it is not. The last vector may be masked.
  void forVectors(RegisterBlock block, llvm::function_ref<void(int64_t vectors, mlir::Value mask)> body);

private:
  const bool isPacked;
  mlir::Value firstColumn; ///< of the current group; null if there is one
};

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_COLUMNLOOPS_H
