//===- FloatWidening.h - a function in wider floats --------------*- C++ -*-===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PRECISION_FLOATWIDENING_H
#define TENON_PASSES_PRECISION_FLOATWIDENING_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"

namespace tenon {

/// Which floats become which.
struct FloatWidening {
  mlir::FloatType wide;
  llvm::function_ref<bool(mlir::Type element)> isNarrow;
  /// What takes and gives the model's own types, between casts. Other operations get wide operands and results, but for
  /// the function's arguments, which are cast where they are read.
  llvm::function_ref<bool(mlir::Operation *op)> keepsTypes;
  /// Narrow elements to which results are rounded where an operation computes them; their type is the wide one all the
  /// same. Null: none.
  llvm::function_ref<bool(mlir::Type element)> isRounded = nullptr;
};

/// Widens a function that has a body. Few elements of a weight become wide at once; more stay, and are cast behind it.
/// What was narrow and is wide again by a cast to exactly that type is the narrow value itself.
void widenFloats(mlir::func::FuncOp function, const FloatWidening &widening);

} // namespace tenon

#endif // TENON_PASSES_PRECISION_FLOATWIDENING_H
