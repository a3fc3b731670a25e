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

/// Loads the operands of a contraction from their own memory or from a packed copy, and promotes them to the type of
/// the sums. At the border of a convolution, rows of the LHS may be loaded from zeros.
class Operands : EmitterPart {
public:
  Operands(LoopBuilder &nest, const ContractionProblem &problem);

  const ElementRead &getLhs() const { return lhs; }
  const ElementRead &getRhs() const { return rhs; }
  /// Switches the LHS to a packed copy with groups of `group` neighbours along the summed loop, in the type that is
  /// multiplied.
  void setLhs(const ElementRead &packed, int64_t group);
  void setRhs(const ElementRead &packed) { rhs = packed; }
  /// Switches both operands back to their own memory.
  void reset();
  /// Neighbours of the LHS that are packed together.
  int64_t getLhsGroup() const { return lhsGroup; }

  /// Switches elements of the LHS to rows that are packed for each register block (PackRows.h); null switches back.
  void setPackedRows(mlir::Value memory) { packedRows = memory; }
  bool hasPackedRows() const { return bool(packedRows); }
  /// Switches elements of the LHS to one buffer for each row of the block, indexed by the current step of the loop
  /// after the window's. An empty list switches back to the LHS.
  void setPixels(llvm::SmallVector<mlir::Value> memory) { pixels = std::move(memory); }

  /// Loads the element of the LHS in a row of a block of `blockRows` rows at the current position, in the type of the
  /// sums.
  mlir::Value loadElement(int64_t row, int64_t blockRows);
  /// Loads as many neighbours along the summed loop in a row of the LHS as `type` has elements.
  mlir::Value loadNeighbours(int64_t row, mlir::VectorType type);
  /// Loads a vector of columns of `read`, which reads an operand or the destination, in the type of the sums. The last
  /// vector of the block has the block's mask. If there is a `condition` and it is false, the elements are 0.
  mlir::Value loadVector(const ElementRead &read, int64_t row, int64_t vector, const SumBlock &block,
                         mlir::Value condition = {});
  /// Loads a vector of columns of the RHS, or sums two, at the current position.
  mlir::Value loadColumns(int64_t vector, const SumBlock &block);

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
