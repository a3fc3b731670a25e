//===- Normalizations.cpp - softmax and normalisations as chains of stages ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//  Each stage reads the row again, which is cheap: it stays in L1, since the kernel is tiled row by row.
//
// ===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/lower/tenon-to-linalg/Stages.h"

using namespace mlir;
using namespace tenon;

/// The type that statistics are computed in: f64 for f64, else f32.
static Type getStatisticsType(Type elementType) {
  return elementType.isF64() ? elementType : Float32Type::get(elementType.getContext());
}

/// Sets fast-math flags on the maximum of a row: it may be anything if an element is NaN, since the exponential of that
/// element makes the whole row NaN, and zeros may have either sign. The maximum then takes one instruction instead of
/// five.
static void relaxLargest(Value largest) {
  auto op = largest.getDefiningOp<linalg::GenericOp>();
  auto max = op ? op.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::MaximumFOp>() : arith::MaximumFOp();
  if (max)
    max.setFastmath(arith::FastMathFlags::nnan | arith::FastMathFlags::nsz);
}

FailureOr<Value> StageBuilder::finishLines(Operation *op, Value destination, EmitElement emit) {
  Value result = op->getResult(0);
  Dims dims = getDims(result);
  bool isReadInPlace = llvm::all_of(op->getUsers(), [&](Operation *user) {
    return user->hasTrait<Elementwise>() && getDims(user->getResult(0)) == dims;
  });
  if (!destination && isReadInPlace) {
    scope.bindElements(result, std::move(emit));
    return Value();
  }
  return buildElementwise(op->getLoc(), cast<RankedTensorType>(result.getType()), destination,
                          [&](ElementEmitter &emitter) { return emit(emitter, emitter.getLoops()); });
}

static FailureOr<Value> lowerSoftmax(StageBuilder &stages, SoftmaxOp op, Value destination) {
  Location loc = op.getLoc();
  Type elementType = op.getType().getElementType(), type = getStatisticsType(elementType);
  unsigned rank = op.getType().getRank(), axis = op.getAxis();
  bool isLog = op.getLog();
  Value input = op.getInput();
  Dims dims = getDims(input);
  StageBuilder::Reduction r{ReduceKind::max, type, dims, {}};
  for (unsigned i = 0; i < rank; ++i)
    if (i != axis)
      r.resultLoops.push_back(i);
  Dims rows = r.getResultDims();
  // The closure is called where its result is read, after this function has returned, so it captures by value.
  auto readRow = [=](ElementEmitter &emitter, Value statistics, ArrayRef<AffineExpr> at) {
    SmallVector<AffineExpr> row(at);
    row.erase(row.begin() + axis);
    return emitter.readTensor(statistics, rows, row);
  };
  auto emitInput = [=](ElementEmitter &emitter, ArrayRef<AffineExpr> at) -> FailureOr<Value> {
    FailureOr<Value> x = emitter.emit(input, at);
    if (failed(x))
      return failure();
    return castScalar(emitter.getBuilder(), loc, *x, elementType, type);
  };
  FailureOr<Value> top = stages.buildReduction(
      loc, r, Value(), [&](ElementEmitter &emitter) { return emitInput(emitter, emitter.getLoops()); });
  if (failed(top))
    return failure();
  Value largest = *top;
  relaxLargest(largest);
  auto emitShifted = [=](ElementEmitter &emitter, ArrayRef<AffineExpr> at) -> FailureOr<Value> {
    FailureOr<Value> x = emitInput(emitter, at);
    if (failed(x))
      return failure();
    return arith::SubFOp::create(emitter.getBuilder(), loc, *x, readRow(emitter, largest, at)).getResult();
  };
  auto emitExponential = [=](ElementEmitter &emitter, ArrayRef<AffineExpr> at) -> FailureOr<Value> {
    FailureOr<Value> x = emitShifted(emitter, at);
    if (failed(x))
      return failure();
    return emitSoftmaxWeight(emitter.getBuilder(), loc, *x);
  };
  r.kind = ReduceKind::sum;
  auto emitInverse = [=](ElementEmitter &emitter, Value sum, ArrayRef<AffineExpr> at) -> Value {
    OpBuilder &b = emitter.getBuilder();
    Value one = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, 1));
    return arith::DivFOp::create(b, loc, one, readRow(emitter, sum, at));
  };
  // If the result can hold the exponentials, they are computed once.
  if (destination && !isLog && elementType == type) {
    FailureOr<Value> exponentials =
        stages.buildElementwise(loc, op.getType(), destination,
                                [&](ElementEmitter &emitter) { return emitExponential(emitter, emitter.getLoops()); });
    if (failed(exponentials))
      return failure();
    FailureOr<Value> sum = stages.buildReduction(loc, r, Value(), [&](ElementEmitter &emitter) -> FailureOr<Value> {
      return emitter.readTensor(*exponentials, dims, emitter.getLoops());
    });
    if (failed(sum))
      return failure();
    return stages.buildElementwise(loc, op.getType(), *exponentials, [&](ElementEmitter &emitter) -> FailureOr<Value> {
      Value x = emitter.readTensor(*exponentials, dims, emitter.getLoops());
      return arith::MulFOp::create(emitter.getBuilder(), loc, x, emitInverse(emitter, *sum, emitter.getLoops()))
          .getResult();
    });
  }
  FailureOr<Value> weights = stages.buildReduction(
      loc, r, Value(), [&](ElementEmitter &emitter) { return emitExponential(emitter, emitter.getLoops()); });
  if (failed(weights))
    return failure();
  Value sum = *weights;
  return stages.finishLines(op, destination, [=](ElementEmitter &emitter, ArrayRef<AffineExpr> at) -> FailureOr<Value> {
    OpBuilder &b = emitter.getBuilder();
    FailureOr<Value> x = isLog ? emitShifted(emitter, at) : emitExponential(emitter, at);
    if (failed(x))
      return failure();
    Value y;
    if (isLog)
      y = arith::SubFOp::create(b, loc, *x, math::LogOp::create(b, loc, readRow(emitter, sum, at)));
    else
      y = arith::MulFOp::create(b, loc, *x, emitInverse(emitter, sum, at));
    return castScalar(b, loc, y, type, elementType);
  });
}

