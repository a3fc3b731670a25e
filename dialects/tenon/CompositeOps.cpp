//===- CompositeOps.cpp - inference, checks and decompositions of composites ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/TenonBuilder.h"

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

/// A scale or a zero point has one number for each block, or a single one.
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
  if (int64_t block = getBlock(); block < 1)
    return emitOpError("needs blocks of at least 1, found ") << block;
  auto isNumber = [](Value value) { return isa<IntegerType>(getElementTypeOrSelf(value)); };
  if (!isNumber(getInput()) || (getZero() && !isNumber(getZero())))
    return emitOpError("dequantises integers, found ") << getInput().getType();
  if (failed(verifyBlocks(*this, "scale", getScale())))
    return failure();
  return getZero() ? verifyBlocks(*this, "zero point", getZero()) : success();
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

/// A parameter is aligned with the last dimensions of the input.
static void addTrailing(ExtentRequirements &requirements, Operation *op, Value parameter, Value input) {
  Dims dims = getDims(parameter), all = getDims(input);
  for (size_t i = 1; i <= std::min(dims.size(), all.size()); ++i)
    requirements.addEqual(op, dims[dims.size() - i], all[all.size() - i]);
}

void LayerNormOp::collectExtentRequirements(ExtentRequirements &requirements) {
  addTrailing(requirements, *this, getScale(), getInput());
  if (getBias())
    addTrailing(requirements, *this, getBias(), getInput());
}

void RmsNormOp::collectExtentRequirements(ExtentRequirements &requirements) {
  addTrailing(requirements, *this, getScale(), getInput());
}

//===----------------------------------------------------------------------===//
// Decompositions
//===----------------------------------------------------------------------===//

/// A scalar of the element type of `like`.
static Value createScalar(OpBuilder &b, Location loc, Value like, double value) {
  return TenonBuilder(b, loc).scalar(getElementTypeOrSelf(like), value);
}

FailureOr<Value> SigmoidOp::decompose(OpBuilder &b) {
  Location loc = getLoc();
  Value e = ExpOp::create(b, loc, NegOp::create(b, loc, getInput()).getResult());
  Value one = createScalar(b, loc, getInput(), 1);
  return ReciprocalOp::create(b, loc, AddOp::create(b, loc, e, one).getResult()).getResult();
}

FailureOr<Value> ReluOp::decompose(OpBuilder &b) {
  return MaxOp::create(b, getLoc(), getInput(), createScalar(b, getLoc(), getInput(), 0)).getResult();
}

FailureOr<Value> GeluOp::decompose(OpBuilder &b) {
  Location loc = getLoc();
  Value x = getInput(), inner;
  auto scalar = [&](double value) { return createScalar(b, loc, x, value); };
  auto mul = [&](Value p, Value q) -> Value { return MulOp::create(b, loc, p, q); };
  if (getTanh()) {
    Value cubic = mul(mul(mul(x, x), x), scalar(0.044715));
    Value sum = AddOp::create(b, loc, x, cubic);
    inner = TanhOp::create(b, loc, mul(sum, scalar(0.7978845608028654)));
  } else {
    inner = ErfOp::create(b, loc, mul(x, scalar(0.7071067811865476)));
  }
  Value half = mul(x, scalar(0.5));
  return mul(half, AddOp::create(b, loc, inner, scalar(1)));
}

FailureOr<Value> SoftmaxOp::decompose(OpBuilder &b) {
  Location loc = getLoc();
  int64_t axis = getAxis();
  auto reduce = [&](ReduceKind kind, Value x) -> Value { return ReduceOp::create(b, loc, kind, x, axis, true); };
  Value shifted = SubOp::create(b, loc, getInput(), reduce(ReduceKind::max, getInput()));
  Value e = ExpOp::create(b, loc, shifted);
  Value sum = reduce(ReduceKind::sum, e);
  if (getLog())
    return SubOp::create(b, loc, shifted, LogOp::create(b, loc, sum).getResult()).getResult();
  return DivOp::create(b, loc, e, sum).getResult();
}

