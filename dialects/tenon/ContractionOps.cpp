//===- ContractionOps.cpp - inference and checks of contractions, windows, reductions --===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"

using namespace mlir;
using namespace tenon;

//===----------------------------------------------------------------------===//
// Contract
//===----------------------------------------------------------------------===//

LogicalResult ContractOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  Type type = getElementTypeOrSelf(adaptor.getLhs());
  if (!adaptor.getResultType() && type != getElementTypeOrSelf(adaptor.getRhs()))
    return emitOptionalError(loc, "operands have element types ", type, " and ", getElementTypeOrSelf(adaptor.getRhs()),
                             ", which must be equal");
  llvm::SmallDenseMap<int64_t, AffineExpr> extents;
  for (auto [operand, indices] :
       {std::pair(adaptor.getLhs(), adaptor.getLhsDims()), std::pair(adaptor.getRhs(), adaptor.getRhsDims())}) {
    Dims dims = getDims(operand);
    if (dims.size() != indices.size())
      return emitOptionalError(loc, "has ", indices.size(), " indices for an operand of rank ", dims.size());
    for (auto [dim, index] : llvm::zip(dims, indices)) {
      AffineExpr &extent = extents.try_emplace(index, dim).first->second;
      FailureOr<AffineExpr> joined = broadcastDim(extent, dim);
      if (failed(joined))
        return emitOptionalError(loc, "shapes ", dimsToString(getDims(adaptor.getLhs())), " and ",
                                 dimsToString(getDims(adaptor.getRhs())), " do not fit: ", *getConstant(extent),
                                 " and ", *getConstant(dim), " elements have to be multiplied pair by pair");
      extent = *joined;
    }
  }
  Dims result;
  for (int64_t index : adaptor.getResultDims()) {
    auto it = extents.find(index);
    if (it == extents.end())
      return emitOptionalError(loc, "result index ", index, " runs over neither operand");
    result.push_back(it->second);
  }
  types.push_back(getTensorType(result, adaptor.getResultType().value_or(type)));
  return success();
}

LogicalResult ContractOp::verify() {
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t index : getResultDims())
    if (!seen.insert(index).second)
      return emitOpError("has result index ") << index << " twice";
  return success();
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

namespace {
struct Window {
  ArrayRef<int64_t> sizes, strides, dilations, low, high;
};
} // namespace

/// Verifies what shapes do not express: one number for each spatial dimension, each in its range.
static LogicalResult verifyWindow(Operation *op, const Window &w, size_t rank) {
  if (w.sizes.size() != rank || w.strides.size() != rank || w.dilations.size() != rank || w.low.size() != rank ||
      w.high.size() != rank)
    return op->emitOpError("needs window, strides, dilations, low and high for each of ")
           << rank << " spatial dimensions";
  constexpr int64_t kLimit = int64_t(1) << 31; // limit: products of them stay in 64 bits
  for (size_t i = 0; i < rank; ++i) {
    if (w.sizes[i] < 1 || w.strides[i] < 1 || w.dilations[i] < 1)
      return op->emitOpError("needs a window, strides and dilations of at least 1, found ")
             << w.sizes[i] << ", " << w.strides[i] << ", " << w.dilations[i];
    if (w.sizes[i] > kLimit || w.strides[i] > kLimit || w.dilations[i] > kLimit || std::abs(w.low[i]) > kLimit ||
        std::abs(w.high[i]) > kLimit)
      return op->emitOpError("has a window, stride, dilation or padding beyond 2^31");
  }
  return success();
}

/// Infers the extent of a windowed dimension: the number of positions at which the window fits.
static FailureOr<AffineExpr> inferWindowDim(std::optional<Location> loc, AffineExpr in, const Window &w, size_t i,
                                            bool ceil) {
  if (w.strides[i] < 1)
    return LogicalResult(emitOptionalError(loc, "has a stride below 1"));
  int64_t reach = (w.sizes[i] - 1) * w.dilations[i] + 1;
  MLIRContext *context = in.getContext();
  AffineExpr room = addDims(in, getDimConstant(context, w.low[i] + w.high[i] - reach));
  // If the formula yields 0 positions for an empty dimension, the extent is 0.
  std::optional<int64_t> size = getConstant(room);
  bool isEmpty = size && getConstant(in) == 0 && *size >= -w.strides[i];
  if (size && *size < 0 && !isEmpty)
    return LogicalResult(emitOptionalError(loc, "a window that reaches over ", reach, " elements does not fit into ",
                                           *getConstant(in), " elements with ", w.low[i] + w.high[i], " of padding"));
  AffineExpr stride = getDimConstant(context, w.strides[i]);
  // A rounded-up extent must not include a window that starts in the high padding: then the extent is the number of
  // starts before it.
  if (ceil && w.high[i] + w.strides[i] > reach)
    return ceilDivDims(addDims(in, getDimConstant(context, w.low[i])), stride);
  return addDims(ceil ? ceilDivDims(room, stride) : divDims(room, stride), getDimConstant(context, 1));
}

