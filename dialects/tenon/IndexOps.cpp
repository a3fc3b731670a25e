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

/// Returns the number of coordinates in the last dimension of `indices`.
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
  return success(succeeded(getCoordinateCount(getLoc(), getIndices(), getInput().getType().getRank(), getBatchDims())));
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
  if (failed(
          verifyCompatibleShape(getTensorType(wanted, getInput().getType().getElementType()), getUpdates().getType())))
    return emitOpError("needs updates of shape ")
           << dimsToString(wanted) << ", found " << dimsToString(getDims(getUpdates()));
  return success();
}

LogicalResult CheckRangeOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getInput().getType());
  return success();
}
LogicalResult CheckRangeOp::verify() {
  if (getLimits().getDims().size() != 2)
    return emitOpError("needs two limits, found ") << getLimits().getDims().size();
  return success();
}

LogicalResult TopKOp::verify() {
  Dims dims = getDims(getInput());
  int64_t axis = getAxis();
  if (failed(checkAxis(getLoc(), axis, dims.size())))
    return failure();
  if (getValues().getType().getRank() != getInput().getType().getRank())
    return emitOpError("has results of rank ")
           << getValues().getType().getRank() << " for an input of rank " << dims.size();
  AffineExpr k = getDim(getValues(), axis);
  std::optional<int64_t> size = getConstant(dims[axis]), wanted = getConstant(k);
  if (wanted && (*wanted < 0 || (size && *wanted > *size)))
    return emitOpError("takes the first ") << *wanted << " of " << size.value_or(0) << " elements";
  dims[axis] = k;
  Type values = getTensorType(dims, getInput().getType().getElementType());
  Type indices = getTensorType(dims, IntegerType::get(getContext(), 64));
  if (!areCompatible({values, indices}, getResultTypes()))
    return emitOpError("needs results of the input's shape but for axis ") << axis;
  return success();
}

LogicalResult SampleOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  Dims lines = getDims(adaptor.getWeights());
  if (lines.empty())
    return failure(); // the verifier, which runs before this, says what is wrong
  lines.pop_back();
  types.push_back(getTensorType(lines, IntegerType::get(context, 64)));
  return success();
}
LogicalResult SampleOp::verify() {
  constexpr int64_t kFilters = 3; // format: k, p and m
  Type element = getWeights().getType().getElementType();
  Dims lines = getDims(getWeights());
  if (lines.empty())
    return emitOpError("needs lines of weights, found a single number");
  lines.pop_back();
  Dims filters = lines;
  filters.push_back(getDimConstant(getContext(), kFilters));
  if (!areCompatible({getTensorType(filters, element), getTensorType(lines, element)},
                     {getFilters().getType(), getUniform().getType()}))
    return emitOpError("needs three filters and a number for each line of ")
           << getWeights().getType() << ", found " << getFilters().getType() << " and " << getUniform().getType();
  return success();
}

LogicalResult SearchSortedOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  types.push_back(getTensorType(getDims(adaptor.getInput()), IntegerType::get(context, 64)));
  return success();
}
LogicalResult SearchSortedOp::verify() {
  auto keys = getKeys().getType();
  if (keys.getRank() != 1 || keys.getElementType() != getInput().getType().getElementType())
    return emitOpError("needs a list of keys of the input's element type, found ") << keys;
  return success();
}

LogicalResult TreeEnsembleOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  Dims in = getDims(adaptor.getInput()), roots = getDims(adaptor.getRoots());
  if (in.size() != 2)
    return emitOptionalError(loc, "needs an input [rows, features], found shape ", dimsToString(in));
  Dims dims(roots);
  dims.insert(dims.begin(), in[0]);
  types.push_back(getTensorType(dims, IntegerType::get(context, 64)));
  return success();
}
LogicalResult TreeEnsembleOp::verify() {
  for (Value table : {getThresholds(), getModes(), getIfTrue(), getIfFalse()})
    if (getDims(table).size() != 1 || getDims(table) != getDims(getFeatures()))
      return emitOpError("needs tables of one element a node, found shapes ")
             << dimsToString(getDims(getFeatures())) << " and " << dimsToString(getDims(table));
  if (getThresholds().getType().getElementType() != getInput().getType().getElementType())
    return emitOpError("compares ") << getInput().getType().getElementType() << " with thresholds of type "
                                    << getThresholds().getType().getElementType();
  return success();
}

LogicalResult NmsOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  Dims scores = getDims(adaptor.getScores());
  if (scores.size() != 3)
    return emitOptionalError(loc, "needs scores [batch, class, box], found ", dimsToString(scores));
  Type index = IntegerType::get(context, 64);
  types.push_back(getTensorType(scores, index));
  types.push_back(getTensorType({scores[0], scores[1]}, index));
  return success();
}
LogicalResult NmsOp::verify() {
  Dims boxes = getDims(getBoxes()), scores = getDims(getScores());
  if (scores.size() != 3)
    return success(); // type inference, which runs after this, says what is wrong
  if (boxes.size() != 3 || getConstant(boxes[2]).value_or(4) != 4)
    return emitOpError("needs boxes [batch, box, 4], found ") << dimsToString(boxes);
  if (failed(broadcastDim(boxes[0], scores[0])) || failed(broadcastDim(boxes[1], scores[2])))
    return emitOpError("needs a score for each box and class, found boxes ")
           << dimsToString(boxes) << " and scores " << dimsToString(scores);
  auto isNumber = [](Value value) { return cast<RankedTensorType>(value.getType()).getRank() == 0; };
  if (!isNumber(getLimit()) || !isNumber(getOverlap()) || (getThreshold() && !isNumber(getThreshold())))
    return emitOpError("needs single numbers as limit, overlap and threshold");
  if (getOverlap().getType().getElementType() != getBoxes().getType().getElementType())
    return emitOpError("needs an overlap of the boxes' element type");
  if (getThreshold() && getElementTypeOrSelf(getThreshold()) != getScores().getType().getElementType())
    return emitOpError("needs a threshold of the scores' element type");
  return success();
}

LogicalResult RoiAlignOp::verify() {
  Dims in = getDims(getInput()), rois = getDims(getRois()), batches = getDims(getBatches()), out = getDims(getType());
  if (in.size() != 4 || rois.size() != 2 || batches.size() != 1 || out.size() != 4 ||
      getConstant(rois[1]).value_or(4) != 4 || failed(broadcastDim(rois[0], batches[0])))
    return emitOpError("needs an input [N, C, H, W], regions [R, 4] and batch indices [R], found ")
           << dimsToString(in) << ", " << dimsToString(rois) << " and " << dimsToString(batches);
  Type element = getInput().getType().getElementType();
  if (getRois().getType().getElementType() != element || getType().getElementType() != element || out[0] != rois[0] ||
      out[1] != in[1])
    return emitOpError("needs regions of the input's element type, and a result [R, C, y, x] of it");
  int64_t samples = getSamples();
  return samples < 0 ? emitOpError("takes ") << samples << " samples" : LogicalResult(success());
}
