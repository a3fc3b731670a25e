//===- Int8Kernel.cpp - dot products of int8 in vector registers ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/contract/Int8Kernel.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/kernel/K4Groups.h"
#include "passes/kernel/contract/Reduction.h"

using namespace mlir;
using namespace tenon;

/// Whole groups, then the remainder.
SmallVector<Value> Int8Kernel::emitLoops(Reduction &reduction, ArrayRef<unsigned> loops, const SumBlock &block,
                                         ArrayRef<int64_t> rows, ValueRange sums) {
  int64_t depth = *nest.getStaticExtent(loops.front()), whole = depth / 4;
  assert(firstGroup >= 0 && firstGroup <= whole && "groups that are summed elsewhere are some of all");
  SmallVector<Value> results(sums);
  if (whole > firstGroup) {
    bool unrolls = unrollsBorder() || !problem.window || parts.border.getMode() == BorderMode::interior;
    int64_t steps = (whole - firstGroup) % 2 == 0 && unrolls ? 2 : 1;
    auto loop = scf::ForOp::create(b, loc, nest.constant(firstGroup), nest.constant(whole), nest.constant(steps), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    results.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
    Value first =
        affine::AffineApplyOp::create(b, loc, AffineMap::get(1, 0, b.getAffineDimExpr(0) * 4), loop.getInductionVar());
    for (int64_t step = 0; step < steps; ++step) {
      AffineMap place = AffineMap::get(1, 0, (b.getAffineDimExpr(0) + step) * 4);
      nest.moveTo(loops.front(), affine::AffineApplyOp::create(b, loc, place, loop.getInductionVar()));
      if (loops.size() == 1)
        parts.prefetch.prefetchPanels(loops.front(), {first, step, steps, /*length=*/4}, block);
      results = reduction.emit(loops.drop_front(), block, rows, results);
    }
    scf::YieldOp::create(b, loc, results);
    results.assign(loop.getResults().begin(), loop.getResults().end());
  }
  if (depth % 4 == 0)
    return results;
  nest.moveTo(loops.front(), nest.constant(4 * whole));
  groupBytes = depth % 4;
  results = reduction.emit(loops.drop_front(), block, rows, results);
  groupBytes = 4;
  return results;
}

/// Loads a group of a row of the LHS, padded with zeros beyond the summed dimension.
Value Int8Kernel::loadLhsGroup(int64_t row) {
  Value bytes = parts.operands.loadNeighbours(row, VectorType::get({groupBytes}, b.getI8Type()));
  auto groupType = VectorType::get({4}, b.getI8Type());
  if (groupBytes < 4) {
    Value zeros = arith::ConstantOp::create(b, loc, b.getZeroAttr(groupType));
    bytes = vector::InsertStridedSliceOp::create(b, loc, bytes, zeros, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{1});
  }
  Value group = vector::BitCastOp::create(b, loc, VectorType::get({1}, type), bytes);
  return vector::ExtractOp::create(b, loc, group, ArrayRef<int64_t>{0});
}

Value Int8Kernel::loadRhsGroups(int64_t vector) {
  const ElementRead &rhs = parts.operands.getRhs();
  return vector::LoadOp::create(b, loc, VectorType::get({4 * lanes}, b.getI8Type()), rhs.memory,
                                nest.getIndices(rhs, 0, vector * lanes));
}

SmallVector<Value> Int8Kernel::splitLhs(Value group) { return {broadcastK4Group(b, loc, group, lanes)}; }

SmallVector<Value> Int8Kernel::emitStep(const SumBlock &block, ArrayRef<int64_t> rows, ValueRange sums) {
  SmallVector<SmallVector<Value>> columns;
  for (int64_t v = 0; v < block.vectors; ++v)
    columns.push_back(splitRhs(loadRhsGroups(v)));
  SmallVector<Value> results(sums);
  for (int64_t row : rows) {
    SmallVector<Value> element = splitLhs(loadLhsGroup(row));
    for (int64_t v = 0; v < block.vectors; ++v) {
      assert(element.size() == columns[v].size() && "both operands of a group are split alike");
      for (auto [factor, column] : llvm::zip(element, columns[v])) {
        Value &sum = results[row * block.vectors + v];
        sum = addProducts(sum, factor, column);
      }
    }
  }
  return results;
}
