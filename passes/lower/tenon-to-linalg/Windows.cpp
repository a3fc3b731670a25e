//===- Windows.cpp - pooling stages ---------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/cost/LoweringPolicy.h"
#include "passes/lower/tenon-to-linalg/Stages.h"

using namespace mlir;
using namespace tenon;

/// True if every window is inside the input for all sizes.
static bool isAlwaysInside(PoolOp op) {
  auto isZero = [](int64_t pad) { return pad == 0; };
  return !op.getCeil() && llvm::all_of(op.getLow(), isZero) && llvm::all_of(op.getHigh(), isZero);
}

/// True if a window may be entirely in the padding along spatial dimension i.
static bool canMissInput(PoolOp op, unsigned i) {
  int64_t dilation = op.getDilations()[i], extent = (op.getWindow()[i] - 1) * dilation + 1;
  return dilation > 1 || op.getLow()[i] >= extent || op.getHigh()[i] >= extent;
}

/// Emits the number of elements of a window that count along dimension i for the result at `position`: those of `start
/// + w * dilation`, w in [0, window), that are in bounds.
static Value emitWindowCount(ElementEmitter &emitter, Location loc, PoolOp op, unsigned i, AffineExpr position) {
  OpBuilder &b = emitter.getBuilder();
  MLIRContext *context = op.getContext();
  assert(i < op.getWindow().size() && "a window has this dimension");
  AffineExpr start = simplifyDim(position * op.getStrides()[i] - op.getLow()[i]);
  AffineExpr end = getDim(op.getInput(), i + op.getFirstSpatialDim());
  if (op.getCountPadding())
    end = addDims(end, getDimConstant(context, op.getHigh()[i]));
  Value dilation = emitter.materialize(getDimConstant(context, op.getDilations()[i]));
  Value zero = emitter.materialize(getDimConstant(context, 0));
  Value last = arith::CeilDivSIOp::create(b, loc, emitter.materialize(subDims(end, start)), dilation);
  last = arith::MinSIOp::create(b, loc, last, emitter.materialize(getDimConstant(context, op.getWindow()[i])));
  if (op.getCountPadding())
    return last;
  Value negated = arith::SubIOp::create(b, loc, zero, emitter.materialize(start));
  Value first = arith::MaxSIOp::create(b, loc, zero, arith::CeilDivSIOp::create(b, loc, negated, dilation));
  Value count = arith::SubIOp::create(b, loc, last, first);
  // A window that is entirely in the padding has no elements; the difference must not be negative.
  return canMissInput(op, i) ? arith::MaxSIOp::create(b, loc, zero, count).getResult() : count;
}

//===----------------------------------------------------------------------===//
// One dimension after the other
//===----------------------------------------------------------------------===//

/// Returns the extent of spatial dimension i that all windows cover, padding included.
static int64_t getSeen(PoolOp op, unsigned i) {
  int64_t results = op.getType().getDimSize(i + op.getFirstSpatialDim());
  assert(!ShapedType::isDynamic(results) &&
         "windows are only joined dimension by dimension where extents are constant");
  return (results - 1) * op.getStrides()[i] + (op.getWindow()[i] - 1) * op.getDilations()[i] + 1;
}

