//===- Epilogue.cpp - what changes a result in place, on vectors of it ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/Epilogue.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tenon;

bool tenon::isVectorArithmetic(Operation &op) {
  if (matchPattern(&op, m_Constant()))
    return op.getResult(0).getType().isIntOrFloat();
  if (!OpTrait::hasElementwiseMappableTraits(&op) || op.getNumResults() != 1 || isa<arith::RemFOp>(op) ||
      !op.getResult(0).getType().isIntOrFloat())
    return false;
  return isa<arith::ArithDialect>(op.getDialect()) ||
         isa<math::AbsFOp, math::SqrtOp, math::FloorOp, math::CeilOp, math::RoundEvenOp, math::FmaOp>(op);
}

bool tenon::isAlongColumns(const ElementRead &read, unsigned columnLoop) {
  return read.map.getNumResults() > 0 && read.map.getResults().back().isFunctionOfDim(columnLoop);
}

/// True if a read is contiguous along the columns, or the same in all of them.
static bool isVectorRead(const ElementRead &read, unsigned columnLoop) {
  auto type = cast<MemRefType>(read.memory.getType());
  if (!type.getElementType().isIntOrFloat() || type.getElementType().isInteger(1))
    return false;
  if (!isAlongColumns(read, columnLoop))
    return llvm::none_of(read.map.getResults(), [&](AffineExpr index) { return index.isFunctionOfDim(columnLoop); });
  ArrayRef<AffineExpr> indices = read.map.getResults();
  return type.isLastDimUnitStride() && getStep(indices.back(), columnLoop) == 1 &&
         llvm::none_of(indices.drop_back(), [&](AffineExpr index) { return index.isFunctionOfDim(columnLoop); });
}

/// True if `memory` is local to the kernel and only passes the result of `producer` to `stage`.
static bool isHandedOver(Value memory, Operation *producer, Operation *stage) {
  auto part = memory.getDefiningOp<memref::SubViewOp>();
  Value whole = part ? part.getSource() : memory;
  auto isOther = [&](Operation *user) {
    return user != producer && user != stage && user != part && !isa<memref::DimOp, memref::DeallocOp>(user);
  };
  return whole.getDefiningOp<memref::AllocOp>() && llvm::none_of(memory.getUsers(), isOther) &&
         llvm::none_of(whole.getUsers(), isOther);
}

/// Returns the argument of the body for the element of `memory` from which the result element is computed.
static std::optional<unsigned> findElement(linalg::GenericOp op, Value memory, Operation *producer) {
  OpOperand *out = op.getDpsInitOperand(0);
  if (out->get() == memory)
    return out->getOperandNumber();
  for (OpOperand *input : op.getDpsInputOperands())
    if (input->get() == memory && op.getMatchingIndexingMap(input) == op.getMatchingIndexingMap(out) &&
        op.getBody()->getArguments().back().use_empty() && isHandedOver(memory, producer, op))
      return input->getOperandNumber();
  return std::nullopt;
}

static std::optional<EpilogueStage> matchStage(Operation *candidate, Operation *producer, Value memory, AffineMap place,
                                               unsigned columnLoop) {
  auto op = dyn_cast<linalg::GenericOp>(candidate);
  if (!op || op.getNumDpsInits() != 1 || op.getNumReductionLoops() ||
      !llvm::all_of(*op.getBody(),
                    [](Operation &inner) { return isa<linalg::YieldOp>(inner) || isVectorArithmetic(inner); }))
    return std::nullopt;
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  std::optional<unsigned> element = findElement(op, memory, producer);
  if (!element || !result.isPermutation())
    return std::nullopt;
  // Loop i of the stage has the value of the producer's expression for its dimension.
  SmallVector<AffineExpr> points(op.getNumLoops());
  assert(result.getNumResults() == place.getNumResults() && "a stage writes as many dimensions as its producer");
  for (auto [index, point] : llvm::zip(result.getResults(), place.getResults()))
    points[cast<AffineDimExpr>(index).getPosition()] = point;
  EpilogueStage stage{op, *element, {}, {}};
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (input->getOperandNumber() == *element)
      continue;
    AffineMap map = op.getMatchingIndexingMap(input);
    // A scalar operand is broadcast; the element that the stage updates is not read again.
    if (!isa<MemRefType>(input->get().getType()) || input->get() == memory)
      return std::nullopt;
    ElementRead read{input->get(), map.replaceDimsAndSymbols(points, {}, place.getNumDims(), 0), {}, {}};
    if (!isVectorRead(read, columnLoop))
      return std::nullopt;
    stage.reads.push_back(read);
    stage.arguments.push_back(input->getOperandNumber());
  }
  return stage;
}

