//===- ElementRead.h - what a body reads for a point of its loops ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_ELEMENTREAD_H
#define TENON_PASSES_KERNEL_ELEMENTREAD_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace tenon {

/// A bound on an index: 0 <= `step` * (the summed loop number `loop`) + `rest` < `size`. `step` is positive, and `rest`
/// and `size` depend on no summed loop.
struct ReadBound {
  unsigned loop;
  int64_t step;
  mlir::AffineExpr rest, size;
};

/// An element that the body uses: one of an operand, or one that the body loads itself if all bounds hold and replaces
/// by zero if they do not, as a convolution does beyond the borders of its input.
struct ElementRead {
  mlir::Value memory;                     ///< a tensor or a buffer
  mlir::AffineMap map;                    ///< of the loops; its symbols, which are those of the bounds, are `symbols`
  llvm::SmallVector<mlir::Value> symbols; ///< defined outside of the operation
  llvm::SmallVector<ReadBound> bounds;
  mlir::Value element = {}; ///< the value of the body; null where it is of no body
};

/// Returns the constant by which an index grows with each iteration of a loop; none if the step varies.
std::optional<int64_t> getStep(mlir::AffineExpr index, unsigned loop);

/// Whether a scalar is a constant 0 of any type.
bool isZero(mlir::Value value);

ElementRead getRead(mlir::OpOperand &operand);

/// Returns the element that a value of the body reads, if it is a read. The only bounds that are recognized are those
/// of windows: each bounds an index of the read that grows with one summed loop, up to a constant offset.
std::optional<ElementRead> matchRead(mlir::linalg::LinalgOp op, mlir::Value value);

/// Returns the f16 or bf16 element that an f32 value of the body is promoted from, if it is one.
std::optional<ElementRead> matchReducedPrecisionRead(mlir::linalg::LinalgOp op, mlir::Value value);

struct LoopRange {
  mlir::OpFoldResult begin, end;
};

/// Returns the iterations within [0, `extent`) of a summed loop in which all bounds on that loop hold. `position` has
/// the values of the parallel loops, and may have others.
LoopRange getRange(mlir::OpBuilder &b, mlir::Location loc, const ElementRead &read, unsigned loop, mlir::Value extent,
                   mlir::ArrayRef<mlir::Value> position);

/// Emits a condition that is true if the bounds on a summed loop hold at its current position.
mlir::Value emitBounds(mlir::OpBuilder &b, mlir::Location loc, const ElementRead &read, unsigned loop,
                       mlir::ArrayRef<mlir::Value> position);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_ELEMENTREAD_H
