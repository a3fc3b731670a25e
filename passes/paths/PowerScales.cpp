//===- PowerScales.cpp - powers of two that rows are scaled by -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/PowerScales.h"
#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/TenonBuilder.h"

using namespace mlir;
using namespace tenon;

PowerScales tenon::emitPowerScales(OpBuilder &b, Location loc, Value magnitudes) {
  TenonBuilder build(b, loc);
  Type f32 = b.getF32Type(), i32 = b.getI32Type();
  constexpr int kBias = 127, kMantissa = 23;    // format: of f32
  constexpr int64_t kExponentBits = 0x7f800000; // format: of f32
  auto bitsOf = [&](int exponent) { return build.scalar(i32, double(int64_t(kBias + exponent) << kMantissa)); };
  auto bitcast = [&](Value of, Type type) {
    return BitcastOp::create(b, loc, cast<RankedTensorType>(of.getType()).clone(type), of).getResult();
  };
  Value power = AndOp::create(b, loc, bitcast(magnitudes, i32), build.scalar(i32, double(kExponentBits)));
  power = MaxOp::create(b, loc, power, bitsOf(kMinScaleExponent));
  power = MinOp::create(b, loc, power, bitsOf(kMaxScaleExponent));
  // The exponents of a number and its reciprocal have a constant sum, the biased ones twice the bias.
  Value reciprocal = SubOp::create(b, loc, bitsOf(kBias), power);
  return {bitcast(power, f32), bitcast(reciprocal, f32)};
}
