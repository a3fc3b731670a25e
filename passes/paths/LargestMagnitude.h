//===- LargestMagnitude.h - the largest magnitude of rows or images --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_LARGESTMAGNITUDE_H
#define TENON_PASSES_PATHS_LARGESTMAGNITUDE_H

#include "mlir/IR/Builders.h"

namespace tenon {

/// Emits the largest magnitude of the elements of `x`, of f32, in its dimensions from `first` on: a tensor of the
/// dimensions before. More than one such dimension, as of an image, is reduced in parts that are contiguous in memory,
/// so that threads share them, and then in one.
mlir::Value emitLargestMagnitude(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, int64_t first);

/// Returns the elements of a part of `count` of them: the largest number from `least` to `most` that divides it, or
/// none.
int64_t chooseMagnitudePart(int64_t count, int64_t least, int64_t most);

} // namespace tenon

#endif // TENON_PASSES_PATHS_LARGESTMAGNITUDE_H
