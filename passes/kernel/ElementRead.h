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

/// A condition on a point: 0 <= `step` * (the summed loop number `loop`) + `rest` < `size`. `step` is positive, `rest`
/// grows with no summed loop and falls with none, and `size` depends on none.
struct ReadBound {
  unsigned loop;
  int64_t step;
  mlir::AffineExpr rest, size;
};

/// An element that the body uses: an operand's, or one that it reads by itself where all bounds hold, and zero where
/// they do not, as a convolution does beyond the borders of its input.
struct ElementRead {
  mlir::Value memory;                     ///< a tensor or a buffer
  mlir::AffineMap map;                    ///< of the loops; its symbols, which are those of the bounds, are `symbols`
  llvm::SmallVector<mlir::Value> symbols; ///< defined outside of the operation
  llvm::SmallVector<ReadBound> bounds;
  mlir::Value element = {}; ///< the value of the body; null where it is of no body
};

/// How much an index grows with a loop, where that is the same everywhere.
std::optional<int64_t> getStep(mlir::AffineExpr index, unsigned loop);

/// Whether a scalar is a constant 0 of any type.
bool isZero(mlir::Value value);

ElementRead getRead(mlir::OpOperand &operand);

/// The element that a value of the body is, where it is one. Of bounds only such are understood as windows have: each
/// of an index of the read that grows with one summed loop, counted from anywhere.
std::optional<ElementRead> matchRead(mlir::linalg::LinalgOp op, mlir::Value value);

/// The f16 or bf16 that a value of f32 in the body is widened from, where it is one.
std::optional<ElementRead> matchReducedPrecisionRead(mlir::linalg::LinalgOp op, mlir::Value value);

struct LoopRange {
  mlir::OpFoldResult begin, end;
};

/// The iterations of a summed loop, of [0, `extent`), in which all bounds hold that are about it. `position` has the
/// parallel loops' places, and may have others.
LoopRange getRange(mlir::OpBuilder &b, mlir::Location loc, const ElementRead &read, unsigned loop, mlir::Value extent,
                   mlir::ArrayRef<mlir::Value> position);

/// Whether the bounds hold that are about a summed loop, at its place.
mlir::Value emitBounds(mlir::OpBuilder &b, mlir::Location loc, const ElementRead &read, unsigned loop,
                       mlir::ArrayRef<mlir::Value> position);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_ELEMENTREAD_H