static FailureOr<Value> lowerNorm(StageBuilder &stages, Operation *op, Value destination) {
  Location loc = op->getLoc();
  auto layerNorm = dyn_cast<LayerNormOp>(op);
  auto rmsNorm = dyn_cast<RmsNormOp>(op);
  Value input = op->getOperand(0), scale = op->getOperand(1), bias = layerNorm ? layerNorm.getBias() : Value();
  unsigned axis = layerNorm ? layerNorm.getAxis() : rmsNorm.getAxis();
  double epsilon = (layerNorm ? layerNorm.getEpsilon() : rmsNorm.getEpsilon()).convertToDouble();
  Type elementType = getElementTypeOrSelf(input), type = getStatisticsType(elementType);
  Dims dims = getDims(input);
  AffineExpr size = getElementCount(op->getContext(), ArrayRef(dims).drop_front(axis));

  StageBuilder::Reduction r{ReduceKind::sum, type, dims, {}};
  for (unsigned i = 0; i < axis; ++i)
    r.resultLoops.push_back(i);
  // The closure is called where its result is read, after this function has returned, so it captures by value.
  auto emitWide = [=](ElementEmitter &emitter, Value value, ArrayRef<AffineExpr> at) -> FailureOr<Value> {
    SmallVector<AffineExpr> places;
    Dims own = getDims(value);
    for (auto [dim, place] : llvm::zip(own, at.take_back(own.size())))
      places.push_back(getConstant(dim) == 1 ? getDimConstant(op->getContext(), 0) : place);
    FailureOr<Value> x = emitter.emit(value, places);
    if (failed(x))
      return failure();
    return castScalar(emitter.getBuilder(), loc, *x, elementType, type);
  };
  // A sum over the row, divided by its size.
  auto emitMean = [=](ElementEmitter &emitter, Value sums, ArrayRef<AffineExpr> at) -> Value {
    OpBuilder &b = emitter.getBuilder();
    Value count = arith::IndexCastOp::create(b, loc, b.getI64Type(), emitter.materialize(size));
    Value sum = emitter.readTensor(sums, ArrayRef(dims).take_front(axis), at.take_front(axis));
    return arith::DivFOp::create(b, loc, sum, castScalar(b, loc, count, b.getI64Type(), type));
  };
  Value sums; // for a layer norm alone
  if (layerNorm) {
    FailureOr<Value> all = stages.buildReduction(
        loc, r, Value(), [&](ElementEmitter &emitter) { return emitWide(emitter, input, emitter.getLoops()); });
    if (failed(all))
      return failure();
    sums = *all;
  }
  auto emitCentered = [=](ElementEmitter &emitter, ArrayRef<AffineExpr> at) -> FailureOr<Value> {
    FailureOr<Value> x = emitWide(emitter, input, at);
    if (failed(x) || !sums)
      return x;
    return arith::SubFOp::create(emitter.getBuilder(), loc, *x, emitMean(emitter, sums, at)).getResult();
  };
  FailureOr<Value> all = stages.buildReduction(loc, r, Value(), [&](ElementEmitter &emitter) -> FailureOr<Value> {
    FailureOr<Value> x = emitCentered(emitter, emitter.getLoops());
    if (failed(x))
      return failure();
    return arith::MulFOp::create(emitter.getBuilder(), loc, *x, *x).getResult();
  });
  if (failed(all))
    return failure();
  Value squares = *all;
  return stages.finishLines(op, destination, [=](ElementEmitter &emitter, ArrayRef<AffineExpr> at) -> FailureOr<Value> {
    OpBuilder &b = emitter.getBuilder();
    FailureOr<Value> x = emitCentered(emitter, at), factor = emitWide(emitter, scale, at);
    if (failed(x) || failed(factor))
      return failure();
    Value epsilonValue = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, epsilon));
    Value variance = arith::AddFOp::create(b, loc, emitMean(emitter, squares, at), epsilonValue);
    Value one = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, 1));
    Value inverse = arith::DivFOp::create(b, loc, one, math::SqrtOp::create(b, loc, variance));
    Value y = arith::MulFOp::create(b, loc, arith::MulFOp::create(b, loc, *x, inverse), *factor);
    if (bias) {
      FailureOr<Value> shift = emitWide(emitter, bias, at);
      if (failed(shift))
        return failure();
      y = arith::AddFOp::create(b, loc, y, *shift);
    }
    return castScalar(b, loc, y, type, elementType);
  });
}

void tenon::addNormalizationStages(StageTable &table) {
  table.add<SoftmaxOp>(lowerSoftmax);
  table.add<LayerNormOp>(lowerNorm);
  table.add<RmsNormOp>(lowerNorm);
}