SmallVector<EpilogueStage> tenon::matchEpilogue(Operation *producer, Value memory, AffineMap place,
                                                unsigned columnLoop) {
  SmallVector<EpilogueStage> stages;
  for (Operation *op = producer->getNextNode(); op; op = op->getNextNode()) {
    if (std::optional<EpilogueStage> stage = matchStage(op, producer, memory, place, columnLoop)) {
      stages.push_back(*stage);
      memory = stage->op.getDpsInits()[0];
    } else if (!isPure(op)) {
      break;
    }
  }
  return stages;
}

Value tenon::emitVectorRead(OpBuilder &b, Location loc, const ElementRead &read, unsigned columnLoop,
                            ValueRange indices, int64_t lanes, Value active) {
  auto type = VectorType::get({lanes}, getElementTypeOrSelf(read.memory));
  if (!isAlongColumns(read, columnLoop)) {
    Value element = memref::LoadOp::create(b, loc, read.memory, indices);
    return vector::BroadcastOp::create(b, loc, type, element);
  }
  if (!active)
    return vector::LoadOp::create(b, loc, type, read.memory, indices);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  return vector::MaskedLoadOp::create(b, loc, type, read.memory, indices, active, zero);
}

/// Emits `inner`, a scalar operation, on vectors of `shape`.
static void emitOnVectors(OpBuilder &b, Operation &inner, ArrayRef<int64_t> shape, IRMapping &vectors) {
  Location loc = inner.getLoc();
  auto spread = [&](Value scalar) -> Value {
    return vector::BroadcastOp::create(b, loc, VectorType::get(shape, scalar.getType()), scalar);
  };
  for (Value operand : inner.getOperands())
    if (!vectors.contains(operand))
      vectors.map(operand, spread(operand));
  Value result = b.clone(inner, vectors)->getResult(0);
  if (matchPattern(&inner, m_Constant()))
    result = spread(result);
  else
    result.setType(VectorType::get(shape, result.getType()));
  vectors.map(inner.getResult(0), result);
}

void tenon::emitStage(OpBuilder &b, const EpilogueStage &stage, MutableArrayRef<Value> vectors,
                      llvm::function_ref<Value(unsigned number, size_t place)> read) {
  linalg::GenericOp op = stage.op;
  ArrayRef<int64_t> shape = cast<VectorType>(vectors.front().getType()).getShape();
  SmallVector<IRMapping> mappings(vectors.size());
  for (auto [place, mapping] : llvm::enumerate(mappings)) {
    for (unsigned number = 0; number < stage.reads.size(); ++number)
      mapping.map(op.getBody()->getArgument(stage.arguments[number]), read(number, place));
    mapping.map(op.getBody()->getArgument(stage.element), vectors[place]);
  }
  for (Operation &inner : op.getBody()->without_terminator())
    for (IRMapping &mapping : mappings)
      emitOnVectors(b, inner, shape, mapping);
  Value yielded = op.getBody()->getTerminator()->getOperand(0);
  for (auto [vector, mapping] : llvm::zip(vectors, mappings)) {
    if (mapping.contains(yielded))
      vector = mapping.lookup(yielded);
    else
      vector = vector::BroadcastOp::create(b, op.getLoc(), VectorType::get(shape, yielded.getType()), yielded);
  }
}
