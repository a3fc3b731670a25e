//===- LoopBuilder.cpp - loops and positions of a contraction -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/contract/LoopBuilder.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace tenon;

LoopBuilder::LoopBuilder(kernel::ContractOp op, const Contraction &contraction)
    : b(op), loc(op.getLoc()), rowLoop(contraction.rowLoop), columnLoop(contraction.columnLoop),
      position(op.getNumLoops()) {
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (iterator != utils::IteratorType::parallel)
      summedLoops.push_back(loop);
    else if (loop != columnLoop && loop != rowLoop)
      outerLoops.push_back(loop);
}

void LoopBuilder::emitExtents(kernel::ContractOp op) {
  assert(extents.empty() && "extents are emitted once");
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    // The extent of a loop is that of an operand's dimension that is indexed by the loop alone, as in linalg.
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      const auto *it = llvm::find(map.getResults(), b.getAffineDimExpr(loop));
      if (it == map.getResults().end())
        continue;
      int64_t dim = it - map.getResults().begin();
      auto memref = cast<MemRefType>(operand.get().getType());
      extents.push_back(memref.isDynamicDim(dim) ? memref::DimOp::create(b, loc, operand.get(), dim).getResult()
                                                 : constant(memref.getDimSize(dim)));
      break;
    }
  }
  assert(extents.size() == op.getNumLoops() && "each loop is a dimension of some operand");
}

void LoopBuilder::forLoop(Value begin, Value end, int64_t step, llvm::function_ref<void(Value)> body) {
  assert(step > 0 && "a loop moves on");
  std::optional<int64_t> first = getConstantIntValue(begin), last = getConstantIntValue(end);
  if (first && last && *first >= *last)
    return;
  if (first && last && *first + step == *last) {
    body(begin);
    return;
  }
  auto loop = scf::ForOp::create(b, loc, begin, end, constant(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

Value LoopBuilder::forWholeBlocks(Value begin, Value end, int64_t step, llvm::function_ref<void(Value)> body) {
  AffineExpr first = b.getAffineSymbolExpr(0), last = b.getAffineSymbolExpr(1);
  OpFoldResult stop = affine::makeComposedFoldedAffineApply(b, loc, first + (last - first).floorDiv(step) * step,
                                                            {getAsOpFoldResult(begin), getAsOpFoldResult(end)});
  Value next = getValueOrCreateConstantIndexOp(b, loc, stop);
  forLoop(begin, next, step, body);
  return next;
}

void LoopBuilder::forParallel(ArrayRef<unsigned> loops, llvm::function_ref<void()> body) {
  if (loops.empty())
    return body();
  forLoop(constant(0), extents[loops.front()], 1, [&](Value index) {
    position[loops.front()] = index;
    forParallel(loops.drop_front(), body);
  });
}

Value LoopBuilder::compute(AffineExpr expr, ArrayRef<Value> operands) {
  AffineMap map = AffineMap::get(0, operands.size(), expr);
  return getValueOrCreateConstantIndexOp(
      b, loc, affine::makeComposedFoldedAffineApply(b, loc, map, getAsOpFoldResult(operands)));
}

AffineExpr LoopBuilder::shiftRows(AffineExpr index, int64_t rows) {
  if (!rowLoop || rows == 0)
    return index;
  AffineExpr row = b.getAffineDimExpr(*rowLoop);
  return index.replace(row, row + rows);
}

SmallVector<Value> LoopBuilder::getIndices(const ElementRead &read, int64_t rows, int64_t columns) {
  assert(read.map.getNumSymbols() == read.symbols.size() && "a symbol of a read has a value");
  SmallVector<Value> indices;
  for (AffineExpr index : read.map.getResults()) {
    // The offsets are constants, which become displacements in the address.
    AffineExpr shifted = shiftRows(index, rows), column = b.getAffineDimExpr(columnLoop);
    if (columns)
      shifted = shifted.replace(column, column + columns);
    SmallVector<Value> operands;
    SmallVector<AffineExpr> dims(read.map.getNumDims(), b.getAffineConstantExpr(0));
    for (unsigned loop = 0; loop < read.map.getNumDims(); ++loop)
      if (index.isFunctionOfDim(loop)) {
        dims[loop] = b.getAffineDimExpr(operands.size());
        assert(position[loop] && "code is emitted inside of all loops that it reads along");
        operands.push_back(position[loop]);
      }
    unsigned numDims = operands.size();
    llvm::append_range(operands, read.symbols);
    AffineMap map = AffineMap::get(numDims, read.symbols.size(), shifted.replaceDims(dims));
    indices.push_back(affine::AffineApplyOp::create(b, loc, map, operands));
  }
  return indices;
}

std::optional<int64_t> tenon::getUpperBound(Value extent) {
  FailureOr<int64_t> bound =
      ValueBoundsConstraintSet::computeConstantBound(presburger::BoundType::UB, {extent},
                                                     /*stopCondition=*/nullptr, /*closedUB=*/true);
  return bound; // a FailureOr is an optional
}
