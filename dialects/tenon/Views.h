//===- Views.h - operations whose results may share memory ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TENON_VIEWS_H
#define TENON_DIALECTS_TENON_VIEWS_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Value.h"

namespace tenon {

class ConcatOp;
class LoopOp;
class SliceOp;

/// True if the elements of a slice are contiguous in the memory of its input, in the same order.
bool isContiguous(SliceOp slice);
/// Where a contiguous slice begins, in elements.
mlir::AffineExpr getOffset(SliceOp slice);

/// True if the elements of each input of a concat are contiguous in the memory of its result.
bool isContiguous(ConcatOp concat);

/// True if elements stay in their order where dimensions `dims` are permuted: those that move have an extent of 1.
bool keepsElementOrder(llvm::ArrayRef<mlir::AffineExpr> dims, llvm::ArrayRef<int64_t> permutation);

/// The value that a chain of reshapes begins with.
mlir::Value getReshaped(mlir::Value value);

/// Returns the value at the start of a chain of reshapes and slices: outside of kernels all of them are views of its
/// memory.
mlir::Value getViewed(mlir::Value value);

/// True if the value that a loop carries as this argument of its body has the same extents in each iteration.
bool keepsExtents(LoopOp loop, mlir::BlockArgument argument);

} // namespace tenon

#endif // TENON_DIALECTS_TENON_VIEWS_H
