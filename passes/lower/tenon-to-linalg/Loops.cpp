//===- Loops.cpp - stages whose iterations depend on each other -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/lower/tenon-to-linalg/Stages.h"

using namespace mlir;
using namespace tenon;

FailureOr<Value> StageBuilder::buildLoops(Location loc, ArrayRef<AffineExpr> dims, Value tensor,
                                          llvm::function_ref<FailureOr<Value>(ValueRange, Value)> body) {
  OpBuilder::InsertionGuard guard(builder);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0), one = arith::ConstantIndexOp::create(builder, loc, 1);
  SmallVector<Value> extents, indices;
  for (AffineExpr dim : dims)
    extents.push_back(scope.materializeDim(builder, loc, dim));
  SmallVector<scf::ForOp> loops;
  Value carried = tensor;
  for (Value extent : extents) {
    auto loop = scf::ForOp::create(builder, loc, zero, extent, one, carried);
    loops.push_back(loop);
    indices.push_back(loop.getInductionVar());
    carried = loop.getRegionIterArg(0);
    builder.setInsertionPointToStart(loop.getBody());
  }
  FailureOr<Value> result = body(indices, carried);
  if (failed(result))
    return failure();
  for (scf::ForOp loop : llvm::reverse(loops)) {
    assert(result->getType() == tensor.getType() && "a loop gives the tensor that it began with, changed");
    builder.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(builder, loc, *result);
    result = loop.getResult(0);
  }
  return result;
}

/// True if a scan runs along a dimension that is not contiguous, so that it can process contiguous elements of all
/// lines together, and the result can hold the accumulators.
static bool scansNeighbours(ScanOp op) {
  Type elementType = op.getType().getElementType();
  bool hasNeighbours = llvm::any_of(ArrayRef(getDims(op.getType())).drop_front(op.getAxis() + 1),
                                    [](AffineExpr dim) { return getConstant(dim) != 1; });
  return hasNeighbours && getStorageType(elementType) == getAccumulatorType(elementType);
}

/// Scans all adjacent lines step by step: each element is combined with the result of the step before.
FailureOr<Value> StageBuilder::scanNeighbours(ScanOp op, Value destination) {
  Location loc = op.getLoc();
  Type elementType = op.getType().getElementType(), accumulator = getAccumulatorType(elementType);
  Dims dims = getDims(op.getType());
  int64_t axis = op.getAxis();
  return buildLoops(loc, dims, destination, [&](ValueRange loops, Value tensor) -> FailureOr<Value> {
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0), one = arith::ConstantIndexOp::create(builder, loc, 1);
    Value step = loops[axis], isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, step, zero);
    // The first step has no predecessor, and the value that is read for it is ignored.
    Value stepBefore =
        arith::SelectOp::create(builder, loc, isFirst, zero, arith::SubIOp::create(builder, loc, step, one));
    assert(axis < static_cast<int64_t>(loops.size()) && "the verifier refuses an axis that the input has not");
    SmallVector<Value> at(loops), before(loops);
    before[axis] = stepBefore;
    if (op.getReverse()) {
      Value last = arith::SubIOp::create(builder, loc, scope.materializeDim(builder, loc, dims[axis]), one);
      at[axis] = arith::SubIOp::create(builder, loc, last, step);
      before[axis] = arith::SubIOp::create(builder, loc, last, stepBefore);
    }
    ElementEmitter emitter(scope, builder, loc, op.getExclusive() ? before : at);
    FailureOr<Value> element = emitter.emit(op.getInput(), emitter.getLoops());
    if (failed(element))
      return failure();
    OpBuilder &b = emitter.getBuilder();
    Value identity = arith::ConstantOp::create(b, loc, getIdentity(b, op.getKind(), elementType, accumulator));
    Value joined = fromStorage(b, loc, tensor::ExtractOp::create(b, loc, tensor, before), elementType);
    joined = toAccumulator(b, loc, joined, elementType);
    if (!op.getExclusive())
      joined = arith::SelectOp::create(b, loc, isFirst, identity, joined);
    Value after = emitCombine(b, loc, op.getKind(), elementType, joined, toAccumulator(b, loc, *element, elementType));
    if (op.getExclusive())
      after = arith::SelectOp::create(b, loc, isFirst, identity, after);
    Value stored = toStorage(b, loc, fromAccumulator(b, loc, after, elementType), elementType);
    return tensor::InsertOp::create(b, loc, stored, tensor, at).getResult();
  });
}

