//===- QuadProducts.h - sums of products of unsigned with signed bytes ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_QUADPRODUCTS_H
#define TENON_PASSES_KERNEL_QUADPRODUCTS_H

#include "mlir/IR/Builders.h"
#include "passes/cost/Int8Dot.h"

namespace tenon {

// A quad is four bytes that are multiplied with four others, pair by pair. They lie in 32 bits, the first one lowest.

/// Whether products are of bytes as they lie, all four of a quad in one part.
bool takesWholeQuads(Int8Dot form);
/// A vector of quads of signed bytes, and a quad of unsigned ones for all `lanes`, in the parts whose products
/// `addProducts` takes.
llvm::SmallVector<mlir::Value> splitSigned(mlir::OpBuilder &b, mlir::Location loc, Int8Dot form, mlir::Value quads);
llvm::SmallVector<mlir::Value> splitUnsigned(mlir::OpBuilder &b, mlir::Location loc, Int8Dot form, mlir::Value quad,
                                             int64_t lanes);
/// Unsigned quads as words, each as (first, third, second, fourth): the parts that `splitUnsigned` takes of them where
/// products are of pairs, side by side.
mlir::Value widenQuads(mlir::OpBuilder &b, mlir::Location loc, mlir::Value quads);
/// A vector of 32-bit sums and the products of one part.
mlir::Value addProducts(mlir::OpBuilder &b, mlir::Location loc, Int8Dot form, mlir::Value sums, mlir::Value isUnsigned,
                        mlir::Value isSigned);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_QUADPRODUCTS_H
