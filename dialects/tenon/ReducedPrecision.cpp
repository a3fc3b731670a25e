//===- ReducedPrecision.cpp - f16 and bf16, and their casts to f32 --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/ReducedPrecision.h"

using namespace mlir;
using namespace tenon;

bool tenon::isReducedPrecision(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16();
}

bool tenon::isWidened(Value value) {
  auto cast = value.getDefiningOp<CastOp>();
  return cast && isReducedPrecision(cast.getInput().getType()) && cast.getType().getElementType().isF32();
}
