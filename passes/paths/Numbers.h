//===- Numbers.h - scalars of what paths compute --------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_NUMBERS_H
#define TENON_PASSES_PATHS_NUMBERS_H

#include "dialects/tenon/Tenon.h"

namespace tenon {

/// Creates a constant of rank 0, rounded to `type`.
mlir::Value createNumber(mlir::OpBuilder &b, mlir::Location loc, mlir::FloatType type, double value);

} // namespace tenon

#endif // TENON_PASSES_PATHS_NUMBERS_H
