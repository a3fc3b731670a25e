//===- PowerScales.h - powers of two that rows are scaled by ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_POWERSCALES_H
#define TENON_PASSES_PATHS_POWERSCALES_H

#include "mlir/IR/Builders.h"

namespace tenon {

/// f32 of the same shape.
struct PowerScales {
  mlir::Value powers, reciprocals;
};

/// The exponents of scales.
inline constexpr int kMinScaleExponent = -100, kMaxScaleExponent = 126; // limit: reciprocals that are normal f32

/// Emits the powers of two at or below magnitudes of f32, and their reciprocals, both exact. What is smaller than the
/// smallest scale, such as 0, has that; what is larger than the largest one, such as infinities and NaN, has that one.
/// What is finite is below 2 after it is divided by its scale, or below 4 above the largest scale.
PowerScales emitPowerScales(mlir::OpBuilder &b, mlir::Location loc, mlir::Value magnitudes);

} // namespace tenon

#endif // TENON_PASSES_PATHS_POWERSCALES_H
