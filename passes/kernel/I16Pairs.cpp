//===- I16Pairs.cpp - dot products of two i16 ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/I16Pairs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/kernel/K4Groups.h"

using namespace mlir;
using namespace tenon;

static constexpr int64_t kI16Bits = 16; // format: of packed i16

static Value getNumber(OpBuilder &b, Location loc, Type type, int64_t number) {
  Attribute element = b.getIntegerAttr(getElementTypeOrSelf(type), number);
  auto vector = dyn_cast<VectorType>(type);
  return arith::ConstantOp::create(
      b, loc, vector ? cast<TypedAttr>(DenseElementsAttr::get(vector, element)) : cast<TypedAttr>(element));
}

static Value getUpper(OpBuilder &b, Location loc, Value pair) {
  return arith::ShRSIOp::create(b, loc, pair, getNumber(b, loc, pair.getType(), kI16Bits));
}

static Value getLower(OpBuilder &b, Location loc, Value pair) {
  return getUpper(b, loc, arith::ShLIOp::create(b, loc, pair, getNumber(b, loc, pair.getType(), kI16Bits)));
}

Value tenon::emitI16Dot(OpBuilder &b, Location loc, Value x, Value y) {
  Value lower = arith::MulIOp::create(b, loc, getLower(b, loc, x), getLower(b, loc, y));
  Value upper = arith::MulIOp::create(b, loc, getUpper(b, loc, x), getUpper(b, loc, y));
  return arith::AddIOp::create(b, loc, lower, upper);
}

static bool isI16Bits(Value value) {
  APInt bits;
  return matchPattern(value, m_ConstantInt(&bits)) && bits == kI16Bits;
}

/// The pair whose upper i16 `value` is.
static Value matchUpper(Value value) {
  auto shift = value.getDefiningOp<arith::ShRSIOp>();
  return shift && isI16Bits(shift.getRhs()) ? shift.getLhs() : Value();
}

static Value matchLower(Value value) {
  Value upper = matchUpper(value);
  auto shift = upper ? upper.getDefiningOp<arith::ShLIOp>() : arith::ShLIOp();
  return shift && isI16Bits(shift.getRhs()) ? shift.getLhs() : Value();
}

std::optional<std::pair<Value, Value>> tenon::matchI16Dot(Value value) {
  auto sum = value.getDefiningOp<arith::AddIOp>();
  auto lower = sum ? sum.getLhs().getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  auto upper = sum ? sum.getRhs().getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  if (!lower || !upper || !sum.getType().isInteger(32))
    return std::nullopt;
  Value x = matchLower(lower.getLhs()), y = matchLower(lower.getRhs());
  bool fits = x && y && matchUpper(upper.getLhs()) == x && matchUpper(upper.getRhs()) == y;
  return fits ? std::optional(std::pair(x, y)) : std::nullopt;
}

Value tenon::addI16Dots(OpBuilder &b, Location loc, Int8Dot form, Value sums, Value x, Value y) {
  if (form == Int8Dot::scalar)
    return arith::AddIOp::create(b, loc, sums, emitI16Dot(b, loc, x, y));
  auto elements = VectorType::get({2 * cast<VectorType>(sums.getType()).getNumElements()}, b.getI16Type());
  auto split = [&](Value pairs) -> Value { return vector::BitCastOp::create(b, loc, elements, pairs); };
  // On targets with VNNI, the product and the addition are one instruction (vpdpwssd).
  return addPmaddWd(b, loc, sums, split(x), split(y));
}
