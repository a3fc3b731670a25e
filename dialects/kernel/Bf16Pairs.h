//===- Bf16Pairs.h - two bf16 in 32 bits ----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pair is two bf16 in an i32, the first one lower, as vdpbf16ps (AVX512-BF16) multiplies them. What lowers operations
// to loops emits products of pairs element by element, and what vectorizes these recognizes them.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_KERNEL_BF16PAIRS_H
#define TENON_DIALECTS_KERNEL_BF16PAIRS_H

#include "mlir/IR/Builders.h"
#include <optional>
#include <utility>

namespace tenon::kernel {

/// The pair of two f32, each rounded to the nearest bf16.
mlir::Value emitBf16Pair(mlir::OpBuilder &b, mlir::Location loc, mlir::Value first, mlir::Value second);

/// The two numbers of a pair as f32; or of a vector of pairs, as vectors.
std::pair<mlir::Value, mlir::Value> widenBf16Pair(mlir::OpBuilder &b, mlir::Location loc, mlir::Value pair);

/// The dot product of two pairs, an f32.
mlir::Value emitBf16Dot(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y);
/// Returns the pairs whose dot product `value` is, if `emitBf16Dot` has emitted it.
std::optional<std::pair<mlir::Value, mlir::Value>> matchBf16Dot(mlir::Value value);

} // namespace tenon::kernel

#endif // TENON_DIALECTS_KERNEL_BF16PAIRS_H
