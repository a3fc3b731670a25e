//===- Contraction.cpp - matrix products among linalg operations ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//


#include "passes/kernel/Contraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tenon;

/// Whether the body is `out + a * b`, of the two inputs.
static bool isMultiplyAdd(linalg::GenericOp op) {
  Block *body = op.getBody();
  auto yield = cast<linalg::YieldOp>(body->getTerminator());
  auto add = yield.getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!add || body->getOperations().size() != 3)
    return false;
  Value old = body->getArgument(2), other = add.getLhs() == old ? add.getRhs() : add.getLhs();
  auto mul = other.getDefiningOp<arith::MulFOp>();
  return mul && (add.getLhs() == old || add.getRhs() == old) &&
         ((mul.getLhs() == body->getArgument(0) && mul.getRhs() == body->getArgument(1)) ||
          (mul.getLhs() == body->getArgument(1) && mul.getRhs() == body->getArgument(0)));
}

/// Whether neighbours along `loop` are neighbours in memory: the last index is the loop, perhaps plus
/// others, and no other index has it.
static bool isContiguous(AffineMap map, unsigned loop) {
  if (map.getNumResults() == 0)
    return false;
  for (AffineExpr index : map.getResults().drop_back())
    if (index.isFunctionOfDim(loop))
      return false;
  AffineExpr last = map.getResults().back();
  auto isLoop = [&](AffineExpr e) {
    auto dim = dyn_cast<AffineDimExpr>(e);
    return dim && dim.getPosition() == loop;
  };
  if (isLoop(last))
    return true;
  auto sum = dyn_cast<AffineBinaryOpExpr>(last);
  return sum && sum.getKind() == AffineExprKind::Add &&
         ((isLoop(sum.getLHS()) && !sum.getRHS().isFunctionOfDim(loop)) ||
          (isLoop(sum.getRHS()) && !sum.getLHS().isFunctionOfDim(loop)));
}

std::optional<Contraction> tenon::matchContraction(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || op.getNumLoops() == 0)
    return std::nullopt;
  Type type = getElementTypeOrSelf(op.getDpsInits()[0]);
  if (!(type.isF32() || type.isF64()) || !isMultiplyAdd(op))
    return std::nullopt;
  for (Value input : op.getDpsInputs())
    if (getElementTypeOrSelf(input) != type)
      return std::nullopt;
  unsigned column = op.getNumLoops() - 1;
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (iterators[column] != utils::IteratorType::parallel || !isContiguous(out, column) ||
      op.getNumReductionLoops() == 0)
    return std::nullopt;

  Contraction contraction{nullptr, nullptr, column, std::nullopt};
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!map.isFunctionOfDim(column))
      contraction.scalars = input;
    else if (isContiguous(map, column))
      contraction.vectors = input;
  }
  if (!contraction.scalars || !contraction.vectors)
    return std::nullopt;
  // Of several loops that qualify the last one, whose results lie closest together.
  AffineMap vectors = op.getMatchingIndexingMap(contraction.vectors);
  for (unsigned loop = 0; loop < column; ++loop)
    if (iterators[loop] == utils::IteratorType::parallel && !vectors.isFunctionOfDim(loop) &&
        op.getMatchingIndexingMap(contraction.scalars).isFunctionOfDim(loop))
      contraction.rowLoop = loop;
  return contraction;
}
