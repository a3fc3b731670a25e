//===- I16Pairs.h - dot products of two i16 ------------------------===//
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

// A pair is two signed i16 in 32 bits, the first one lower. Sums wrap around at 32 bits.

/// The dot product of two pairs, an i32.
mlir::Value emitI16Dot(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y);
/// Returns the pairs whose dot product `value` is, if `emitI16Dot` has emitted it.
std::optional<std::pair<mlir::Value, mlir::Value>> matchI16Dot(mlir::Value value);

/// Adds the dot products of vectors of pairs to vectors of sums.
mlir::Value addI16Dots(mlir::OpBuilder &b, mlir::Location loc, Int8Dot form, mlir::Value sums, mlir::Value x,
                       mlir::Value y);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_I16PAIRS_H
