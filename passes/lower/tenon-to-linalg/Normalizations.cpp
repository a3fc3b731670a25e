//===- Normalizations.cpp - softmax and normalisations as chains of stages ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A row is read once a stage, which costs little: it stays in the first-level
// cache, since the kernel is tiled row by row.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/lower/tenon-to-linalg/Stages.h"

using namespace mlir;
using namespace tenon;

/// The type that statistics are computed in: f64 for f64, else f32.
static Type getStatisticsType(Type elementType) {
  return elementType.isF64() ? elementType : Float32Type::get(elementType.getContext());
}

/// Lets the largest number of a row be any where one is no number, since all of the row becomes none by its own exponential; and
/// either zero. That is one instruction, instead of five.
static void relaxLargest(Value largest) {
  auto op = largest.getDefiningOp<linalg::GenericOp>();
  auto max = op ? op.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::MaximumFOp>() : arith::MaximumFOp();
  if (max)
    max.setFastmath(arith::FastMathFlags::nnan | arith::FastMathFlags::nsz);
}

FailureOr<Value> StageBuilder::lowerSoftmax(SoftmaxOp op, Value destination) {
  Location loc = op.getLoc();
  Type elementType = op.getType().getElementType(), type = getStatisticsType(elementType);
  unsigned rank = op.getType().getRank(), axis = op.getAxis();
  Dims dims = getDims(op.getInput());
  Reduction r{ReduceKind::max, type, dims, {}};
  for (unsigned i = 0; i < rank; ++i)
    if (i != axis)
      r.resultLoops.push_back(i);
  Dims rows = r.getResultDims();
  auto rowIndices = [&](ElementEmitter &emitter) {
    SmallVector<AffineExpr> at = emitter.getLoops();
    at.erase(at.begin() + axis);
    return at;
  };
  auto emitInput = [&](ElementEmitter &emitter) -> FailureOr<Value> {
    FailureOr<Value> x = emitter.emit(op.getInput(), emitter.getLoops());
    if (failed(x))
      return failure();
    return castScalar(emitter.getBuilder(), loc, *x, elementType, type);
  };
  FailureOr<Value> largest = buildReduction(loc, r, Value(), emitInput);
  if (failed(largest))
    return failure();
  relaxLargest(*largest);
  auto emitShifted = [&](ElementEmitter &emitter) -> FailureOr<Value> {
    FailureOr<Value> x = emitInput(emitter);
    if (failed(x))
      return failure();
    Value top = emitter.readTensor(*largest, rows, rowIndices(emitter));
    return arith::SubFOp::create(emitter.getBuilder(), loc, *x, top).getResult();
  };
  auto emitExponential = [&](ElementEmitter &emitter) -> FailureOr<Value> {
    FailureOr<Value> x = emitShifted(emitter);
    if (failed(x))
      return failure();
    return emitSoftmaxWeight(emitter.getBuilder(), loc, *x);
  };
  r.kind = ReduceKind::sum;
  auto emitInverse = [&](ElementEmitter &emitter, Value sum) -> Value {
    OpBuilder &b = emitter.getBuilder();
    Value one = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, 1));
    return arith::DivFOp::create(b, loc, one, emitter.readTensor(sum, rows, rowIndices(emitter)));
  };
  // Where the result can hold the exponentials, they are computed once.
  if (!op.getLog() && elementType == type) {
    FailureOr<Value> exponentials = buildElementwise(loc, op.getType(), destination, emitExponential);
    if (failed(exponentials))
      return failure();
    FailureOr<Value> sum = buildReduction(loc, r, Value(), [&](ElementEmitter &emitter) -> FailureOr<Value> {
      return emitter.readTensor(*exponentials, dims, emitter.getLoops());
    });
    if (failed(sum))
      return failure();
    return buildElementwise(loc, op.getType(), *exponentials, [&](ElementEmitter &emitter) -> FailureOr<Value> {
      Value x = emitter.readTensor(*exponentials, dims, emitter.getLoops());
      return arith::MulFOp::create(emitter.getBuilder(), loc, x, emitInverse(emitter, *sum)).getResult();
    });
  }
  FailureOr<Value> sum = buildReduction(loc, r, Value(), emitExponential);
  if (failed(sum))
    return failure();
  return buildElementwise(loc, op.getType(), destination, [&](ElementEmitter &emitter) -> FailureOr<Value> {
    OpBuilder &b = emitter.getBuilder();
    FailureOr<Value> x = op.getLog() ? emitShifted(emitter) : emitExponential(emitter);
    if (failed(x))
      return failure();
    Value y;
    if (op.getLog())
      y = arith::SubFOp::create(b, loc, *x, math::LogOp::create(b, loc, emitter.readTensor(*sum, rows, rowIndices(emitter))));
    else
      y = arith::MulFOp::create(b, loc, *x, emitInverse(emitter, *sum));
    return castScalar(b, loc, y, type, elementType);
  });
}

