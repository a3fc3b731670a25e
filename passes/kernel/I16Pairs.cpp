//===- I16Pairs.cpp - sums of two products of words ----------------------===//
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

static constexpr int64_t kWordBits = 16; // format: of packed i16

static Value getNumber(OpBuilder &b, Location loc, Type type, int64_t number) {
  Attribute element = b.getIntegerAttr(getElementTypeOrSelf(type), number);
  auto vector = dyn_cast<VectorType>(type);
  return arith::ConstantOp::create(
      b, loc, vector ? cast<TypedAttr>(DenseElementsAttr::get(vector, element)) : cast<TypedAttr>(element));
}

static Value getUpper(OpBuilder &b, Location loc, Value pair) {
  return arith::ShRSIOp::create(b, loc, pair, getNumber(b, loc, pair.getType(), kWordBits));
}

static Value getLower(OpBuilder &b, Location loc, Value pair) {
  return getUpper(b, loc, arith::ShLIOp::create(b, loc, pair, getNumber(b, loc, pair.getType(), kWordBits)));
}

Value tenon::emitProductsOfPair(OpBuilder &b, Location loc, Value x, Value y) {
  Value lower = arith::MulIOp::create(b, loc, getLower(b, loc, x), getLower(b, loc, y));
  Value upper = arith::MulIOp::create(b, loc, getUpper(b, loc, x), getUpper(b, loc, y));
  return arith::AddIOp::create(b, loc, lower, upper);
}

static bool isWordBits(Value value) {
  APInt bits;
  return matchPattern(value, m_ConstantInt(&bits)) && bits == kWordBits;
}

/// The pair that `word` is the upper half of.
static Value matchUpper(Value word) {
  auto shift = word.getDefiningOp<arith::ShRSIOp>();
  return shift && isWordBits(shift.getRhs()) ? shift.getLhs() : Value();
}

static Value matchLower(Value word) {
  Value upper = matchUpper(word);
  auto shift = upper ? upper.getDefiningOp<arith::ShLIOp>() : arith::ShLIOp();
  return shift && isWordBits(shift.getRhs()) ? shift.getLhs() : Value();
}

std::optional<std::pair<Value, Value>> tenon::matchProductsOfPair(Value value) {
  auto sum = value.getDefiningOp<arith::AddIOp>();
  auto lower = sum ? sum.getLhs().getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  auto upper = sum ? sum.getRhs().getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  if (!lower || !upper || !sum.getType().isInteger(32))
    return std::nullopt;
  Value x = matchLower(lower.getLhs()), y = matchLower(lower.getRhs());
  bool fits = x && y && matchUpper(upper.getLhs()) == x && matchUpper(upper.getRhs()) == y;
  return fits ? std::optional(std::pair(x, y)) : std::nullopt;
}

Value tenon::addProductsOfPairs(OpBuilder &b, Location loc, Int8Dot form, Value sums, Value x, Value y) {
  if (form == Int8Dot::Scalar)
    return arith::AddIOp::create(b, loc, sums, emitProductsOfPair(b, loc, x, y));
  auto words = VectorType::get({2 * cast<VectorType>(sums.getType()).getNumElements()}, b.getI16Type());
  auto split = [&](Value pairs) -> Value { return vector::BitCastOp::create(b, loc, words, pairs); };
  // With the sum it is one instruction (vpdpwssd) where there are products of four bytes.
  return addPmaddWd(b, loc, sums, split(x), split(y));
}
