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

/// The width of the panels that a dimension is packed in: one index is `loop floordiv width`, the last one
/// `loop mod width`, and no other has it. 0 where it is not so.
static int64_t getPanel(AffineMap map, unsigned loop) {
  auto getWidth = [&](AffineExpr index, AffineExprKind kind) -> int64_t {
    auto binary = dyn_cast<AffineBinaryOpExpr>(index);
    auto dim = binary ? dyn_cast<AffineDimExpr>(binary.getLHS()) : AffineDimExpr(nullptr);
    auto width = binary ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : AffineConstantExpr(nullptr);
    return dim && width && binary.getKind() == kind && dim.getPosition() == loop ? width.getValue() : 0;
  };
  if (map.getNumResults() < 2)
    return 0;
  int64_t width = getWidth(map.getResults().back(), AffineExprKind::Mod), numPanels = 0;
  for (AffineExpr index : map.getResults().drop_back()) {
    if (!index.isFunctionOfDim(loop))
      continue;
    if (getWidth(index, AffineExprKind::FloorDiv) != width)
      return 0;
    ++numPanels;
  }
  return numPanels == 1 ? width : 0;
}

/// Both operands are contiguous along the columns: `vectors` becomes the one that is the same for more of the
/// parallel loops, as the filter of a convolution is for all pixels.
static void findColumnwise(linalg::GenericOp op, Contraction &contraction) {
  auto countLoops = [&](OpOperand *operand) {
    return llvm::count_if(llvm::seq(op.getNumLoops()), [&](unsigned loop) {
      return op.getIteratorTypesArray()[loop] == utils::IteratorType::parallel &&
             op.getMatchingIndexingMap(operand).isFunctionOfDim(loop);
    });
  };
  OpOperand *first = op.getDpsInputOperand(0), *second = op.getDpsInputOperand(1);
  for (OpOperand *operand : {first, second})
    if (!isContiguous(op.getMatchingIndexingMap(operand), contraction.columnLoop))
      return;
  bool firstIsFilter = countLoops(first) < countLoops(second);
  contraction.vectors = firstIsFilter ? first : second;
  contraction.scalars = firstIsFilter ? second : first;
  contraction.isColumnwise = true;
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
    else if (isContiguous(map, column) || (contraction.panel = getPanel(map, column)))
      contraction.vectors = input;
  }
  if (!contraction.scalars && contraction.vectors && contraction.panel == 0)
    findColumnwise(op, contraction);
  if (!contraction.scalars || !contraction.vectors)
    return std::nullopt;
  // Of several loops that qualify one that is known to be long; else the last one, whose results lie closest together.
  AffineMap vectors = op.getMatchingIndexingMap(contraction.vectors);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  constexpr int64_t kLong = 4;
  auto getRank = [&](unsigned loop) {
    return ShapedType::isDynamic(ranges[loop]) ? kLong : ranges[loop] > kLong ? kLong + 1 : ranges[loop];
  };
  for (unsigned loop = 0; loop < column; ++loop)
    if (iterators[loop] == utils::IteratorType::parallel && !vectors.isFunctionOfDim(loop) &&
        op.getMatchingIndexingMap(contraction.scalars).isFunctionOfDim(loop) &&
        (!contraction.rowLoop || getRank(loop) >= getRank(*contraction.rowLoop)))
      contraction.rowLoop = loop;
  return contraction;
}
