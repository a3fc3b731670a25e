//===- Views.cpp - operations whose results may share memory --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Views.h"
#include "dialects/tenon/Tenon.h"

using namespace mlir;
using namespace tenon;

bool tenon::isContiguous(SliceOp slice) {
  Dims dims = getDims(slice.getInput()), kept = getDims(slice.getType());
  // The slice has one position of each outer dimension, a range of one dimension, and all of each inner dimension.
  bool isInner = false;
  for (auto [dim, keep, step] : llvm::zip(dims, kept, slice.getSteps())) {
    bool isOne = getConstant(keep) == 1;
    if (isInner ? dim != keep || (step != 1 && !isOne) : step != 1 && !isOne)
      return false;
    isInner |= !isOne;
  }
  return true;
}

AffineExpr tenon::getOffset(SliceOp slice) {
  assert(isContiguous(slice) && "only a contiguous part lies at one offset");
  MLIRContext *context = slice.getContext();
  AffineExpr offset = getDimConstant(context, 0);
  for (auto [dim, start] : llvm::zip(getDims(slice.getInput()), slice.getStarts().getDims()))
    offset = addDims(mulDims(offset, dim), start);
  return offset;
}

bool tenon::isContiguous(ConcatOp concat) {
  Dims dims = getDims(concat.getType());
  assert(concat.getAxis() < dims.size() && "the verifier refuses an axis that the result has not");
  return llvm::all_of(ArrayRef(dims).take_front(concat.getAxis()),
                      [](AffineExpr dim) { return getConstant(dim) == 1; });
}

bool tenon::keepsElementOrder(ArrayRef<AffineExpr> dims, ArrayRef<int64_t> permutation) {
  assert(dims.size() == permutation.size() && "a permutation has each dimension once");
  int64_t last = -1;
  for (int64_t axis : permutation) {
    if (getConstant(dims[axis]) == 1)
      continue;
    if (axis < last)
      return false;
    last = axis;
  }
  return true;
}

Value tenon::getReshaped(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  return value;
}

Value tenon::getViewed(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!op->hasTrait<ViewLike>())
      break;
    assert(op->getNumOperands() > 0 && "a view has what it is a view of as its first operand");
    value = op->getOperand(0);
  }
  return value;
}

bool tenon::keepsExtents(LoopOp loop, BlockArgument argument) {
  auto *dialect = loop.getContext()->getOrLoadDialect<TenonDialect>();
  return llvm::all_of(getDims(argument), [&](AffineExpr dim) {
    auto changesIt = [&](StringRef symbol) { return dim.isFunctionOfSymbol(dialect->internSymbol(symbol)); };
    return !isUnknownDim(dim) &&
           (!loop.getSymbols() || llvm::none_of(loop.getSymbols()->getAsValueRange<StringAttr>(), changesIt));
  });
}
