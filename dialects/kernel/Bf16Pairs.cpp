//===- Bf16Pairs.cpp - two bf16 in 32 bits --------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/Bf16Pairs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tenon;

static constexpr int64_t kBf16Bits = 16;                        // format: of bf16
static constexpr int64_t kUpperBits = int64_t(-1) << kBf16Bits; // format: of the second bf16 of a pair

/// The number, as an element or a vector of the type.
static Value getNumber(OpBuilder &b, Location loc, Type type, int64_t number) {
  Attribute element = b.getIntegerAttr(b.getI32Type(), number);
  auto vector = dyn_cast<VectorType>(type);
  return arith::ConstantOp::create(
      b, loc, vector ? cast<TypedAttr>(DenseElementsAttr::get(vector, element)) : cast<TypedAttr>(element));
}

Value kernel::emitBf16Pair(OpBuilder &b, Location loc, Value first, Value second) {
  auto getBits = [&](Value number) -> Value {
    Value rounded = arith::TruncFOp::create(b, loc, b.getBF16Type(), number);
    Value bits = arith::BitcastOp::create(b, loc, b.getI16Type(), rounded);
    return arith::ExtUIOp::create(b, loc, b.getI32Type(), bits);
  };
  Value lower = getBits(first), upper = getBits(second);
  return arith::OrIOp::create(b, loc, lower,
                              arith::ShLIOp::create(b, loc, upper, getNumber(b, loc, b.getI32Type(), kBf16Bits)));
}

std::pair<Value, Value> kernel::widenBf16Pair(OpBuilder &b, Location loc, Value pair) {
  Type type = pair.getType(), floatType = b.getF32Type();
  if (auto vector = dyn_cast<VectorType>(type))
    floatType = vector.clone(floatType);
  // An f32 has the bits of its bf16 above.
  Value lower = arith::ShLIOp::create(b, loc, pair, getNumber(b, loc, type, kBf16Bits));
  Value upper = arith::AndIOp::create(b, loc, pair, getNumber(b, loc, type, kUpperBits));
  return {arith::BitcastOp::create(b, loc, floatType, lower), arith::BitcastOp::create(b, loc, floatType, upper)};
}

Value kernel::emitBf16Dot(OpBuilder &b, Location loc, Value x, Value y) {
  auto [lowerX, upperX] = widenBf16Pair(b, loc, x);
  auto [lowerY, upperY] = widenBf16Pair(b, loc, y);
  auto contract = arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::contract);
  Value lower = arith::MulFOp::create(b, loc, lowerX, lowerY, contract);
  Value upper = arith::MulFOp::create(b, loc, upperX, upperY, contract);
  return arith::AddFOp::create(b, loc, lower, upper, contract);
}

/// The pair whose bits, moved or masked by `Op` with `number`, are those of the f32 `value`.
template <typename Op> static Value matchHalf(Value value, int64_t number) {
  auto bitcast = value.getDefiningOp<arith::BitcastOp>();
  auto bits = bitcast ? bitcast.getIn().getDefiningOp<Op>() : Op();
  APInt found;
  bool fits = bits && bits.getType().isInteger(32) && matchPattern(bits.getRhs(), m_ConstantInt(&found)) &&
              found.getSExtValue() == number;
  return fits ? bits.getLhs() : Value();
}

std::optional<std::pair<Value, Value>> kernel::matchBf16Dot(Value value) {
  auto sum = value.getDefiningOp<arith::AddFOp>();
  auto lower = sum ? sum.getLhs().getDefiningOp<arith::MulFOp>() : arith::MulFOp();
  auto upper = sum ? sum.getRhs().getDefiningOp<arith::MulFOp>() : arith::MulFOp();
  if (!lower || !upper || !sum.getType().isF32())
    return std::nullopt;
  Value x = matchHalf<arith::ShLIOp>(lower.getLhs(), kBf16Bits),
        y = matchHalf<arith::ShLIOp>(lower.getRhs(), kBf16Bits);
  bool fits = x && y && matchHalf<arith::AndIOp>(upper.getLhs(), kUpperBits) == x &&
              matchHalf<arith::AndIOp>(upper.getRhs(), kUpperBits) == y;
  return fits ? std::optional(std::pair(x, y)) : std::nullopt;
}
