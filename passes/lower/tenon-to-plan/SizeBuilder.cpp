//===- SizeBuilder.cpp - sizes as arithmetic at the start of a program ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lower/tenon-to-plan/SizeBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tenon;

bool SizeBuilder::knows(AffineExpr dim) const {
  bool known = true;
  dim.walk([&](AffineExpr e) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
      known &= knows(symbol.getPosition());
  });
  return known;
}

Value SizeBuilder::build(AffineExpr dim) {
  if (Value known = built.lookup(dim))
    return known;
  Value value = buildNew(dim);
  built[dim] = value;
  return value;
}

Value SizeBuilder::buildBytes(RankedTensorType type) {
  unsigned bits = type.getElementTypeBitWidth();
  MLIRContext *context = type.getContext();
  AffineExpr count = getElementCount(context, getDims(type));
  return build(mulDims(count, getDimConstant(context, (bits + 7) / 8)));
}

Value SizeBuilder::buildNew(AffineExpr dim) {
  if (std::optional<int64_t> constant = getConstant(dim))
    return arith::ConstantIndexOp::create(b, loc, *constant);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(dim))
    return symbols.lookup(symbol.getPosition());
  auto binary = cast<AffineBinaryOpExpr>(dim);
  Value lhs = build(binary.getLHS()), rhs = build(binary.getRHS());
  switch (dim.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(b, loc, lhs, rhs);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(b, loc, lhs, rhs);
  case AffineExprKind::FloorDiv:
    return arith::FloorDivSIOp::create(b, loc, lhs, rhs);
  case AffineExprKind::CeilDiv:
    return arith::CeilDivSIOp::create(b, loc, lhs, rhs);
  default:
    return arith::RemSIOp::create(b, loc, lhs, rhs);
  }
}