/// Returns the window sizes of a filter, if they are static.
static std::optional<SmallVector<int64_t>> getWindowSizes(const Dims &filter, bool channelsLast) {
  ArrayRef<AffineExpr> dims(filter);
  return getConstants(channelsLast ? dims.drop_back(2) : dims.drop_front(2));
}

/// [N, C, spatial...], or [N, spatial..., C].
static Dims joinDims(AffineExpr batch, AffineExpr channels, ArrayRef<AffineExpr> spatial, bool channelsLast) {
  Dims dims{batch};
  dims.append(spatial.begin(), spatial.end());
  dims.insert(channelsLast ? dims.end() : dims.begin() + 1, channels);
  return dims;
}

LogicalResult ConvolveOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  Dims in = getDims(adaptor.getInput()), filter = getDims(adaptor.getFilter());
  bool last = adaptor.getChannelsLast();
  if (in.size() < 3 || in.size() != filter.size())
    return emitOptionalError(loc, "needs an input and a filter of one rank, at least 3, found ", dimsToString(in),
                             " and ", dimsToString(filter));
  std::optional<SmallVector<int64_t>> sizes = getWindowSizes(filter, last);
  if (!sizes)
    return emitOptionalError(loc, "needs a filter of constant window sizes, found ", dimsToString(filter));
  size_t rank = in.size() - 2;
  Window w{*sizes, adaptor.getStrides(), adaptor.getDilations(), adaptor.getLow(), adaptor.getHigh()};
  if (w.strides.size() != rank || w.dilations.size() != rank || w.low.size() != rank || w.high.size() != rank)
    return emitOptionalError(loc, "needs strides, dilations, low and high for each of ", rank, " spatial dimensions");
  Dims spatial;
  for (size_t i = 0; i < rank; ++i) {
    FailureOr<AffineExpr> dim = inferWindowDim(loc, in[i + (last ? 1 : 2)], w, i, false);
    if (failed(dim))
      return failure();
    spatial.push_back(*dim);
  }
  types.push_back(getTensorType(joinDims(in[0], last ? filter.back() : filter[0], spatial, last),
                                adaptor.getResultType().value_or(getElementTypeOrSelf(adaptor.getInput()))));
  return success();
}

LogicalResult ConvolveOp::verify() {
  Dims in = getDims(getInput()), filter = getDims(getFilter());
  if (in.size() < 3 || in.size() != filter.size())
    return success(); // type inference, which runs after this, says what is wrong
  std::optional<SmallVector<int64_t>> sizes = getWindowSizes(filter, getChannelsLast());
  if (!sizes)
    return success();
  Window w{*sizes, getStrides(), getDilations(), getLow(), getHigh()};
  if (failed(verifyWindow(*this, w, in.size() - 2)))
    return failure();
  int64_t groups = getGroups();
  if (groups < 1)
    return emitOpError("has ") << groups << " groups, which must be at least 1";
  bool last = getChannelsLast();
  std::optional<int64_t> channels = getConstant(last ? in.back() : in[1]),
                         perGroup = getConstant(last ? filter[filter.size() - 2] : filter[1]),
                         filters = getConstant(last ? filter.back() : filter[0]);
  if (channels && perGroup && *channels != *perGroup * groups)
    return emitOpError("has an input of ") << *channels << " channels, but a filter for " << *perGroup
                                           << " channels in each of " << groups << " groups";
  if (filters && *filters % groups != 0)
    return emitOpError("has ") << *filters << " filters, which " << groups << " groups do not divide";
  return success();
}

