//===- NonNegative.h - values that have no elements below zero ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_NONNEGATIVE_H
#define TENON_PASSES_PATHS_NONNEGATIVE_H

#include "mlir/IR/Value.h"

namespace tenon {

/// True if the operations that compute a floating-point tensor make each finite element of it at least 0, whatever
/// their inputs are, as after a ReLU. False says nothing.
bool isNeverNegative(mlir::Value value);

} // namespace tenon

#endif // TENON_PASSES_PATHS_NONNEGATIVE_H
