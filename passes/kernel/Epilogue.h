//===- Epilogue.h - what changes a result in place, on vectors of it ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//  A separate loop nest would read what a kernel has just written from a cache, and write it again. A stage of an
//  epilogue applies the same operation to vectors that are still in registers.
//
// ===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_EPILOGUE_H
#define TENON_PASSES_KERNEL_EPILOGUE_H

#include "passes/kernel/ElementRead.h"

namespace tenon {

/// A linalg.generic that updates each element of a buffer in place, or writes another buffer from it, by arithmetic
/// that exists for vectors.
struct EpilogueStage {
  mlir::linalg::GenericOp op;
  unsigned element; ///< the argument of the body that is the element
  /// The other operands that the stage reads, as functions of the producer's loops, and the block arguments for them.
  /// Each is contiguous along the columns, or the same in all of them.
  llvm::SmallVector<ElementRead> reads;
  llvm::SmallVector<unsigned> arguments;
};

/// True if a scalar operation can be emitted on vectors. Constants can.
bool isVectorArithmetic(mlir::Operation &op);

/// Returns the stages that follow `producer` in order, with only index arithmetic in between. An element of `memory` is
/// computed at the point `place` of the producer's loops, the last of which, `columnLoop`, is vectorized. If a stage
/// writes another buffer, that buffer replaces `memory`, which must be local to the kernel and have no other use.
/// Stages that call functions (exp, erf) are left out: LLVM vectorizes loops over them.
llvm::SmallVector<EpilogueStage> matchEpilogue(mlir::Operation *producer, mlir::Value memory, mlir::AffineMap place,
                                               unsigned columnLoop);

/// True if a read moves along the columns; false if one element serves a whole vector.
bool isAlongColumns(const ElementRead &read, unsigned columnLoop);

/// Emits the vector that a stage reads from `read` for `lanes` columns, starting at the point `indices`. It is zero
/// where `active`, if given, is false.
mlir::Value emitVectorRead(mlir::OpBuilder &b, mlir::Location loc, const ElementRead &read, unsigned columnLoop,
                           mlir::ValueRange indices, int64_t lanes, mlir::Value active);

/// Applies the stage to `vectors` in place, to all of them at a time. `read` returns the vector of the stage's read
/// with the given number for the vector with the given position.
void emitStage(mlir::OpBuilder &b, const EpilogueStage &stage, mlir::MutableArrayRef<mlir::Value> vectors,
               llvm::function_ref<mlir::Value(unsigned number, size_t place)> read);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_EPILOGUE_H
