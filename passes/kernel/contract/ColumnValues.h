//===- ColumnValues.h - values of a contraction's body in vectors ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_COLUMNVALUES_H
#define TENON_PASSES_KERNEL_CONTRACT_COLUMNVALUES_H

#include "passes/kernel/Epilogue.h"
#include "passes/kernel/contract/EmitterPart.h"

namespace tenon {

/// Computes what the body of a contraction makes of its weights, for a vector of columns at a time.
class ColumnValues : EmitterPart {
public:
  ColumnValues(LoopBuilder &nest, const ContractionProblem &problem) : EmitterPart(nest, problem) {}

  /// Emits a value of the body at the current step: vector `vector` of the block's columns, or a scalar if it does not
  /// depend on the column.
  mlir::Value emit(mlir::Value value, int64_t vector);
  /// The same; a scalar is broadcast.
  mlir::Value emitVector(mlir::Value value, int64_t vector);
  /// Forgets what was emitted: to be called when the current step, column or insertion point has changed.
  void clear() { known.clear(); }

private:
  mlir::Value emitLookup(mlir::Operation *definition, int64_t vector);
  mlir::Value emitOnColumns(mlir::Operation *definition, int64_t vector);

  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> known;
};

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_COLUMNVALUES_H