LogicalResult WinogradOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  Dims in = getDims(adaptor.getInput());
  if (in.size() != 4 || adaptor.getLow().size() != 2 || adaptor.getHigh().size() != 2)
    return emitOptionalError(loc, "needs an input of two spatial dimensions, and low and high for both, found ",
                             dimsToString(in));
  int64_t window = adaptor.getWindow();
  SmallVector<int64_t, 2> sizes(2, window), ones(2, 1);
  Window w{sizes, ones, ones, adaptor.getLow(), adaptor.getHigh()};
  Dims spatial;
  for (size_t i = 0; i < 2; ++i) {
    FailureOr<AffineExpr> dim = inferWindowDim(loc, in[i + 1], w, i, false);
    if (failed(dim))
      return failure();
    spatial.push_back(*dim);
  }
  AffineExpr filters = getDimConstant(context, adaptor.getFilters());
  Type type = getElementTypeOrSelf(adaptor.getInput());
  if (type.isInteger(8))
    type = getElementTypeOrSelf(adaptor.getFilter());
  types.push_back(getTensorType(joinDims(in[0], filters, spatial, true), type));
  return success();
}

LogicalResult WinogradOp::verify() {
  SmallVector<int64_t, 2> sizes(2, getWindow()), ones(2, 1);
  if (failed(verifyWindow(*this, {sizes, ones, ones, getLow(), getHigh()}, 2)))
    return failure();
  if (getInput().getType().getRank() != 4)
    return success(); // type inference, which runs after this, says what is wrong
  RankedTensorType filter = getFilter().getType();
  int64_t side = getOutputs() + getWindow() - 1, filters = getFilters();
  if (int64_t(getOutputs()) < 1 || getWindow() < 1 || filter.getRank() != 4 || !filter.hasStaticShape() ||
      filter.getDimSize(1) != side * side || filter.getDimSize(3) < 1)
    return emitOpError("needs a filter [panels, ") << side * side << ", channels, columns], found " << filter;
  Type type = filter.getElementType();
  Type inputType = getElementTypeOrSelf(getInput());
  bool areWords = type.isSignlessInteger(32) && (inputType.isUnsignedInteger(8) || inputType.isF32()),
       isBf16 = type.isBF16() && inputType.isF32();
  if (!areWords && !isBf16 && (!type.isF32() || inputType != type))
    return emitOpError("needs f32 with a filter of f32, bf16 or i32, or unsigned bytes and a filter of i32");
  if (isBf16 && filter.getDimSize(3) % 2 != 0)
    return emitOpError("needs a filter whose columns are pairs of bf16, found ") << filter;
  ArrayRef<int64_t> tile = getTile();
  int64_t columns = filter.getDimSize(3) / (isBf16 ? 2 : 1);
  if (tile.size() != 3 || tile[0] < 1 || tile[1] < 1 || tile[2] < 1 || tile[0] % getOutputs() != 0 ||
      tile[1] % getOutputs() != 0 || tile[2] % columns != 0)
    return emitOpError("needs a tile of whole squares and panels");
  // The scratch of a thread for a tile: all points of its squares, for all channels.
  double squares = double(tile[0]) / getOutputs() * (double(tile[1]) / getOutputs());
  constexpr double kMax = 1 << 28; // limit: hostile models
  if (squares * filter.getDimSize(1) * (filter.getDimSize(2) + filter.getDimSize(3)) > kMax)
    return emitOpError("needs a tile that a thread can keep, found ") << tile[0] << " x " << tile[1] << " elements";
  std::optional<int64_t> channels = getConstant(getDims(getInput()).back());
  int64_t steps = filter.getDimSize(2);
  // Pairs of bf16 may go on beyond the last channel.
  bool fits = channels && (isBf16 ? llvm::divideCeilSigned(*channels, 2) <= steps
                                  : llvm::divideCeilSigned(*channels, areWords ? 2 : 1) == steps);
  if (!fits)
    return emitOpError("needs an input of as many channels as its filter has, ")
           << (isBf16 ? "at most " : "") << steps << (areWords || isBf16 ? " times two" : "");
  if (filters > filter.getDimSize(0) * columns)
    return emitOpError("has ") << getFilters() << " filters, more than the panels hold";
  return success();
}

