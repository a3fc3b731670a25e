//===- K4Groups.h - groups of four int8 in a vector -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_K4GROUPS_H
#define TENON_PASSES_KERNEL_K4GROUPS_H

#include "mlir/IR/Builders.h"

namespace tenon {

// Four int8 that are neighbours along the summed dimension are stored in 32 bits, the first one lowest (VNNI packing).
// On targets without int8 dot products, they are widened first: to i32, one of the four at a time, or to i16, two at a
// time, as (first, third) and (second, fourth).

/// Broadcasts an i32 group of the LHS to vectors of 4 * `lanes` i8.
mlir::Value broadcastK4Group(mlir::OpBuilder &b, mlir::Location loc, mlir::Value group, int64_t lanes);

/// Splits a vector of groups of signed or unsigned i8 into vectors of `wide`, whose elements are i32 (four vectors) or
/// i16 (two vectors), in the order in which their products belong together.
llvm::SmallVector<mlir::Value> splitSignedK4Groups(mlir::OpBuilder &b, mlir::Location loc, mlir::VectorType wide,
                                                   mlir::Value groups);
llvm::SmallVector<mlir::Value> splitUnsignedK4Groups(mlir::OpBuilder &b, mlir::Location loc, mlir::VectorType wide,
                                                     mlir::Value groups);

/// Widens groups of unsigned i8 to i16 in the order (first, third, second, fourth): each group has both vectors that
/// `splitUnsignedK4Groups` returns for i16, concatenated.
mlir::Value widenK4Groups(mlir::OpBuilder &b, mlir::Location loc, mlir::Value groups);

/// Adds the sum of two i16 products to each element of an i32 vector: vpmaddwd in vectors of 128, 256 or 512 bits.
mlir::Value addPmaddWd(mlir::OpBuilder &b, mlir::Location loc, mlir::Value sums, mlir::Value x, mlir::Value y);

/// Calls the LLVM intrinsic for vectors of `bits` bits, whose name differs between AVX-512, AVX2 and SSE.
mlir::Value callX86Vector(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type, int64_t bits,
                          llvm::ArrayRef<llvm::StringRef> names, mlir::ValueRange operands);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_K4GROUPS_H
