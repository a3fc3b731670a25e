//===- IndexOps.cpp - inference and checks of gathers, scatters and sorts --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"

using namespace mlir;
using namespace tenon;

static LogicalResult checkAxis(std::optional<Location> loc, int64_t axis, size_t rank) {
  if (axis < 0 || axis >= static_cast<int64_t>(rank))
    return emitOptionalError(loc, "has axis ", axis, ", but the input has ", rank, " dimensions");
  return success();
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  Dims in = getDims(adaptor.getInput()), indices = getDims(adaptor.getIndices()), dims;
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(loc, axis, in.size())))
    return failure();
  dims.append(in.begin(), in.begin() + axis);
  dims.append(indices.begin(), indices.end());
  dims.append(in.begin() + axis + 1, in.end());
  types.push_back(getTensorType(dims, getElementTypeOrSelf(adaptor.getInput())));
  return success();
}
LogicalResult GatherOp::verify() { return checkAxis(getLoc(), getAxis(), getInput().getType().getRank()); }

LogicalResult GatherElementsOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                                 SmallVectorImpl<Type> &types) {
  types.push_back(getTensorType(getDims(adaptor.getIndices()), getElementTypeOrSelf(adaptor.getInput())));
  return success();
}
LogicalResult GatherElementsOp::verify() {
  if (getInput().getType().getRank() != getIndices().getType().getRank())
    return emitOpError("needs an input and indices of one rank, found ")
           << getInput().getType() << " and " << getIndices().getType();
  return checkAxis(getLoc(), getAxis(), getInput().getType().getRank());
}

/// How many coordinates the last dimension of `indices` holds.
static FailureOr<int64_t> getCoordinateCount(std::optional<Location> loc, Value indices, size_t inputRank,
                                             int64_t batchDims) {
  Dims dims = getDims(indices);
  std::optional<int64_t> count = dims.empty() ? std::nullopt : getConstant(dims.back());
  if (!count || *count < 0 || batchDims < 0 || batchDims >= static_cast<int64_t>(dims.size()) ||
      *count + batchDims > static_cast<int64_t>(inputRank))
    return LogicalResult(emitOptionalError(loc, "indices of shape ", dimsToString(dims), " after ", batchDims,
                                           " batch dimensions do not address an input of rank ", inputRank));
  return *count;
}

LogicalResult GatherNDOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  Dims in = getDims(adaptor.getInput()), dims = getDims(adaptor.getIndices());
  FailureOr<int64_t> count = getCoordinateCount(loc, adaptor.getIndices(), in.size(), adaptor.getBatchDims());
  if (failed(count))
    return failure();
  dims.pop_back();
  dims.append(in.begin() + adaptor.getBatchDims() + *count, in.end());
  types.push_back(getTensorType(dims, getElementTypeOrSelf(adaptor.getInput())));
  return success();
}
LogicalResult GatherNDOp::verify() {
  return success(succeeded(
      getCoordinateCount(getLoc(), getIndices(), getInput().getType().getRank(), getBatchDims())));
}

LogicalResult ScatterElementsOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                                  SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getInput().getType());
  return success();
}
LogicalResult ScatterElementsOp::verify() {
  if (failed(verifyCompatibleShape(getIndices().getType(), getUpdates().getType())) ||
      getInput().getType().getRank() != getIndices().getType().getRank())
    return emitOpError("needs indices and updates of one shape, and of the input's rank");
  return checkAxis(getLoc(), getAxis(), getInput().getType().getRank());
}

LogicalResult ScatterNDOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getInput().getType());
  return success();
}
LogicalResult ScatterNDOp::verify() {
  Dims in = getDims(getInput()), wanted = getDims(getIndices());
  FailureOr<int64_t> count = getCoordinateCount(getLoc(), getIndices(), in.size(), 0);
  if (failed(count))
    return failure();
  wanted.pop_back();
  wanted.append(in.begin() + *count, in.end());
  if (failed(verifyCompatibleShape(getTensorType(wanted, getInput().getType().getElementType()),
                                   getUpdates().getType())))
    return emitOpError("needs updates of shape ") << dimsToString(wanted) << ", found "
                                                  << dimsToString(getDims(getUpdates()));
  return success();
}

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  Dims dims = getDims(adaptor.getInput());
  if (failed(checkAxis(loc, adaptor.getAxis(), dims.size())))
    return failure();
  dims[adaptor.getAxis()] = getDimConstant(context, adaptor.getK());
  types.push_back(getTensorType(dims, getElementTypeOrSelf(adaptor.getInput())));
  types.push_back(getTensorType(dims, IntegerType::get(context, 64)));
  return success();
}
LogicalResult TopKOp::verify() {
  int64_t axis = getAxis();
  if (axis < 0 || axis >= getInput().getType().getRank())
    return success(); // type inference, which runs after this, says what is wrong
  std::optional<int64_t> size = getConstant(getDim(getInput(), axis));
  int64_t k = getK();
  if (k < 0 || (size && k > *size))
    return emitOpError("asks for the ") << k << " first of " << size.value_or(0) << " elements";
  return success();
}
