//===- Windows.cpp - pooling stages ---------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//


#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/lower/tenon-to-linalg/Stages.h"

using namespace mlir;
using namespace tenon;

/// Whether every window lies inside the input, whatever its size.
static bool isAlwaysInside(PoolOp op) {
  auto isZero = [](int64_t pad) { return pad == 0; };
  return !op.getCeil() && llvm::all_of(op.getLow(), isZero) && llvm::all_of(op.getHigh(), isZero);
}

/// How many elements of a window count in dimension i, for the result at `position` along it: those between
/// the bounds, of `start + w * dilation` for w in [0, window).
static Value emitWindowCount(ElementEmitter &emitter, Location loc, PoolOp op, unsigned i, AffineExpr position) {
  OpBuilder &b = emitter.getBuilder();
  MLIRContext *context = op.getContext();
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
  return arith::SubIOp::create(b, loc, last, first);
}

FailureOr<Value> StageBuilder::lowerPool(PoolOp op, Value destination) {
  Location loc = op.getLoc();
  MLIRContext *context = op.getContext();
  Type elementType = op.getType().getElementType(), accumulator = getAccumulatorType(elementType);
  ReduceKind kind = op.getKind() == PoolKind::max ? ReduceKind::max : ReduceKind::sum;
  Dims in = getDims(op.getInput()), out = getDims(op.getType());
  unsigned rank = in.size() - 2;
  // The innermost loop writes neighbours. Loops: all result dimensions but the last, window, last result dimension.
  unsigned windowLoop = 1 + rank, lastLoop = windowLoop + rank;
  auto resultLoop = [&](unsigned dim) { return dim + 1 == out.size() ? lastLoop : dim; };
  auto spatialLoop = [&](unsigned i) { return resultLoop(i + op.getFirstSpatialDim()); };
  Reduction r{kind, elementType, Dims(lastLoop + 1), {}};
  for (unsigned dim = 0; dim < out.size(); ++dim) {
    r.resultLoops.push_back(resultLoop(dim));
    r.extents[resultLoop(dim)] = out[dim];
  }
  for (unsigned i = 0; i < rank; ++i)
    r.extents[windowLoop + i] = getDimConstant(context, op.getWindow()[i]);
  bool alwaysInside = isAlwaysInside(op);

  auto emitTerm = [&](ElementEmitter &emitter) -> FailureOr<Value> {
    OpBuilder &b = emitter.getBuilder();
    SmallVector<AffineExpr> at(rank + 2);
    at[0] = emitter.getLoop(0);
    at[op.getChannelDim()] = emitter.getLoop(resultLoop(op.getChannelDim()));
    Value inside;
    for (unsigned i = 0; i < rank; ++i) {
      AffineExpr &position = at[i + op.getFirstSpatialDim()];
      position = simplifyDim(emitter.getLoop(spatialLoop(i)) * op.getStrides()[i] +
                             emitter.getLoop(windowLoop + i) * op.getDilations()[i] - op.getLow()[i]);
      if (alwaysInside)
        continue;
      Value here = emitter.emitInBounds(position, in[i + op.getFirstSpatialDim()]);
      inside = inside ? arith::AndIOp::create(b, loc, inside, here).getResult() : here;
    }
    auto emitElement = [&]() -> FailureOr<Value> {
      FailureOr<Value> element = emitter.emit(op.getInput(), at);
      if (failed(element))
        return failure();
      return toAccumulator(b, loc, *element, elementType);
    };
    if (alwaysInside)
      return emitElement();
    return emitter.emitIf(inside, accumulator, emitElement, [&]() -> FailureOr<Value> {
      return arith::ConstantOp::create(b, loc, getIdentity(b, kind, elementType, accumulator)).getResult();
    });
  };
  FailureOr<Value> joined = buildReduction(loc, r, destination, emitTerm);
  if (failed(joined))
    return failure();
  if (op.getKind() != PoolKind::average)
    return finishReduction(op.getResult(), *joined, destination);

  // In place where the accumulators have the result's type.
  bool inPlace = accumulator == getStorageType(elementType);
  return buildElementwise(loc, op.getType(), inPlace ? *joined : destination, [&](ElementEmitter &emitter) -> FailureOr<Value> {
    OpBuilder &b = emitter.getBuilder();
    Value count;
    for (unsigned i = 0; i < rank; ++i) {
      Value here = alwaysInside ? emitter.materialize(getDimConstant(context, op.getWindow()[i]))
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