FailureOr<Value> StageBuilder::lowerScan(ScanOp op, Value destination) {
  Location loc = op.getLoc();
  Type elementType = op.getType().getElementType(), accumulator = getAccumulatorType(elementType);
  Dims dims = getDims(op.getType());
  int64_t axis = op.getAxis();
  if (!destination)
    destination = scope.createEmpty(builder, loc, dims, getStorageType(elementType));
  if (scansNeighbours(op))
    return scanNeighbours(op, destination);
  // One running value a line along the axis.
  Dims lines(dims);
  lines.erase(lines.begin() + axis);
  AffineExpr size = dims[axis];
  return buildLoops(loc, lines, destination, [&](ValueRange line, Value tensor) -> FailureOr<Value> {
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0), one = arith::ConstantIndexOp::create(builder, loc, 1);
    Value count = scope.materializeDim(builder, loc, size);
    Value identity =
        arith::ConstantOp::create(builder, loc, getIdentity(builder, op.getKind(), elementType, accumulator));
    auto loop = scf::ForOp::create(builder, loc, zero, count, one, ValueRange{tensor, identity});
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value position = loop.getInductionVar();
    if (op.getReverse()) {
      Value last = arith::SubIOp::create(builder, loc, count, one);
      position = arith::SubIOp::create(builder, loc, last, position);
    }
    SmallVector<Value> at(line.begin(), line.end());
    at.insert(at.begin() + axis, position);
    ElementEmitter emitter(scope, builder, loc, at);
    FailureOr<Value> element = emitter.emit(op.getInput(), emitter.getLoops());
    if (failed(element))
      return failure();
    OpBuilder &b = emitter.getBuilder();
    Value before = loop.getRegionIterArg(1);
    Value after = emitCombine(b, loc, op.getKind(), elementType, before, toAccumulator(b, loc, *element, elementType));
    Value stored = fromAccumulator(b, loc, op.getExclusive() ? before : after, elementType);
    stored = toStorage(b, loc, stored, elementType);
    Value updated = tensor::InsertOp::create(b, loc, stored, loop.getRegionIterArg(0), at);
    scf::YieldOp::create(b, loc, ValueRange{updated, after});
    return loop.getResult(0);
  });
}

/// Emits the element that a scatter stores for an update and an old element.
static Value emitScattered(OpBuilder &b, Location loc, ScatterKind kind, Type elementType, Value old, Value update) {
  switch (kind) {
  case ScatterKind::assign:
    return update;
  case ScatterKind::add:
  case ScatterKind::mul:
  case ScatterKind::max:
  case ScatterKind::min: {
    ReduceKind reduce = kind == ScatterKind::add   ? ReduceKind::sum
                        : kind == ScatterKind::mul ? ReduceKind::prod
                        : kind == ScatterKind::max ? ReduceKind::max
                                                   : ReduceKind::min;
    Value joined = emitCombine(b, loc, reduce, elementType, toAccumulator(b, loc, old, elementType),
                               toAccumulator(b, loc, update, elementType));
    return fromAccumulator(b, loc, joined, elementType);
  }
  }
  llvm_unreachable("all kinds are above");
}

/// Copies the initial tensor of a scatter to memory that may be overwritten. It uses loops, because a linalg operation
/// that only copies would be folded to its operand.
FailureOr<Value> StageBuilder::copyForChange(Value value, Value destination) {
  Location loc = value.getLoc();
  return buildLoops(loc, getDims(value), destination, [&](ValueRange loops, Value tensor) -> FailureOr<Value> {
    ElementEmitter emitter(scope, builder, loc, loops);
    FailureOr<Value> element = emitter.emit(value, emitter.getLoops());
    if (failed(element))
      return failure();
    OpBuilder &b = emitter.getBuilder();
    Value stored = toStorage(b, loc, *element, getElementTypeOrSelf(value));
    return tensor::InsertOp::create(b, loc, stored, tensor, loops).getResult();
  });
}

FailureOr<Value> StageBuilder::lowerScatter(Operation *op, Value destination) {
  Location loc = op->getLoc();
  auto elements = dyn_cast<ScatterElementsOp>(op);
  auto slices = dyn_cast<ScatterNDOp>(op);
  ScatterKind kind = elements ? elements.getKind() : slices.getKind();
  Value input = op->getOperand(0), indices = op->getOperand(1), updates = op->getOperand(2);
  Type elementType = getElementTypeOrSelf(input);
  assert((elements || slices) && "scatters are of elements or of slices");
  Dims inDims = getDims(input), updateDims = getDims(updates);
  if (!destination)
    destination = scope.createEmpty(builder, loc, inDims, getStorageType(elementType));
  FailureOr<Value> copy = copyForChange(input, destination);
  if (failed(copy))
    return failure();
  return buildLoops(loc, updateDims, *copy, [&](ValueRange loops, Value tensor) -> FailureOr<Value> {
    ElementEmitter emitter(scope, builder, loc, loops);
    OpBuilder &b = emitter.getBuilder();
    SmallVector<AffineExpr> all = emitter.getLoops(), at;
    if (elements) {
      at = all;
      FailureOr<AffineExpr> index = emitter.emitGatherIndex(indices, all, inDims[elements.getAxis()]);
      if (failed(index))
        return failure();
      at[elements.getAxis()] = *index;
    } else {
      Dims indexDims = getDims(indices);
      assert(!indexDims.empty() && getConstant(indexDims.back()) &&
             "the verifier wants a constant number of coordinates");
      unsigned outer = indexDims.size() - 1;
      for (int64_t i = 0; i < *getConstant(indexDims.back()); ++i) {
        SmallVector<AffineExpr> position(ArrayRef(all).take_front(outer));
        position.push_back(getDimConstant(op->getContext(), i));
        FailureOr<AffineExpr> index = emitter.emitGatherIndex(indices, position, inDims[i]);
        if (failed(index))
          return failure();
        at.push_back(*index);
      }
      llvm::append_range(at, ArrayRef(all).drop_front(outer));
    }
    FailureOr<Value> update = emitter.emit(updates, all);
    if (failed(update))
      return failure();
    SmallVector<Value> position;
    for (AffineExpr index : at)
      position.push_back(emitter.materialize(index));
    Value old = fromStorage(b, loc, tensor::ExtractOp::create(b, loc, tensor, position), elementType);
    Value joined = toStorage(b, loc, emitScattered(b, loc, kind, elementType, old, *update), elementType);
    return tensor::InsertOp::create(b, loc, joined, tensor, position).getResult();
  });
}
