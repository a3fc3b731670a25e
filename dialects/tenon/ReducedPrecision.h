//===- ReducedPrecision.h - f16 and bf16, and their casts to f32 ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TENON_REDUCEDPRECISION_H
#define TENON_DIALECTS_TENON_REDUCEDPRECISION_H

#include "dialects/tenon/Tenon.h"

namespace tenon {

/// True if a type, or the element type of a tensor, is f16 or bf16.
bool isReducedPrecision(mlir::Type type);

/// True if a value is the cast of an f16 or bf16 tensor to f32.
bool isWidened(mlir::Value value);

} // namespace tenon

#endif // TENON_DIALECTS_TENON_REDUCEDPRECISION_H
