//===- IntegerGroupKernel.cpp - integers of groups that have scales -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/contract/IntegerGroupKernel.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/cost/CacheLines.h"
#include "passes/kernel/Epilogue.h"

using namespace mlir;
using namespace tenon;

/// Half of the sums are of floats, half of the integers of a group.
void IntegerGroupKernel::limitBlock(BlockProblem &block) const {
  block.registers = (block.registers - countOtherRegisters()) / 2;
}

/// With a single row there are few sums, so a block spans whole panels, which are read in memory order.
RegisterBlock IntegerGroupKernel::adjustBlock(RegisterBlock chosen) const {
  if (contraction.rowLoop && !isConstantIntValue(nest.getExtent(*contraction.rowLoop), 1))
    return chosen;
  return {1, contraction.panel / lanes};
}

Value IntegerGroupKernel::splatInteger(int64_t number) {
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(integers, static_cast<int32_t>(number)));
}

Value IntegerGroupKernel::loadWords(int64_t vector) {
  return emitVectorRead(b, loc, contraction.rhs, contraction.columnLoop,
                        nest.getIndices(contraction.rhs, 0, vector * lanes), lanes, Value());
}

Value IntegerGroupKernel::loadRow(int64_t row, Value step, int64_t offset) {
  nest.moveTo(groups.loop,
              affine::makeComposedAffineApply(b, loc, AffineMap::get(1, 0, b.getAffineDimExpr(0) + offset), {step}));
  Type element = getElementTypeOrSelf(contraction.lhs.memory);
  auto neighbours = VectorType::get({32 / element.getIntOrFloatBitWidth()}, element);
  Value word = vector::BitCastOp::create(b, loc, VectorType::get({1}, b.getI32Type()),
                                         parts.operands.loadNeighbours(row, neighbours));
  return vector::BroadcastOp::create(b, loc, integers, vector::ExtractOp::create(b, loc, word, ArrayRef<int64_t>{0}));
}

/// The end of a panel is followed by the next one; addresses beyond the last panel are harmless.
void IntegerGroupKernel::prefetchWord(Value step, int64_t vectors) {
  int64_t rowBytes = contraction.panel * static_cast<int64_t>(sizeof(int32_t));
  int64_t ahead = llvm::divideCeil(problem.policy.quantizedBytesAhead, rowBytes) * groups.perWord;
  nest.moveTo(groups.loop,
              affine::makeComposedAffineApply(b, loc, AffineMap::get(1, 0, b.getAffineDimExpr(0) + ahead), {step}));
  for (int64_t vector = 0; vector < vectors; ++vector)
    if (vector * lanes * static_cast<int64_t>(sizeof(int32_t)) % kCacheLineBytes == 0)
      memref::PrefetchOp::create(b, loc, contraction.rhs.memory, nest.getIndices(contraction.rhs, 0, vector * lanes),
                                 /*isWrite=*/false,
                                 /*localityHint=*/3, /*isDataCache=*/true);
}

/// A fence keeps the code generator from gathering the prefetches of all i32 in one place.
void IntegerGroupKernel::addWordAt(Value step, int64_t vectors, ArrayRef<int64_t> rows, GroupSums &sums) {
  LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::seq_cst, "singlethread");
  prefetchWord(step, vectors);
  nest.moveTo(groups.loop, step);
  addWord(step, vectors, rows, sums);
}

/// Returns the integer sums of the group that begins at `first`.
IntegerGroupKernel::GroupSums IntegerGroupKernel::sumGroup(Value first, int64_t vectors, ArrayRef<int64_t> rows) {
  GroupSums sums(static_cast<int64_t>(rows.size()) * vectors + countOtherSums(vectors), splatInteger(0));
  int64_t words = groups.block / groups.perWord, unrolled = std::min(words, getUnrolledWords());
  while (words % unrolled != 0)
    --unrolled;
  auto addWords = [&](AffineMap place, ValueRange operands) {
    for (int64_t word = 0; word < unrolled; ++word) {
      AffineMap at = AffineMap::get(place.getNumDims(), 0, place.getResult(0) + word * groups.perWord);
      addWordAt(affine::makeComposedAffineApply(b, loc, at, SmallVector<OpFoldResult>(operands)), vectors, rows, sums);
    }
  };
  if (words == unrolled) {
    addWords(AffineMap::get(1, 0, b.getAffineDimExpr(0)), first);
    return sums;
  }
  auto loop =
      scf::ForOp::create(b, loc, nest.constant(0), nest.constant(words), nest.constant(unrolled), ValueRange(sums));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  sums.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
  addWords(AffineMap::get(2, 0, b.getAffineDimExpr(0) + b.getAffineDimExpr(1) * groups.perWord),
           {first, loop.getInductionVar()});
  scf::YieldOp::create(b, loc, sums);
  return GroupSums(loop.getResults());
}

SmallVector<Value> IntegerGroupKernel::emitLoops(Reduction &, ArrayRef<unsigned>, const SumBlock &block,
                                                 ArrayRef<int64_t> rows, ValueRange sums) {
  const KBlocking &kBlocking = parts.kBlocking;
  int64_t depth = kBlocking ? kBlocking.getLength() : *nest.getStaticExtent(groups.loop), vectors = block.vectors;
  assert(depth % groups.block == 0 && groups.block % groups.perWord == 0 && "groups are whole, and have whole i32");
  auto loop = scf::ForOp::create(b, loc, nest.constant(0), nest.constant(depth / groups.block), nest.constant(1), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  AffineMap place = AffineMap::get(2, 0, b.getAffineDimExpr(0) * groups.block + b.getAffineDimExpr(1));
  Value begin = kBlocking ? kBlocking.getBegin() : nest.constant(0);
  Value first = affine::makeComposedAffineApply(b, loc, place, {loop.getInductionVar(), begin});
  auto moveToGroup = [&] {
    nest.moveTo(groups.loop, first);
    values.clear();
  };
  moveToGroup();
  beginGroup(first, vectors);
  GroupSums integerSums = sumGroup(first, vectors, rows);
  moveToGroup();
  SmallVector<Value> scales, results(loop.getRegionIterArgs());
  for (int64_t v = 0; v < vectors; ++v)
    scales.push_back(values.emitVector(groups.rhsScale, v));
  auto floats = VectorType::get({lanes}, type);
  for (auto [i, row] : llvm::enumerate(rows)) {
    Value scale =
        memref::LoadOp::create(b, loc, groups.lhsScale.memory, nest.getIndices(groups.lhsScale, row, /*columns=*/0));
    scale = vector::BroadcastOp::create(b, loc, floats, scale);
    for (int64_t v = 0; v < vectors; ++v) {
      Value sum = arith::SIToFPOp::create(
          b, loc, floats, getSum(integerSums, static_cast<int64_t>(i), static_cast<int64_t>(rows.size()), v, vectors));
      Value product = arith::MulFOp::create(b, loc, sum, scales[v]);
      Value &result = results[row * vectors + v];
      result = vector::FMAOp::create(b, loc, product, scale, result);
    }
  }
  scf::YieldOp::create(b, loc, results);
  return loop.getResults();
}
