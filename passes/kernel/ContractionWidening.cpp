//===- ContractionWidening.cpp - products with weights of few bits ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For few rows each number becomes a factor in registers, right before it is
// multiplied, and the sum of a block is scaled. For many rows a panel is widened
// to the thread's scratch once, and read as one of floats.
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/kernel/ContractionEmitter.h"
#include "runtime/format/Kernel.h"

using namespace mlir;
using namespace tenon;

void ContractionEmitter::emitWidenedLoops() {
  Value rows = contraction.rowLoop ? extents[*contraction.rowLoop] : constant(1);
  if (std::optional<int64_t> known = getConstantIntValue(rows))
    return emitWidenedRows(*known <= kFewWidenedRows);
  Value few = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, rows, constant(kFewWidenedRows));
  auto branch = scf::IfOp::create(b, loc, few, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
    b.setInsertionPointToStart(block);
    emitWidenedRows(block == branch.thenBlock());
  }
}

void ContractionEmitter::emitWidenedRows(bool inRegisters) {
  widensInRegisters = inRegisters;
  block = chooseBlock(getProblem());
  copiedRows = {};
  if (inRegisters)
    return emitLoops();
  copyRows();
  ElementRead stored = contraction.vectors;
  int64_t width = block.vectors * lanes, depth = *getConstantIntValue(extents[getWidenedLoop(op)]);
  panel = kernel::ScratchOp::create(b, loc, MemRefType::get({depth, width}, type), llvm::alignTo(getCopyScratch(op, contraction), TENON_BUFFER_ALIGNMENT));
  contraction.vectors.memory = panel;
  AffineExpr step = b.getAffineDimExpr(getWidenedLoop(op)), column = b.getAffineDimExpr(contraction.columnLoop);
  contraction.vectors.map = AffineMap::get(op.getNumLoops(), 0, {step, column % width}, b.getContext());
  emitLoops();
  contraction.vectors = stored;
}

/// Runs `body` at each of so many steps of the sum from `first` on; it changes what is carried.
void ContractionEmitter::forSteps(Value first, int64_t steps, MutableArrayRef<Value> carried,
                                  llvm::function_ref<void(MutableArrayRef<Value>)> body) {
  // All numbers of a word, or as many.
  constexpr int64_t kUnrolled = 8;
  Value &place = position[getWidenedLoop(op)];
  AffineExpr from = b.getAffineDimExpr(0), offset = b.getAffineDimExpr(1);
  auto runAt = [&](Value start, Value index, int64_t number, MutableArrayRef<Value> values) {
    place = affine::makeComposedAffineApply(b, loc, AffineMap::get(2, 0, from + offset * kUnrolled + number),
                                            {start, index});
    columns.clear();
    body(values);
  };
  int64_t whole = steps / kUnrolled;
  if (whole > 0) {
    auto loop = scf::ForOp::create(b, loc, constant(0), constant(whole), constant(1), carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> values(loop.getRegionIterArgs());
    for (int64_t number = 0; number < kUnrolled; ++number)
      runAt(first, loop.getInductionVar(), number, values);
    if (carried.empty())
      b.setInsertionPoint(loop.getBody()->getTerminator());
    else
      scf::YieldOp::create(b, loc, values);
    llvm::copy(loop.getResults(), carried.begin());
  }
  for (int64_t number = 0; number < steps % kUnrolled; ++number)
    runAt(first, constant(whole), number, carried);
}

/// Runs `body` for each block of steps that have one scale, of which the last may be shorter.
void ContractionEmitter::forBlocks(MutableArrayRef<Value> carried,
                                   llvm::function_ref<void(Value first, int64_t steps, MutableArrayRef<Value>)> body) {
  int64_t depth = *getConstantIntValue(extents[getWidenedLoop(op)]);
  int64_t block = std::min(contraction.widening->block, depth), whole = depth / block;
  if (whole > 1) {
    auto loop = scf::ForOp::create(b, loc, constant(0), constant(whole), constant(1), carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> values(loop.getRegionIterArgs());
    AffineMap begin = AffineMap::get(1, 0, b.getAffineDimExpr(0) * block);
    body(affine::AffineApplyOp::create(b, loc, begin, loop.getInductionVar()), block, values);
    if (!carried.empty())
      scf::YieldOp::create(b, loc, values);
    llvm::copy(loop.getResults(), carried.begin());
  } else if (whole == 1) {
    body(constant(0), block, carried);
  }
  if (depth % block != 0)
    body(constant(whole * block), depth % block, carried);
}

/// The sum of each block, scaled.
SmallVector<Value> ContractionEmitter::emitScaledBlocks(ArrayRef<int64_t> rows, ValueRange sums) {
  SmallVector<Value> results(sums);
  Value scale = contraction.widening->scale;
  auto addSteps = [&](Value first, int64_t steps, MutableArrayRef<Value> values) {
    forSteps(first, steps, values, [&](MutableArrayRef<Value> parts) { llvm::copy(emitStep(rows, parts), parts.begin()); });
  };
  forBlocks(results, [&](Value first, int64_t steps, MutableArrayRef<Value> values) {
    if (!scale)
      return addSteps(first, steps, values);
    SmallVector<Value> parts(values.size(),
                             arith::ConstantOp::create(b, loc, b.getZeroAttr(VectorType::get({lanes}, type))));
    addSteps(first, steps, parts);
    position[getWidenedLoop(op)] = first;
    columns.clear();
    for (auto [i, value] : llvm::enumerate(values))
      value = vector::FMAOp::create(b, loc, parts[i], emitScale(i % size.vectors), value);
  });
  return results;
}

/// The scale of the current block for a vector of columns, which may be one for all of them.
Value ContractionEmitter::emitScale(int64_t vector) {
  Value scale = emitColumns(contraction.widening->scale, vector);
  if (isa<VectorType>(scale.getType()))
    return scale;
  return vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, scale.getType()), scale);
}

