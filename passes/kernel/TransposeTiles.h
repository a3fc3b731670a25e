//===- TransposeTiles.h - tile sizes of transposes ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_TRANSPOSETILES_H
#define TENON_PASSES_KERNEL_TRANSPOSETILES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/cost/SizeHints.h"
#include "passes/cost/TransposePolicy.h"

namespace tenon {

/// How an operand of an elementwise stage is stored, against its result. Dimensions are those of the result, the
/// innermost first; dimensions of 1 are left out.
struct TransposedDims {
  llvm::SmallVector<unsigned> units;           ///< innermost in both, and few elements in all
  llvm::SmallVector<unsigned> operand, result; ///< the dimensions around them, as each is stored
};

/// The first input of `root` that is stored in another order than the result, whose indices `result` is and whose
/// dimensions are `dims`; none where all are stored as it is.
std::optional<TransposedDims> findTransposedDims(mlir::linalg::GenericOp root, mlir::AffineMap result,
                                                 llvm::ArrayRef<mlir::AffineExpr> dims,
                                                 const TransposePolicy &policy = {});

/// Tile sizes of a transpose, by result dimension: some lines of memory along what is contiguous in the operand, too,
/// of which no part is read twice then, and so that registers can transpose blocks. A short dimension is taken whole,
/// with some of the next one; so is a dynamic one, which may be 1. `target` counts elements of 32 bits: of narrower
/// ones, a tile has more.
llvm::SmallVector<int64_t> chooseTransposedSizes(llvm::ArrayRef<mlir::AffineExpr> dims,
                                                 const TransposedDims &transposed, const SizeHints &hints,
                                                 int64_t target, int64_t elementBits,
                                                 const TransposePolicy &policy = {});

} // namespace tenon

#endif // TENON_PASSES_KERNEL_TRANSPOSETILES_H
