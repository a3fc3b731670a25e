//===- Prefetch.cpp - prefetching of the panels of the RHS ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/contract/Prefetch.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/cost/CacheLines.h"

using namespace mlir;
using namespace tenon;

/// Extends `number`, the number of a block of rows among `count`, to the number among the blocks of all iterations of
/// the outer loops. `places` are the operands of the expression.
void Prefetch::countOuterBlocks(AffineExpr &number, SmallVector<Value> &places, int64_t &count) {
  for (unsigned outer : llvm::reverse(nest.getOuterLoops()))
    if (std::optional<int64_t> extent = nest.getStaticExtent(outer); extent && *extent > 1) {
      number = number + b.getAffineDimExpr(places.size()) * count;
      places.push_back(nest.at(outer));
      count *= *extent;
    }
}

/// Prefetches the next block of columns while the current one is multiplied with all rows: at each step, each block of
/// rows prefetches its share of that step. Prefetches beyond the last panel have no effect.
void Prefetch::prefetchTermPanels(int64_t vectors) {
  constexpr int64_t kRowsOfBlock = 32; // format: of two AMX tiles
  if (!problem.schedule.getPrefetches())
    return;
  const FactorTerms &parts = *contraction.terms;
  std::optional<int64_t> rows = nest.getStaticExtent(*contraction.rowLoop);
  int64_t count = rows ? llvm::divideCeil(*rows, kRowsOfBlock) : problem.policy.dynamicBlocks,
          groups = parts.step / parts.getNeighbours();
  AffineExpr number = b.getAffineDimExpr(0).floorDiv(kRowsOfBlock);
  SmallVector<Value> places{nest.at(*contraction.rowLoop)};
  countOuterBlocks(number, places, count);
  int64_t lines = parts.rhs.size() * groups, share = llvm::divideCeil(lines, count);
  Value column = nest.at(contraction.columnLoop), step = nest.at(parts.loop);
  moveToNextTermPanels(vectors);
  for (int64_t v = 0; v < vectors; ++v) {
    SmallVector<Value> indices = nest.getIndices(parts.rhs.front(), 0, v * lanes);
    for (int64_t i = 0; i < share; ++i) {
      AffineExpr line = (number * share + i) % lines;
      auto compute = [&](AffineExpr index) -> Value {
        return affine::AffineApplyOp::create(b, loc, AffineMap::get(places.size(), 0, index), places);
      };
      assert(indices.size() >= 3 && "terms of a panel have a term, a group of rows and a column");
      indices.end()[-3] = compute(line.floorDiv(groups));
      indices.end()[-2] = compute(line % groups);
      memref::PrefetchOp::create(b, loc, operands.getRhs().memory, indices, /*isWrite=*/false, /*localityHint=*/2,
                                 /*isDataCache=*/true);
    }
  }
  nest.moveTo(contraction.columnLoop, column);
  nest.moveTo(parts.loop, step);
}

/// Computes the indices of the same step in the panels that follow. With K-blocks, the first panels of the next K-block
/// follow the last ones.
void Prefetch::moveToNextTermPanels(int64_t vectors) {
  Value column = nest.at(contraction.columnLoop);
  auto compute = [&](Value from, int64_t by) -> Value {
    return affine::AffineApplyOp::create(b, loc, AffineMap::get(1, 0, b.getAffineDimExpr(0) + by), from);
  };
  Value next = compute(column, vectors * lanes);
  if (kBlocking && !kBlocking.isLast()) {
    Value isLast =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, next, nest.getExtent(contraction.columnLoop));
    Value step = nest.at(contraction.terms->loop);
    nest.moveTo(contraction.terms->loop,
                arith::SelectOp::create(b, loc, isLast, compute(step, kBlocking.getSize()), step));
    next = arith::SelectOp::create(b, loc, isLast, nest.constant(0), next);
  }
  nest.moveTo(contraction.columnLoop, next);
}

/// Prefetches to L1 the steps of an RHS that is read once, by a single block of rows. Prefetching the next panel to L2
/// instead is slower if the RHS comes from the last-level cache, and a shorter distance does not hide the latency of
/// DRAM.
void Prefetch::prefetchLaterSteps(const SumBlock &block) {
  int64_t bits = getElementTypeOrSelf(operands.getRhs().memory).getIntOrFloatBitWidth(),
          ahead = problem.policy.streamBytesAhead * 8 / bits;
  for (int64_t column = 0; column < block.vectors * lanes;
       column += std::min(8 * kCacheLineBytes / bits, contraction.panel)) {
    SmallVector<Value> indices = nest.getIndices(operands.getRhs(), 0, column);
    // Beyond a panel's last step lies the next panel.
    indices.back() =
        affine::AffineApplyOp::create(b, loc, AffineMap::get(1, 0, b.getAffineDimExpr(0) + ahead), indices.back());
    memref::PrefetchOp::create(b, loc, operands.getRhs().memory, indices, /*isWrite=*/false, /*localityHint=*/3,
                               /*isDataCache=*/true);
  }
}

