//===- Operands.h - what the products of a contraction are loaded from ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_OPERANDS_H
#define TENON_PASSES_KERNEL_CONTRACT_OPERANDS_H

#include "passes/kernel/contract/EmitterPart.h"

namespace tenon {

/// The operands of a contraction as they are loaded: from their own memory or from a packed copy, promoted to the type
/// of the sums. At the border of a convolution, rows of the LHS may be loaded from zeros.
class Operands : EmitterPart {
public:
  Operands(LoopBuilder &nest, const ContractionProblem &problem);

  const ElementRead &getLhs() const { return lhs; }
  const ElementRead &getRhs() const { return rhs; }
  /// Loads the LHS from a copy that is packed in groups of `group` neighbours along the summed loop, in the type that
  /// is multiplied.
  void setLhs(const ElementRead &packed, int64_t group);
  void setRhs(const ElementRead &packed) { rhs = packed; }
  /// Loads both operands from where they are stored again.
  void reset();
  /// Neighbours of the LHS that are packed together.
  int64_t getLhsGroup() const { return lhsGroup; }

  /// Loads elements of the LHS from rows that are packed for each register block (PackRows.h); null if there are none.
  void setPackedRows(mlir::Value memory) { packedRows = memory; }
  bool hasPackedRows() const { return bool(packedRows); }
  /// Loads elements of the LHS from one buffer for each row of the block, at the current step of the loop after the
  /// window's. Empty: from the LHS again.
  void setPixels(llvm::SmallVector<mlir::Value> memory) { pixels = std::move(memory); }

  /// The element of the LHS in a row of a block of `blockRows` rows at the current position, in the type of the sums.
  mlir::Value loadElement(int64_t row, int64_t blockRows);
  /// Neighbours along the summed loop in a row of the LHS, as many as `type` has.
  mlir::Value loadNeighbours(int64_t row, mlir::VectorType type);
  /// A vector of columns of `read`, which is of an operand or of the destination, in the type of the sums. The last
  /// vector of the block is masked as that is. If there is a `condition` that does not hold, the elements are 0.
  mlir::Value loadVector(const ElementRead &read, int64_t row, int64_t vector, const SumBlock &block,
                         mlir::Value condition = {});

private:
  mlir::Value getLhsMemory(int64_t row) const { return pixels.empty() ? lhs.memory : pixels[row]; }
  llvm::SmallVector<mlir::Value> getLhsIndices(int64_t row);

  ElementRead lhs, rhs;
  int64_t lhsGroup = 1;
  bool promotesLhs;
  mlir::Value packedRows;
  llvm::SmallVector<mlir::Value> pixels;
};

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_OPERANDS_H
