//===- EmitDim.cpp - expressions over symbols as arithmetic ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/EmitDim.h"
#include "dialects/tenon/Dims.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tenon;

/// True if a symbol, or a term of several, has a negative factor somewhere.
static bool subtractsSymbol(AffineExpr expr) {
  bool found = false;
  expr.walk([&](AffineExpr part) {
    if (part.getKind() == AffineExprKind::Mul)
      found |= getConstant(cast<AffineBinaryOpExpr>(part).getRHS()).value_or(0) < 0;
  });
  return found;
}

static Value createConstant(OpBuilder &b, Location loc, Type type, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

/// Emits the remainder with the sign of the divisor, which is positive.
static Value emitFloorMod(OpBuilder &b, Location loc, Value lhs, Value rhs) {
  Value rest = arith::RemSIOp::create(b, loc, lhs, rhs), zero = createConstant(b, loc, lhs.getType(), 0);
  Value isNegative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, rest, zero);
  return arith::SelectOp::create(b, loc, isNegative, arith::AddIOp::create(b, loc, rest, rhs), rest);
}

Value tenon::emitDim(OpBuilder &b, Location loc, AffineExpr expr, Type type, Dividends dividends,
                     llvm::function_ref<Value(AffineExpr)> leaf) {
  assert((type.isIndex() || type.isInteger(64)) && "extents are computed as index or i64");
  if (std::optional<int64_t> constant = getConstant(expr))
    return createConstant(b, loc, type, *constant);
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary) {
    Value value = leaf(expr);
    assert(value && value.getType() == type && "a leaf gives a value of the type that the expression is computed in");
    return value;
  }
  Value lhs = emitDim(b, loc, binary.getLHS(), type, dividends, leaf),
        rhs = emitDim(b, loc, binary.getRHS(), type, dividends, leaf);
  if (expr.getKind() == AffineExprKind::Add)
    return arith::AddIOp::create(b, loc, lhs, rhs);
  if (expr.getKind() == AffineExprKind::Mul)
    return arith::MulIOp::create(b, loc, lhs, rhs);
  bool mayBeNegative = dividends != Dividends::notNegative && subtractsSymbol(binary.getLHS()),
       isSigned = dividends == Dividends::any || mayBeNegative;
  if (!getConstant(binary.getRHS())) {
    Value one = createConstant(b, loc, type, 1);
    rhs = isSigned ? arith::MaxSIOp::create(b, loc, rhs, one).getResult()
                   : arith::MaxUIOp::create(b, loc, rhs, one).getResult();
  }
  switch (expr.getKind()) {
  case AffineExprKind::FloorDiv:
    return isSigned ? arith::FloorDivSIOp::create(b, loc, lhs, rhs).getResult()
                    : arith::DivUIOp::create(b, loc, lhs, rhs).getResult();
  case AffineExprKind::CeilDiv:
    return isSigned ? arith::CeilDivSIOp::create(b, loc, lhs, rhs).getResult()
                    : arith::CeilDivUIOp::create(b, loc, lhs, rhs).getResult();
  case AffineExprKind::Mod:
    if (isSigned)
      return emitFloorMod(b, loc, lhs, rhs);
    return arith::RemUIOp::create(b, loc, lhs, rhs);
  default:
    llvm_unreachable("constants, dimensions and symbols are leaves");
  }
}