/// While a panel is multiplied with all rows, the next one is prefetched: each block of rows prefetches its share. With
/// K-blocks, the next one is that of the next panels, or the next K-block of the first panels. Few blocks prefetch
/// nothing unless the schedule says what follows the last panel (`prefetch`). Unrolled steps prefetch each line once,
/// since a prefetch takes an instruction slot. Prefetches beyond the last panel have no effect.
void Prefetch::prefetchPanels(unsigned loop, UnrolledStep step, const SumBlock &block) {
  int64_t panelBytes = contraction.panel * type.getIntOrFloatBitWidth() / 8;
  if (!problem.schedule.getPrefetches())
    return;
  if (panelBytes == 0 || panelBytes % kCacheLineBytes || contraction.dequantization || !contraction.rowLoop)
    return;
  int64_t following = problem.nextPanel ? 1 : problem.schedule.getPrefetch();
  std::optional<RowBlocks> known = rowLoops.getRowBlocks();
  RowBlocks blocksOfRows =
      known.value_or(RowBlocks{following ? 1 : problem.policy.dynamicBlocks, rowLoops.getBlock().rows, 0});
  bool isLarger = block.rows == blocksOfRows.rows + 1 && blocksOfRows.larger > 0;
  // Dynamic rows are computed in blocks of several heights (RowLoops).
  bool isSmaller = !known && 2 * block.rows > rowLoops.getBlock().rows;
  if (block.rows != blocksOfRows.rows && !isLarger && !isSmaller)
    return;
  std::optional<int64_t> steps = kBlocking ? kBlocking.getLength() : nest.getStaticExtent(loop);
  int64_t perStep = step.length;
  assert(perStep > 0 && step.number < step.count && "a step that is unrolled is one of some");
  if (steps)
    *steps /= perStep;
  int64_t lines = panelBytes / kCacheLineBytes;
  // The number of row blocks that a panel is used for, and the number of this block.
  int64_t count = blocksOfRows.count;
  AffineExpr number = (b.getAffineDimExpr(0) - (isLarger ? 0 : blocksOfRows.larger)).floorDiv(block.rows);
  SmallVector<Value> places{nest.at(*contraction.rowLoop)};
  countOuterBlocks(number, places, count);
  // A power of two, so that no step divides.
  int64_t blocks = llvm::bit_floor(uint64_t(std::max<int64_t>(count, 1)));
  if (!steps || *steps < blocks)
    return;
  if (count == 1 && known && !following)
    return prefetchLaterSteps(block);
  if (blocks < lines && !following)
    return;
  int64_t stepsOfLine = std::max<int64_t>(blocks / lines, 1), linesOfStep = std::max<int64_t>(lines / blocks, 1);
  if (step.number % std::min(stepsOfLine, step.count))
    return;
  // Block number r prefetches steps [r * steps / blocks, ...) of the panel, each of their lines at least once; the
  // remaining blocks prefetch some lines again.
  AffineExpr d0 = b.getAffineDimExpr(0);
  auto compute = [&](AffineExpr expr, ValueRange operands) -> Value {
    return affine::AffineApplyOp::create(b, loc, AffineMap::get(operands.size(), 0, expr), operands);
  };
  // The lines of a panel are contiguous, step by step.
  AffineExpr line = (d0.floorDiv(perStep) + step.number).floorDiv(stepsOfLine) * linesOfStep;
  int64_t share = llvm::divideCeil(*steps, blocks), perLine = perStep * contraction.panel / lines;
  auto prefetch = [&](Value memory, ValueRange indices) {
    memref::PrefetchOp::create(b, loc, memory, indices, /*isWrite=*/false, /*localityHint=*/2, /*isDataCache=*/true);
  };
  if (Value next = problem.nextPanel) {
    for (int64_t i = 0; i < linesOfStep; ++i)
      prefetch(next, {compute(number % blocks * share, places), compute((line + i) * perLine, step.first)});
    return;
  }
  AffineMap map = operands.getRhs().map;
  int64_t stepDim = -1, panelDim = -1;
  for (auto [dim, index] : llvm::enumerate(map.getResults())) {
    if (index.isFunctionOfDim(loop) && dim + 1 < map.getNumResults())
      stepDim = dim;
    if (index.getKind() == AffineExprKind::FloorDiv && index.isFunctionOfDim(contraction.columnLoop))
      panelDim = dim;
  }
  if (stepDim < 0)
    return;
  assert(panelDim >= 0 && "an RHS in panels has an index that numbers them");
  SmallVector<Value> indices = nest.getIndices(operands.getRhs(), 0, 0);
  indices[stepDim] = compute(number % blocks * share, places);
  // The block spans some adjacent panels, and the same number of panels follows them.
  int64_t numPanels = llvm::divideCeil(block.vectors * lanes, contraction.panel);
  Value column = nest.at(contraction.columnLoop);
  Value next = compute(d0.floorDiv(contraction.panel) + numPanels, column);
  if (kBlocking || following) {
    Value isLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, compute(d0 + block.vectors * lanes, column),
                                         nest.getExtent(contraction.columnLoop));
    bool hasNextPart = kBlocking && !kBlocking.isLast();
    Value begin = kBlocking ? kBlocking.getBegin() : nest.constant(0), first = nest.constant(following);
    if (hasNextPart)
      first = compute(d0 + kBlocking.getSize(), begin);
    Value part = arith::SelectOp::create(b, loc, isLast, first, begin);
    indices[stepDim] = arith::AddIOp::create(b, loc, indices[stepDim], part);
    if (hasNextPart || following)
      next = arith::SelectOp::create(b, loc, isLast, nest.constant(0), next);
  }
  for (int64_t panel = 0; panel < numPanels; ++panel)
    for (int64_t i = 0; i < linesOfStep; ++i) {
      indices[panelDim] = compute(d0 + panel, next);
      indices.back() = compute((line + i) * perLine, step.first);
      prefetch(operands.getRhs().memory, indices);
    }
}
