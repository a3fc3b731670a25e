//===- RandomSource.cpp - random numbers of a distribution ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/graph/RandomSource.h"
#include "mlir/IR/BuiltinTypes.h"
#include <cmath>
#include <numbers>

using namespace mlir;
using namespace tenon;

Value RandomSource::draw(ArrayRef<AffineExpr> shape, int64_t dropped) {
  Value bits = b.randomBits(key, stream++, shape);
  return dropped ? b.shiftRight(bits, b.scalarLike(static_cast<double>(dropped), bits)) : bits;
}

Value RandomSource::uniform(ArrayRef<AffineExpr> shape, Type type) {
  if (type.isF64()) {
    Value high = b.cast(draw(shape, 6), type), low = b.cast(draw(shape, 5), type);
    Value whole = b.add(b.mul(high, b.scalar(1 << 27, type)), low);
    return b.mul(whole, b.scalar(0x1p-53, type));
  }
  int digits = static_cast<int>(llvm::APFloat::semanticsPrecision(cast<FloatType>(type).getFloatSemantics()));
  return b.mul(b.cast(draw(shape, 32 - digits), type), b.scalar(std::ldexp(1.0, -digits), type));
}

Value RandomSource::normal(ArrayRef<AffineExpr> shape, Type type) {
  if (!type.isF64())
    type = b.f32();
  // The logarithm must not see 0.
  Value radius = b.log(b.sub(b.scalar(1, type), uniform(shape, type)));
  radius = b.sqrt(b.mul(radius, b.scalar(-2, type)));
  Value angle = b.mul(uniform(shape, type), b.scalar(2 * std::numbers::pi, type));
  return b.mul(radius, b.cos(angle));
}
