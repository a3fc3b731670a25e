//===- CompositeOps.cpp - inference and checks of composite operations -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"

using namespace mlir;
using namespace tenon;

#define INFER_INPUT(OP)                                                                                                \
  LogicalResult OP::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,                          \
                                     SmallVectorImpl<Type> &types) {                                                   \
    types.push_back(adaptor.getInput().getType());                                                                     \
    return success();                                                                                                  \
  }
INFER_INPUT(SoftmaxOp)
INFER_INPUT(LayerNormOp)
INFER_INPUT(RmsNormOp)
INFER_INPUT(BatchNormOp)
#undef INFER_INPUT

LogicalResult DequantizeOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  Type type = adaptor.getResultType().value_or(getElementTypeOrSelf(adaptor.getScale()));
  types.push_back(getTensorType(getDims(adaptor.getInput()), type));
  return success();
}

static LogicalResult verifyAxis(Operation *op, Value input, int64_t axis) {
  int64_t rank = cast<RankedTensorType>(input.getType()).getRank();
  if (axis < 0 || axis >= rank)
    return op->emitOpError("has axis ") << axis << ", but the input has " << rank << " dimensions";
  return success();
}

/// A scale or a bias must broadcast to the input without enlarging it.
static LogicalResult verifyParameter(Operation *op, StringRef what, Value parameter, Value input) {
  FailureOr<Dims> dims = broadcastDims({getDims(input), getDims(parameter)});
  if (failed(dims) || *dims != getDims(input))
    return op->emitOpError("has a ") << what << " of shape " << dimsToString(getDims(parameter))
                                     << ", which does not broadcast to the input's " << dimsToString(getDims(input));
  return success();
}

LogicalResult SoftmaxOp::verify() { return verifyAxis(*this, getInput(), getAxis()); }

LogicalResult LayerNormOp::verify() {
  if (failed(verifyAxis(*this, getInput(), getAxis())) ||
      failed(verifyParameter(*this, "scale", getScale(), getInput())))
    return failure();
  return getBias() ? verifyParameter(*this, "bias", getBias(), getInput()) : success();
}

LogicalResult RmsNormOp::verify() {
  return failure(failed(verifyAxis(*this, getInput(), getAxis())) ||
                 failed(verifyParameter(*this, "scale", getScale(), getInput())));
}

LogicalResult BatchNormOp::verify() {
  Dims in = getDims(getInput());
  if (in.size() < 2)
    return emitOpError("needs an input with a channel dimension, found rank ") << in.size();
  for (Value parameter : getOperands().drop_front()) {
    Dims dims = getDims(parameter);
    if (dims.size() != 1 || failed(broadcastDim(dims[0], in[1])))
      return emitOpError("needs one number for each of ")
             << dimsToString({in[1]}) << " channels, found " << dimsToString(dims);
  }
  return success();
}

/// A scale or a zero point has one number for each block, or one for all.
static LogicalResult verifyBlocks(DequantizeOp op, StringRef what, Value parameter) {
  Dims in = getDims(op.getInput()), dims = getDims(parameter), wanted(in);
  wanted[op.getAxis()] = ceilDivDims(in[op.getAxis()], getDimConstant(op.getContext(), op.getBlock()));
  bool fits = dims.size() == wanted.size() && llvm::all_of(llvm::zip(dims, wanted), [](auto pair) {
                auto [dim, most] = pair;
                return dim == most || getConstant(dim) == 1;
              });
  if (!fits)
    return op.emitOpError("has a ") << what << " of shape " << dimsToString(dims) << ", but wants "
                                    << dimsToString(wanted) << ", or 1 in place of some";
  return success();
}

LogicalResult DequantizeOp::verify() {
  if (failed(verifyAxis(*this, getInput(), getAxis())))
    return failure();
  if (static_cast<int64_t>(getBlock()) < 1)
    return emitOpError("needs blocks of at least 1, found ") << getBlock();
  auto isNumber = [](Value value) { return isa<IntegerType>(getElementTypeOrSelf(value)); };
  if (!isNumber(getInput()) || (getZero() && !isNumber(getZero())))
    return emitOpError("dequantises integers, found ") << getInput().getType();
  if (failed(verifyBlocks(*this, "scale", getScale())))
    return failure();
  return getZero() ? verifyBlocks(*this, "zero point", getZero()) : success();
}