LogicalResult PoolOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  Dims in = getDims(adaptor.getInput());
  size_t rank = in.size() - 2;
  Window w{adaptor.getWindow(), adaptor.getStrides(), adaptor.getDilations(), adaptor.getLow(), adaptor.getHigh()};
  if (in.size() < 3 || w.sizes.size() != rank || w.strides.size() != rank || w.dilations.size() != rank ||
      w.low.size() != rank || w.high.size() != rank)
    return emitOptionalError(loc,
                             "needs an input of rank 3 or more, and window, strides, dilations, low and "
                             "high for each spatial dimension; the input is ",
                             dimsToString(in));
  bool last = adaptor.getChannelsLast();
  Dims spatial;
  for (size_t i = 0; i < rank; ++i) {
    FailureOr<AffineExpr> dim = inferWindowDim(loc, in[i + (last ? 1 : 2)], w, i, adaptor.getCeil());
    if (failed(dim))
      return failure();
    spatial.push_back(*dim);
  }
  types.push_back(getTensorType(joinDims(in[0], last ? in.back() : in[1], spatial, last),
                                getElementTypeOrSelf(adaptor.getInput())));
  return success();
}

LogicalResult PoolOp::verify() {
  Window w{getWindow(), getStrides(), getDilations(), getLow(), getHigh()};
  int64_t rank = getInput().getType().getRank();
  return rank < 3 ? success() : verifyWindow(*this, w, rank - 2); // type inference reports the rank
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static Dims reduceDims(Value input, ArrayRef<int64_t> axes, bool keepdims) {
  Dims dims;
  for (auto [i, dim] : llvm::enumerate(getDims(input))) {
    if (!llvm::is_contained(axes, static_cast<int64_t>(i)))
      dims.push_back(dim);
    else if (keepdims)
      dims.push_back(getDimConstant(dim.getContext(), 1));
  }
  return dims;
}

static LogicalResult verifyAxis(Operation *op, Value input, int64_t axis) {
  int64_t rank = cast<RankedTensorType>(input.getType()).getRank();
  if (axis < 0 || axis >= rank)
    return op->emitOpError("has axis ") << axis << ", but the input has " << rank << " dimensions";
  return success();
}

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  types.push_back(getTensorType(reduceDims(adaptor.getInput(), adaptor.getAxes(), adaptor.getKeepdims()),
                                getElementTypeOrSelf(adaptor.getInput())));
  return success();
}

LogicalResult ReduceOp::verify() {
  int64_t last = -1;
  for (int64_t axis : getAxes()) {
    if (failed(verifyAxis(*this, getInput(), axis)))
      return failure();
    if (axis <= last)
      return emitOpError("needs sorted and distinct axes, found ") << axis << " after " << last;
    last = axis;
  }
  return success();
}

LogicalResult ArgReduceOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  types.push_back(
      getTensorType(reduceDims(adaptor.getInput(), static_cast<int64_t>(adaptor.getAxis()), adaptor.getKeepdims()),
                    IntegerType::get(context, 64)));
  return success();
}

LogicalResult ArgReduceOp::verify() {
  if (getKind() != ReduceKind::max && getKind() != ReduceKind::min)
    return emitOpError("finds a maximum or a minimum, not a ") << stringifyReduceKind(getKind());
  return verifyAxis(*this, getInput(), getAxis());
}

LogicalResult ScanOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getInput().getType());
  return success();
}

LogicalResult ScanOp::verify() {
  if (getKind() != ReduceKind::sum && getKind() != ReduceKind::prod)
    return emitOpError("computes sums or products, not a ") << stringifyReduceKind(getKind());
  return verifyAxis(*this, getInput(), getAxis());
}

//===----------------------------------------------------------------------===//
// Lu
//===----------------------------------------------------------------------===//

LogicalResult LuOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                     SmallVectorImpl<Type> &types) {
  Dims batch = getDims(adaptor.getInput());
  batch.truncate(batch.size() < 2 ? 0 : batch.size() - 2);
  types.push_back(adaptor.getInput().getType());
  types.push_back(getTensorType(batch, getElementTypeOrSelf(adaptor.getInput())));
  return success();
}

LogicalResult LuOp::verify() {
  Dims dims = getDims(getInput());
  if (dims.size() < 2 || failed(broadcastDim(dims[dims.size() - 1], dims[dims.size() - 2])) ||
      (getConstant(dims.back()) && getConstant(dims[dims.size() - 2]) && dims.back() != dims[dims.size() - 2]))
    return emitOpError("needs square matrices, found ") << dimsToString(dims);
  return success();
}