/// Creates the mean over the dimensions from `axis` on, which are kept as 1.
static Value createMean(OpBuilder &b, Location loc, Value x, int64_t axis) {
  Dims dims = getDims(x);
  SmallVector<int64_t> axes;
  for (int64_t i = axis; i < static_cast<int64_t>(dims.size()); ++i)
    axes.push_back(i);
  Value sum = ReduceOp::create(b, loc, ReduceKind::sum, x, axes, true);
  AffineExpr count = getElementCount(b.getContext(), ArrayRef(dims).drop_front(axis));
  auto scalar = RankedTensorType::get({}, getElementTypeOrSelf(x));
  return DivOp::create(b, loc, sum, SizesOp::create(b, loc, scalar, ShapeAttr::get(b.getContext(), count)).getResult());
}

/// Creates x / sqrt(mean(x^2) + epsilon) * scale; for a layer norm, the rows of x have a mean of 0.
static Value createNormalized(OpBuilder &b, Location loc, Value x, Value scale, int64_t axis, double epsilon) {
  Value variance = createMean(b, loc, MulOp::create(b, loc, x, x), axis);
  Value epsilonValue = createScalar(b, loc, x, epsilon);
  Value inverse = RsqrtOp::create(b, loc, AddOp::create(b, loc, variance, epsilonValue).getResult());
  return MulOp::create(b, loc, MulOp::create(b, loc, x, inverse).getResult(), scale);
}

FailureOr<Value> LayerNormOp::decompose(OpBuilder &b) {
  Location loc = getLoc();
  Value x = SubOp::create(b, loc, getInput(), createMean(b, loc, getInput(), getAxis()));
  Value y = createNormalized(b, loc, x, getScale(), getAxis(), getEpsilon().convertToDouble());
  return getBias() ? AddOp::create(b, loc, y, getBias()).getResult() : y;
}

FailureOr<Value> RmsNormOp::decompose(OpBuilder &b) {
  return createNormalized(b, getLoc(), getInput(), getScale(), getAxis(), getEpsilon().convertToDouble());
}

/// x * factor + offset, with factor = scale / sqrt(variance + epsilon) and offset = bias - mean * factor. Both are
/// usually weights, and are folded into the preceding convolution.
FailureOr<Value> BatchNormOp::decompose(OpBuilder &b) {
  Location loc = getLoc();
  TenonBuilder builder(b, loc);
  Type type = getType().getElementType();
  Value scale = builder.cast(getScale(), type), bias = builder.cast(getBias(), type),
        mean = builder.cast(getMean(), type), variance = builder.cast(getVariance(), type);
  Value epsilon = builder.scalar(type, getEpsilon().convertToDouble());
  Value deviation = SqrtOp::create(b, loc, AddOp::create(b, loc, variance, epsilon).getResult());
  Value factor = DivOp::create(b, loc, scale, deviation);
  Value offset = SubOp::create(b, loc, bias, MulOp::create(b, loc, mean, factor).getResult());
  // Reshapes [C] to [C, 1, 1...], to broadcast against [N, C, spatial...].
  auto expandChannels = [&](Value parameter) {
    Dims dims = getDims(parameter);
    dims.resize(getType().getRank() - 1, getDimConstant(getContext(), 1));
    return builder.reshape(parameter, dims);
  };
  Value scaled = MulOp::create(b, loc, getInput(), expandChannels(factor));
  return AddOp::create(b, loc, scaled, expandChannels(offset)).getResult();
}

/// (x - zero) * scale, where a gather repeats the parameters of blocks.
FailureOr<Value> DequantizeOp::decompose(OpBuilder &b) {
  Location loc = getLoc();
  std::optional<int64_t> extent = getConstant(getDim(getInput(), getAxis()));
  if (!extent)
    return failure();
  Type result = getType().getElementType(), compute = result.isF64() ? result : b.getF32Type();
  SmallVector<int64_t> blocks;
  for (int64_t i = 0; i < *extent; ++i)
    blocks.push_back(i / static_cast<int64_t>(getBlock()));
  TenonBuilder build(b, loc);
  auto spread = [&](Value value) -> Value {
    value = build.cast(value, compute);
    if (getConstant(getDim(value, getAxis())) == 1)
      return value;
    Value indices = WeightOp::create(
        b, loc, DenseElementsAttr::get(RankedTensorType::get(*extent, b.getI64Type()), ArrayRef(blocks)));
    return GatherOp::create(b, loc, value, indices, getAxis());
  };
  Value x = build.cast(getInput(), compute);
  if (getZero())
    x = SubOp::create(b, loc, x, spread(getZero()));
  x = MulOp::create(b, loc, x, spread(getScale()));
  return build.cast(x, result);
}