/// True if the pool is computed along one spatial dimension after the other: this takes less time per result than the
/// window does, and the intermediate results stay in cache.
static bool isSeparable(PoolOp op, const PoolPolicy &policy) {
  ArrayRef<int64_t> shape = op.getType().getShape(), window = op.getWindow();
  if (window.size() < 2 || llvm::any_of(shape.drop_front(), [](int64_t extent) { return extent <= 0; }))
    return false;
  double perElement = op.getChannelsLast() || op.getStrides().back() == 1 ? 1 : policy.stridedFactor;
  double whole = llvm::product_of(window) * perElement, inParts = 0, perResult = 1;
  double bytes = policy.accumulatorBytes * (op.getChannelsLast() ? shape.back() : 1);
  for (size_t i = window.size(); i-- > 0; perElement = 1) {
    inParts += window[i] * perElement * perResult;
    perResult *= double(getSeen(op, i)) / shape[i + op.getFirstSpatialDim()];
    if (i > 0)
      bytes *= getSeen(op, i);
  }
  return inParts < whole && bytes <= policy.maxIntermediateBytes;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

namespace {
/// Elements of a window along one spatial dimension.
struct WindowPart {
  int64_t first, count;
};
} // namespace

/// Returns the part of a window along spatial dimension i that is in bounds for some result. Elements that are always
/// padding contribute nothing, and a window may have 2^31 elements.
static WindowPart getUsefulPart(PoolOp op, unsigned i) {
  int64_t window = op.getWindow()[i], stride = op.getStrides()[i], low = op.getLow()[i], step = op.getDilations()[i];
  int64_t input = op.getInput().getType().getDimSize(i + op.getFirstSpatialDim());
  int64_t results = op.getType().getDimSize(i + op.getFirstSpatialDim());
  if (ShapedType::isDynamic(input) || ShapedType::isDynamic(results) || input == 0 || results == 0)
    return {0, window};
  // In bounds means 0 <= result * stride - low + element * step < input.
  int64_t first = std::max<int64_t>(0, llvm::divideCeilSigned(low - (results - 1) * stride, step));
  int64_t last = std::min(window - 1, llvm::divideFloorSigned(input - 1 + low, step));
  return {first, std::max<int64_t>(0, last - first + 1)};
}

FailureOr<Value> StageBuilder::joinWindows(PoolOp op, unsigned first, unsigned end, Value joinedBefore,
                                           Value destination) {
  Location loc = op.getLoc();
  MLIRContext *context = op.getContext();
  Type elementType = op.getType().getElementType(), accumulator = getAccumulatorType(elementType);
  ReduceKind kind = op.getKind() == PoolKind::max ? ReduceKind::max : ReduceKind::sum;
  Dims in = getDims(op.getInput()), out = getDims(op.getType());
  unsigned rank = in.size() - 2;
  assert(first < end && end <= rank && "some spatial dimensions are joined");
  // The innermost loop writes contiguous elements. The loops are all result dimensions but the last, the window, and
  // the last result dimension.
  unsigned windowLoop = 1 + rank, lastLoop = windowLoop + (end - first);
  auto resultLoop = [&](unsigned dim) { return dim + 1 == out.size() ? lastLoop : dim; };
  auto spatialLoop = [&](unsigned i) { return resultLoop(i + op.getFirstSpatialDim()); };
  Reduction r{kind, elementType, Dims(lastLoop + 1), {}};
  for (unsigned dim = 0; dim < out.size(); ++dim) {
    r.resultLoops.push_back(resultLoop(dim));
    r.extents[resultLoop(dim)] = out[dim];
  }
  for (unsigned i = first; i < end; ++i)
    r.extents[windowLoop + i - first] = getDimConstant(context, getUsefulPart(op, i).count);
  for (unsigned i = end; i < rank; ++i)
    r.extents[spatialLoop(i)] = getDimConstant(context, getSeen(op, i));

  return buildReduction(loc, r, destination, [&](ElementEmitter &emitter) -> FailureOr<Value> {
    OpBuilder &b = emitter.getBuilder();
    SmallVector<AffineExpr> at(rank + 2);
    at[0] = emitter.getLoop(0);
    at[op.getChannelDim()] = emitter.getLoop(resultLoop(op.getChannelDim()));
    for (unsigned i = 0; i < rank; ++i) {
      AffineExpr place = emitter.getLoop(spatialLoop(i));
      if (i >= first && i < end) {
        AffineExpr element = emitter.getLoop(windowLoop + i - first) + getUsefulPart(op, i).first;
        place = place * op.getStrides()[i] + element * op.getDilations()[i];
      }
      at[i + op.getFirstSpatialDim()] = simplifyDim(joinedBefore ? place : place - op.getLow()[i]);
    }
    if (joinedBefore) {
      Dims before = r.getResultDims();
      for (unsigned i = first; i < end; ++i)
        before[i + op.getFirstSpatialDim()] = getDimConstant(context, getSeen(op, i));
      return emitter.readTensor(joinedBefore, before, at);
    }
    auto emitElement = [&]() -> FailureOr<Value> {
      FailureOr<Value> element = emitter.emit(op.getInput(), at);
      if (failed(element))
        return failure();
      return toAccumulator(b, loc, *element, elementType);
    };
    if (isAlwaysInside(op))
      return emitElement();
    auto emitIdentity = [&]() -> FailureOr<Value> {
      return arith::ConstantOp::create(b, loc, getIdentity(b, kind, elementType, accumulator)).getResult();
    };
    auto isInside = [&](unsigned i) {
      unsigned dim = i + op.getFirstSpatialDim();
      return emitter.emitInBounds(at[dim], in[dim]);
    };
    // The bound that depends on the innermost loop is tested first, because that loop can be split where it changes.
    unsigned numOthers = op.getChannelsLast() ? rank : rank - 1;
    auto emitAmongOthers = [&]() -> FailureOr<Value> {
      Value inside;
      for (unsigned i = 0; i < numOthers; ++i)
        inside = inside ? arith::AndIOp::create(b, loc, inside, isInside(i)).getResult() : isInside(i);
      return inside ? emitter.emitIf(inside, accumulator, emitElement, emitIdentity) : emitElement();
    };
    return numOthers == rank ? emitAmongOthers()
                             : emitter.emitIf(isInside(rank - 1), accumulator, emitAmongOthers, emitIdentity);
  });
}

FailureOr<Value> StageBuilder::lowerPool(PoolOp op, Value destination) {
  Location loc = op.getLoc();
  MLIRContext *context = op.getContext();
  Type elementType = op.getType().getElementType(), accumulator = getAccumulatorType(elementType);
  Dims out = getDims(op.getType());
  unsigned rank = out.size() - 2;
  bool alwaysInside = isAlwaysInside(op);
  FailureOr<Value> joined = Value();
  unsigned perStage = isSeparable(op, PoolPolicy()) ? 1 : rank;
  for (unsigned i = 0; i < rank && succeeded(joined); i += perStage)
    joined = joinWindows(op, i, i + perStage, *joined, i + perStage == rank ? destination : Value());
  if (failed(joined))
    return failure();
  if (op.getKind() != PoolKind::average)
    return finishReduction(op.getResult(), *joined, destination);

  // The result is written in place if the accumulators have the result's type.
  bool inPlace = accumulator == getStorageType(elementType);
  return buildElementwise(
      loc, op.getType(), inPlace ? *joined : destination, [&](ElementEmitter &emitter) -> FailureOr<Value> {
        OpBuilder &b = emitter.getBuilder();
        Value count;
        for (unsigned i = 0; i < rank; ++i) {
          Value here = alwaysInside
                           ? emitter.materialize(getDimConstant(context, op.getWindow()[i]))
                           : emitWindowCount(emitter, loc, op, i, emitter.getLoop(i + op.getFirstSpatialDim()));
          count = count ? arith::MulIOp::create(b, loc, count, here).getResult() : here;
        }
        Value sum = emitter.readTensor(*joined, out, emitter.getLoops());
        Value number = arith::IndexCastOp::create(b, loc, b.getI64Type(), count);
        Value divisor = castScalar(b, loc, number, b.getI64Type(), accumulator);
        Value mean = isa<FloatType>(accumulator) ? arith::DivFOp::create(b, loc, sum, divisor).getResult()
                                                 : arith::DivSIOp::create(b, loc, sum, divisor).getResult();
        return fromAccumulator(b, loc, mean, elementType);
      });
}
