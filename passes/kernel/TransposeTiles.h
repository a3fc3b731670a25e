//===- TransposeTiles.h - kernels whose result is a transpose ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_TRANSPOSETILES_H
#define TENON_PASSES_KERNEL_TRANSPOSETILES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/cost/TransposedTiles.h"

namespace tenon {

/// Returns the first input of `root` whose dimension order differs from that of the result, which has the map `result`
/// and the extents `dims`; none if all inputs have the order of the result.
std::optional<TransposedDims> findTransposedDims(mlir::linalg::LinalgOp root, mlir::AffineMap result,
                                                 llvm::ArrayRef<mlir::AffineExpr> dims,
                                                 const TransposePolicy &policy = {});

} // namespace tenon

#endif // TENON_PASSES_KERNEL_TRANSPOSETILES_H
