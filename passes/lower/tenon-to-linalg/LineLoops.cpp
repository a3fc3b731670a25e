//===- LineLoops.cpp - loops that write lines of tensors -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lower/tenon-to-linalg/LineLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Kernel.h"

using namespace mlir;
using namespace tenon;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value LineWriter::index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
Value LineWriter::extent(Value tensor, int64_t dim) { return scope.materializeDim(b, loc, getDim(tensor, dim)); }
Value LineWriter::add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
Value LineWriter::sub(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
Value LineWriter::isLess(Value x, Value y) { return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y); }
Value LineWriter::both(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
Value LineWriter::either(Value x, Value y) { return arith::OrIOp::create(b, loc, x, y); }
Value LineWriter::isNot(Value x) {
  return arith::XOrIOp::create(b, loc, x, arith::ConstantOp::create(b, loc, b.getBoolAttr(true)));
}
Value LineWriter::select(Value condition, Value x, Value y) { return arith::SelectOp::create(b, loc, condition, x, y); }

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value LineWriter::empty(ArrayRef<int64_t> extents, Type elementType) {
  // A tensor.empty would be merged with another one of the same shape by CSE, and then copied.
  return bufferization::AllocTensorOp::create(b, loc, RankedTensorType::get(extents, elementType), ValueRange());
}

Value LineWriter::read(Value operand, ValueRange at) {
  Type type = getElementTypeOrSelf(operand);
  ElementEmitter emitter(scope, b, loc, at);
  FailureOr<Value> element = emitter.emit(operand, emitter.getLoops());
  if (succeeded(element))
    return toAccumulator(b, loc, *element, type);
  failed = true;
  return arith::ConstantOp::create(b, loc, b.getZeroAttr(getAccumulatorType(type)));
}

Value LineWriter::readCount(Value operand, ValueRange at, Value size) {
  Value count = arith::IndexCastOp::create(b, loc, b.getIndexType(), read(operand, at));
  count = arith::MaxSIOp::create(b, loc, count, index(0));
  return arith::MinSIOp::create(b, loc, count, size);
}

Value LineWriter::get(Value tensor, ValueRange at) { return tensor::ExtractOp::create(b, loc, tensor, at); }
Value LineWriter::set(Value tensor, Value element, ValueRange at) {
  return tensor::InsertOp::create(b, loc, element, tensor, at);
}
Value LineWriter::setIndex(Value tensor, Value index, ValueRange at) {
  return set(tensor, arith::IndexCastOp::create(b, loc, getElementTypeOrSelf(tensor), index), at);
}
Value LineWriter::getIndex(Value tensor, ValueRange at) {
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), get(tensor, at));
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

LineWriter::Values LineWriter::repeat(Value from, Value to, ValueRange carried,
                                      llvm::function_ref<Values(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(b, loc, from, to, index(1), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Values next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  assert(next.size() == carried.size() && "a loop carries what it began with");
  scf::YieldOp::create(b, loc, next);
  return Values(loop.getResults());
}

LineWriter::Values LineWriter::repeatWhile(ValueRange carried, Body before, Body body) {
  OpBuilder::InsertPoint place = b.saveInsertionPoint();
  // The types of the values that are passed on are known only after the first region is emitted.
  Region condition;
  SmallVector<Location> locs(carried.size(), loc);
  Block *first = b.createBlock(&condition, {}, carried.getTypes(), locs);
  Values handed = before(first->getArguments());
  assert(!handed.empty() && handed[0].getType().isInteger(1) && "the first region says whether to go on");
  ValueRange rest = ValueRange(handed).drop_front();
  scf::ConditionOp::create(b, loc, handed[0], rest);
  b.restoreInsertionPoint(place);
  auto loop = scf::WhileOp::create(b, loc, rest.getTypes(), carried);
  loop.getBefore().takeBody(condition);
  locs.assign(rest.size(), loc);
  Block *second = b.createBlock(&loop.getAfter(), {}, rest.getTypes(), locs);
  Values next = body(second->getArguments());
  assert(next.size() == carried.size() && "the second region gives what the first one takes");
  scf::YieldOp::create(b, loc, next);
  b.restoreInsertionPoint(place);
  return Values(loop.getResults());
}

LineWriter::Values LineWriter::branch(Value condition, llvm::function_ref<Values()> thenValues,
                                      llvm::function_ref<Values()> elseValues) {
  auto write = [](llvm::function_ref<Values()> values) {
    return [values](OpBuilder &b, Location loc) { scf::YieldOp::create(b, loc, values()); };
  };
  return Values(scf::IfOp::create(b, loc, condition, write(thenValues), write(elseValues)).getResults());
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>>
tenon::buildLines(OpBuilder &b, KernelScope &scope, Location loc, ArrayRef<AffineExpr> lines, ValueRange tensors,
                  llvm::function_ref<LineWriter::Values(LineWriter &, ValueRange, ValueRange)> body) {
  AffineExpr count = getElementCount(b.getContext(), lines);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
  auto loop = scf::ForOp::create(b, loc, zero, scope.materializeDim(b, loc, count), one, tensors);
  loop->setAttr(kTilesAttr, ShapeAttr::get(b.getContext(), count));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> place(lines.size());
  Value rest = loop.getInductionVar();
  for (size_t i = lines.size(); i-- > 0;) {
    Value extent = scope.materializeDim(b, loc, lines[i]);
    place[i] = i == 0 ? rest : arith::RemUIOp::create(b, loc, rest, extent).getResult();
    rest = arith::DivUIOp::create(b, loc, rest, extent);
  }
  LineWriter writer(scope, b, loc);
  scf::YieldOp::create(b, loc, body(writer, place, loop.getRegionIterArgs()));
  if (writer.hasFailed())
    return failure();
  return SmallVector<Value>(loop.getResults());
}
