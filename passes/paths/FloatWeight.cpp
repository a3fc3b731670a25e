//===- FloatWeight.cpp - floats that paths may quantize -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/FloatWeight.h"
#include "dialects/tenon/WeightBytes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/cost/SizeHints.h"
#include "passes/paths/SplitProduct.h"
#include "passes/precision/ConstantMatrices.h"

using namespace mlir;
using namespace tenon;

WeightOp tenon::findFloatWeight(OpOperand &operand, llvm::function_ref<bool(Operation *)> isProduct) {
  auto cast = operand.get().getDefiningOp<CastOp>();
  auto weight = (cast ? cast.getInput() : operand.get()).getDefiningOp<WeightOp>();
  if (!weight || !getFloatKind(weight.getType().getElementType()) || !getBytes(weight.getValue()))
    return {};
  bool isOfProducts = llvm::all_of(weight->getUsers(), [&](Operation *user) {
    return isProduct(user) || (isa<CastOp>(user) && llvm::all_of(user->getUsers(), isProduct));
  });
  return isOfProducts ? weight : WeightOp();
}

void tenon::eraseUnread(RewriterBase &rewriter, Operation *op) {
  while (op && isOpTriviallyDead(op)) {
    Operation *source = op->getNumOperands() ? op->getOperand(0).getDefiningOp() : nullptr;
    rewriter.eraseOp(op);
    op = source;
  }
}

bool tenon::keepsRows(ContractOp op, OpOperand &rows) {
  assert(rows.getOwner() == op && "the rows are an operand of the product");
  bool isLhs = rows.getOperandNumber() == 0;
  ArrayRef<int64_t> own = isLhs ? op.getLhsDims() : op.getRhsDims();
  return own.drop_back() == op.getResultDims().drop_back();
}

double tenon::estimateElements(OpOperand &rows, int64_t first) {
  SizeHints hints(rows.getOwner()->getParentOfType<func::FuncOp>());
  Dims dims = getDims(rows.get());
  double count = 1;
  for (AffineExpr dim : ArrayRef(dims).drop_front(first))
    count *= estimateExtent(hints, dim);
  return count;
}

double tenon::countRoundedElements(Operation *op, const ProductShape &shape) {
  auto convolve = dyn_cast<ConvolveOp>(op);
  if (!convolve || skipsPixels(convolve))
    return shape.rows * shape.depth * shape.repetitions;
  SizeHints hints(convolve->getParentOfType<func::FuncOp>());
  double count = 1;
  for (auto [i, dim] : llvm::enumerate(getDims(convolve.getInput()))) {
    int64_t spatial = static_cast<int64_t>(i) - static_cast<int64_t>(convolve.getFirstSpatialDim());
    bool isSpatial = spatial >= 0 && spatial < static_cast<int64_t>(convolve.getLow().size());
    count *= estimateExtent(hints, dim) +
             (isSpatial ? double(convolve.getLow()[spatial] + convolve.getHigh()[spatial]) : 0.0);
  }
  return count;
}

double tenon::getRoundingCycles(Operation *op, double cycles, const PathPolicy &policy) {
  auto convolve = dyn_cast<ConvolveOp>(op);
  if (!convolve)
    return cycles;
  std::optional<int64_t> channels = getConstant(getDims(convolve.getInput())[convolve.getChannelDim()]);
  return channels && *channels < policy.fewChannels ? std::max(cycles, policy.fewChannelRoundCycles) : cycles;
}

Value tenon::skipTransposes(Value images) {
  while (auto transpose = images.getDefiningOp<TransposeOp>()) {
    if (transpose.getPermutation().empty() || transpose.getPermutation().front() != 0)
      break;
    images = transpose.getInput();
  }
  return images;
}