FailureOr<Value> StageBuilder::lowerNorm(Operation *op, Value destination) {
  Location loc = op->getLoc();
  auto layerNorm = dyn_cast<LayerNormOp>(op);
  auto rmsNorm = dyn_cast<RmsNormOp>(op);
  Value input = op->getOperand(0), scale = op->getOperand(1), bias = layerNorm ? layerNorm.getBias() : Value();
  unsigned axis = layerNorm ? layerNorm.getAxis() : rmsNorm.getAxis();
  double epsilon = (layerNorm ? layerNorm.getEpsilon() : rmsNorm.getEpsilon()).convertToDouble();
  auto tensorType = cast<RankedTensorType>(input.getType());
  Type elementType = tensorType.getElementType(), type = getStatisticsType(elementType);
  Dims dims = getDims(input);
  AffineExpr size = getElementCount(op->getContext(), ArrayRef(dims).drop_front(axis));

  Reduction r{ReduceKind::sum, type, dims, {}};
  for (unsigned i = 0; i < axis; ++i)
    r.resultLoops.push_back(i);
  auto emitWide = [&](ElementEmitter &emitter, Value value) -> FailureOr<Value> {
    SmallVector<AffineExpr> at;
    Dims own = getDims(value);
    for (auto [dim, loop] : llvm::zip(own, ArrayRef(emitter.getLoops()).take_back(own.size())))
      at.push_back(getConstant(dim) == 1 ? getDimConstant(op->getContext(), 0) : loop);
    FailureOr<Value> x = emitter.emit(value, at);
    if (failed(x))
      return failure();
    return castScalar(emitter.getBuilder(), loc, *x, elementType, type);
  };
  // A sum over the row, divided by its size.
  auto emitMean = [&](ElementEmitter &emitter, Value sums) -> Value {
    OpBuilder &b = emitter.getBuilder();
    Value count = arith::IndexCastOp::create(b, loc, b.getI64Type(), emitter.materialize(size));
    Value sum = emitter.readTensor(sums, ArrayRef(dims).take_front(axis), ArrayRef(emitter.getLoops()).take_front(axis));
    return arith::DivFOp::create(b, loc, sum, castScalar(b, loc, count, b.getI64Type(), type));
  };
  FailureOr<Value> sums;
  if (layerNorm) {
    sums = buildReduction(loc, r, Value(), [&](ElementEmitter &emitter) { return emitWide(emitter, input); });
    if (failed(sums))
      return failure();
  }
  auto emitCentered = [&](ElementEmitter &emitter) -> FailureOr<Value> {
    FailureOr<Value> x = emitWide(emitter, input);
    if (failed(x) || !layerNorm)
      return x;
    return arith::SubFOp::create(emitter.getBuilder(), loc, *x, emitMean(emitter, *sums)).getResult();
  };
  FailureOr<Value> squares = buildReduction(loc, r, Value(), [&](ElementEmitter &emitter) -> FailureOr<Value> {
    FailureOr<Value> x = emitCentered(emitter);
    if (failed(x))
      return failure();
    return arith::MulFOp::create(emitter.getBuilder(), loc, *x, *x).getResult();
  });
  if (failed(squares))
    return failure();
  return buildElementwise(loc, tensorType, destination, [&](ElementEmitter &emitter) -> FailureOr<Value> {
    OpBuilder &b = emitter.getBuilder();
    FailureOr<Value> x = emitCentered(emitter), factor = emitWide(emitter, scale);
    if (failed(x) || failed(factor))
      return failure();
    Value epsilonValue = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, epsilon));
    Value variance = arith::AddFOp::create(b, loc, emitMean(emitter, *squares), epsilonValue);
    Value one = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, 1));
    Value inverse = arith::DivFOp::create(b, loc, one, math::SqrtOp::create(b, loc, variance));
    Value y = arith::MulFOp::create(b, loc, arith::MulFOp::create(b, loc, *x, inverse), *factor);
    if (bias) {
      FailureOr<Value> shift = emitWide(emitter, bias);
      if (failed(shift))
        return failure();
      y = arith::AddFOp::create(b, loc, y, *shift);
    }
    return castScalar(b, loc, y, type, elementType);
  });
}
