//===- Epilogue.h - what changes a result in place, on vectors of it ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A loop nest of its own would read what a kernel has just written from a
// cache, and write it again. A stage of an epilogue does the same to vectors
// that are still in registers.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_EPILOGUE_H
#define TENON_PASSES_KERNEL_EPILOGUE_H

#include "passes/kernel/ElementRead.h"

namespace tenon {

/// A linalg.generic that changes each element of a buffer in place, or writes another buffer with it, by arithmetic
/// that vectors have, too.
struct EpilogueStage {
  mlir::linalg::GenericOp op;
  unsigned element; ///< the argument of the body that is the element
  /// What it reads beside the element itself, by the loops of what computes that, and the arguments for it. Each is
  /// contiguous along the columns, or the same in all of them.
  llvm::SmallVector<ElementRead> reads;
  llvm::SmallVector<unsigned> arguments;
};

/// Whether a scalar operation can be one on vectors of such lhs. Constants can.
bool isVectorArithmetic(mlir::Operation &op);

/// The stages that follow `producer` in order, with nothing but arithmetic on indices between. An element of `memory`
/// is computed at the point `place` of the producer's loops, the last of which, `columnLoop`, runs along vectors.
/// Another buffer takes the place of `memory` where nothing else uses that, which is of the kernel's own.
/// Functions that are calls (exp, erf) are no stages: LLVM vectorises loops over them.
llvm::SmallVector<EpilogueStage> matchEpilogue(mlir::Operation *producer, mlir::Value memory, mlir::AffineMap place,
                                               unsigned columnLoop);

/// Whether a read moves along the columns, or the same element serves a whole vector.
bool isAlongColumns(const ElementRead &read, unsigned columnLoop);

/// What a stage reads for `lanes` columns from the point on that `indices` say, of `read`'s memory. Zeros where
/// `active`, if it is given, is false.
mlir::Value emitVectorRead(mlir::OpBuilder &b, mlir::Location loc, const ElementRead &read, unsigned columnLoop,
                           mlir::ValueRange indices, int64_t lanes, mlir::Value active);

/// Makes of vectors of elements those after the stage, an operation of all of them at a time. `read` gives the vector
/// of what the stage's read of that number reads for the vector of that place.
void emitStage(mlir::OpBuilder &b, const EpilogueStage &stage, mlir::MutableArrayRef<mlir::Value> vectors,
               llvm::function_ref<mlir::Value(unsigned number, size_t place)> read);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_EPILOGUE_H
