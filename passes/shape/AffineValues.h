//===- AffineValues.h - integers that are affine in their position --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_SHAPE_AFFINEVALUES_H
#define TENON_PASSES_SHAPE_AFFINEVALUES_H

#include "dialects/tenon/Facts.h"
#include "mlir/IR/Value.h"

namespace tenon {

/// The element at [i, j...] is `offset + strides[0] * i + strides[1] * j + ...`, as exact integers. The stride of a
/// dimension of extent 1 is 0.
struct AffineValue {
  mlir::AffineExpr offset;
  llvm::SmallVector<int64_t> strides;
};

/// Returns the elements of an integer tensor (i32 or i64) as an affine function of their position; none if they are not
/// known to be affine. Arithmetic that overflows yields the exact result modulo 2^bits, so the element equals the
/// function's value wherever that value fits the type. `component` selects one coordinate of an index tensor, whose
/// last dimension then has extent 1.
std::optional<AffineValue> getAffineValue(const Facts &facts, mlir::Value value,
                                          std::optional<int64_t> component = std::nullopt);

/// Returns the smallest and the largest value over all positions of a tensor with these dimensions, none of which is 0.
mlir::AffineExpr getSmallest(const AffineValue &value, llvm::ArrayRef<mlir::AffineExpr> dims);
mlir::AffineExpr getLargest(const AffineValue &value, llvm::ArrayRef<mlir::AffineExpr> dims);

} // namespace tenon

#endif // TENON_PASSES_SHAPE_AFFINEVALUES_H