/// Writes the factors of the current columns to `panel`.
void ContractionEmitter::widenPanel(int64_t vectors) {
  Value scale = contraction.widening->scale;
  forBlocks({}, [&](Value first, int64_t steps, MutableArrayRef<Value>) {
    position[getWidenedLoop(op)] = first;
    columns.clear();
    SmallVector<Value> scales;
    for (int64_t v = 0; v < vectors && scale; ++v)
      scales.push_back(emitScale(v));
    forSteps(first, steps, {}, [&](MutableArrayRef<Value>) {
      for (int64_t v = 0; v < vectors; ++v) {
        Value factor = emitColumns(contraction.widening->number, v);
        if (scale)
          factor = arith::MulFOp::create(b, loc, factor, scales[v]);
        vector::StoreOp::create(b, loc, factor, panel, getIndices(contraction.vectors, 0, v * lanes));
      }
    });
  });
}

/// A value of the body at the current step: a vector of columns, or where it depends on no weight one scalar.
Value ContractionEmitter::emitColumns(Value value, int64_t vector) {
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *definition = value.getDefiningOp();
  if (definition && !op.getRegion().isAncestor(definition->getParentRegion()))
    return value;
  if (Value known = columns.lookup({value, vector}))
    return known;
  Value result;
  if (argument) {
    // What panels hold beyond the last column is zero: they need no mask.
    ElementRead read = getRead(op->getOpOperand(argument.getArgNumber()));
    result = emitVectorRead(b, loc, read, contraction.columnLoop, getIndices(read, 0, vector * lanes), lanes, Value());
  } else if (auto index = dyn_cast<linalg::IndexOp>(definition)) {
    result = position[index.getDim()];
  } else {
    result = emitOnColumns(definition, vector);
  }
  return columns[{value, vector}] = result;
}

Value ContractionEmitter::emitOnColumns(Operation *definition, int64_t vector) {
  SmallVector<Value> operands;
  for (Value operand : definition->getOperands())
    operands.push_back(emitColumns(operand, vector));
  bool isVector = llvm::any_of(operands, [](Value operand) { return isa<VectorType>(operand.getType()); });
  auto widen = [&](Type scalar) { return VectorType::get({lanes}, scalar); };
  for (Value &operand : operands)
    if (isVector && !isa<VectorType>(operand.getType()))
      operand = vector::BroadcastOp::create(b, loc, widen(operand.getType()), operand);
  Operation *copy = b.clone(*definition);
  copy->setOperands(operands);
  if (isVector)
    copy->getResult(0).setType(widen(copy->getResult(0).getType()));
  return copy->getResult(0);
}
