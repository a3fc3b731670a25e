//===- ValueBounds.h - between which values elements lie ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_SHAPE_VALUEBOUNDS_H
#define TENON_PASSES_SHAPE_VALUEBOUNDS_H

#include "dialects/tenon/Facts.h"
#include "dialects/tenon/Tenon.h"

namespace tenon {

/// The bounds of an element. An unknown end is null.
struct Bounds {
  std::optional<int64_t> min;
  mlir::AffineExpr max; ///< in symbols that data does not decide
};

/// Computes bounds of elements by interval arithmetic, backwards from a value. It assumes exact integers: a sum that
/// overflows, and a cast of NaN, may be out of bounds.
class ValueBounds {
public:
  explicit ValueBounds(const Facts &facts) : facts(facts) {}

  /// Returns the bounds of one element, numbered in row-major order, or of all elements.
  Bounds get(mlir::Value value, std::optional<int64_t> element);

private:
  Bounds compute(mlir::Operation *op, unsigned result, std::optional<int64_t> element);
  Bounds getOperand(mlir::Operation *op, unsigned operand, std::optional<int64_t> element);
  Bounds getBinary(mlir::Operation *op, const Bounds &a, const Bounds &b);
  Bounds getConcat(ConcatOp concat, std::optional<int64_t> element);
  Bounds getReduced(mlir::Value input, llvm::ArrayRef<int64_t> axes, ReduceKind kind);
  Bounds getIndex(mlir::Value input, int64_t axis);
  Bounds getExpr(mlir::AffineExpr expr);
  Bounds join(const Bounds &a, const Bounds &b);
  mlir::AffineExpr getSmaller(mlir::AffineExpr a, mlir::AffineExpr b);

  const Facts &facts;
  int64_t visits = 0;
};

} // namespace tenon

#endif // TENON_PASSES_SHAPE_VALUEBOUNDS_H
