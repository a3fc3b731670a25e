//===- BoundSizes.h - what sizes that data decides are at most ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_SHAPE_BOUNDSIZES_H
#define TENON_PASSES_SHAPE_BOUNDSIZES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon {

/// Adds bounds to the symbols of `tenon.bind`, derived from how their values are computed. They are checked at run
/// time, so arithmetic that overflows is harmless.
void boundSizes(mlir::func::FuncOp function);

} // namespace tenon

#endif // TENON_PASSES_SHAPE_BOUNDSIZES_H
