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
  /// Operations that keep the model's types, between casts. All others get wide operands and results; function
  /// arguments are cast where they are read.
  llvm::function_ref<bool(mlir::Operation *op)> keepsTypes;
  /// Narrow element types to which results are rounded after each operation, although they are stored in the wide type.
  /// Null means none.
  llvm::function_ref<bool(mlir::Type element)> isRounded = nullptr;
};

/// Widens a function with a body. Small weights are widened at compile time; larger ones stay, and are followed by a
/// cast. A cast of a narrow value to exactly the wide type is folded.
void widenFloats(mlir::func::FuncOp function, const FloatWidening &widening);

} // namespace tenon

#endif // TENON_PASSES_PRECISION_FLOATWIDENING_H
