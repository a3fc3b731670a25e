//===- EmitDim.h - expressions over symbols as arithmetic -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TENON_EMITDIM_H
#define TENON_DIALECTS_TENON_EMITDIM_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"

namespace tenon {

/// What is known of the dividends in an expression.
enum class Dividends {
  notNegative, ///< indices: the unsigned forms do
  ofExtent,    ///< only one from which a symbol is subtracted may be negative; others are, or sizes are refused
  any          ///< rounding is to minus infinity, as `floordiv` and `mod` of affine expressions do
};

/// Emits an expression as operations of the arith dialect on values of `type`, which is index or i64; `leaf` returns
/// the value of a dimension or a symbol. A divisor that is not constant is replaced by 1 if it is 0: then there is no
/// element whose extents or indices it divides, but code before the loops must not trap.
mlir::Value emitDim(mlir::OpBuilder &b, mlir::Location loc, mlir::AffineExpr expr, mlir::Type type, Dividends dividends,
                    llvm::function_ref<mlir::Value(mlir::AffineExpr)> leaf);

} // namespace tenon

#endif // TENON_DIALECTS_TENON_EMITDIM_H
