//===- Padding.cpp - the border of a convolution's input in memory --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Padding.h"
#include "dialects/tenon/TenonBuilder.h"

using namespace mlir;
using namespace tenon;

bool tenon::hasPadding(ConvolveOp op) {
  auto isZero = [](int64_t pad) { return pad == 0; };
  return !llvm::all_of(op.getLow(), isZero) || !llvm::all_of(op.getHigh(), isZero);
}

void tenon::padWithZeros(OpBuilder &b, ConvolveOp op) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(op);
  Value zero = TenonBuilder(b, op.getLoc()).scalar(getElementTypeOrSelf(op.getInput()), 0);
  SmallVector<int64_t> none(op.getLow().size(), 0);
  op.getInputMutable().assign(padInput(b, op, op.getInput(), zero));
  op.setLow(none);
  op.setHigh(none);
}

Value tenon::padInput(OpBuilder &b, ConvolveOp op, Value input, Value value) {
  MLIRContext *context = op.getContext();
  Dims dims = getDims(input), low(dims.size(), getDimConstant(context, 0));
  assert(dims.size() == op.getLow().size() + 2 && "an input has batch, channels and the dimensions that are padded");
  for (auto [i, pads] : llvm::enumerate(llvm::zip(op.getLow(), op.getHigh()))) {
    int64_t dim = i + op.getFirstSpatialDim();
    low[dim] = getDimConstant(context, std::get<0>(pads));
    dims[dim] = addDims(dims[dim], getDimConstant(context, std::get<0>(pads) + std::get<1>(pads)));
  }
  return PadOp::create(b, op.getLoc(), getTensorType(dims, getElementTypeOrSelf(input)), PadMode::constant, input,
                       value, ShapeAttr::get(context, low), SmallVector<int64_t>(dims.size(), 0));
}
