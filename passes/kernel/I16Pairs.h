//===- I16Pairs.h - sums of two products of words ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_I16PAIRS_H
#define TENON_PASSES_KERNEL_I16PAIRS_H

#include "mlir/IR/Builders.h"
#include "passes/cost/Int8Dot.h"
#include <optional>
#include <utility>

namespace tenon {

// A pair is two signed words in 32 bits, the first one lower. What sums have beyond 32 bits is lost.

/// The sum of what two pairs have as products, of i32.
mlir::Value emitProductsOfPair(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y);
/// The pairs, where `value` is what `emitProductsOfPair` made.
std::optional<std::pair<mlir::Value, mlir::Value>> matchProductsOfPair(mlir::Value value);

/// Vectors of sums, and what vectors of pairs add to them.
mlir::Value addProductsOfPairs(mlir::OpBuilder &b, mlir::Location loc, Int8Dot form, mlir::Value sums, mlir::Value x,
                               mlir::Value y);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_I16PAIRS_H
