//===- BlockLoops.cpp - loops around the register blocks of a tile --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/contract/BlockLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/cost/CacheLines.h"
#include "passes/kernel/contract/PackRows.h"
#include "passes/kernel/contract/PackTile.h"
#include <numeric>

using namespace mlir;
using namespace tenon;

BlockProblem BlockLoops::getBlockProblem() {
  std::optional<int64_t> rows = contraction.rowLoop ? nest.getStaticExtent(*contraction.rowLoop) : 1;
  Value extent = parts.columnLoops.getExtent();
  std::optional<int64_t> columns = getConstantIntValue(extent);
  // A block that is wider than a tile would leave all columns of the tile to narrower blocks.
  if (!columns)
    columns = getUpperBound(extent);
  // For an unbounded extent, the remainder is negligible.
  BlockProblem blocks{rows.value_or(1 << 20), columns.value_or(lanes << 20), lanes, problem.registers};
  blocks.isColumnwise = contraction.isColumnwise;
  // Rows whose lines map to the same L1 set evict each other if there are more rows than ways; the lines of the RHS
  // take some ways, too.
  if (contraction.rowLoop && !contraction.isColumnwise && problem.schedule.getPacking() != kernel::Packing::rows)
    if (std::optional<int64_t> distance = getRowDistance(parts.operands.getLhs(), *contraction.rowLoop))
      blocks.maxRows = std::max<int64_t>(problem.l1Ways - problem.policy.otherWays, 1) *
                       (kL1SetBytes / std::gcd(*distance, kL1SetBytes));
  if (problem.schedule.getPacking() == kernel::Packing::rows)
    blocks.maxRows = kMaxPackedBlockRows;
  if (contraction.panel) {
    blocks.vectorCycles =
        problem.policy.lineCycles * lanes * type.getIntOrFloatBitWidth() / (8 * double(kCacheLineBytes));
    // If a step has few products, computing an address in a second panel takes noticeable time.
    if (problem.hasFewRegisters())
      blocks.panelVectors = contraction.panel / lanes;
  }
  if (parts.border.unrollsTaps())
    std::tie(blocks.taps, blocks.stride, blocks.dilation) =
        std::tie(problem.window->taps, problem.window->stride, problem.window->dilation);
  kernel.limitBlock(blocks);
  return blocks;
}

/// Returns the block of the schedule if it can be used, otherwise that of the cost model.
RegisterBlock BlockLoops::chooseBlock() {
  BlockProblem blocks = getBlockProblem();
  ArrayRef<int64_t> wanted = problem.schedule.getBlock();
  if (!wanted.empty() && allowsBlock(blocks, {wanted[0], wanted[1]}))
    return {wanted[0], wanted[1]};
  return tenon::chooseBlock(blocks);
}

void BlockLoops::emit() {
  if (!contraction.rowLoop || nest.getStaticExtent(*contraction.rowLoop))
    return emitBlocks();
  if (problem.schedule.getLastRows() != 0)
    return emitWholeAndLastTile();
  if (problem.schedule.getRowVersions() != 0 && kernel.versionsFewRows() && contraction.panel &&
      !contraction.isGrouped && !problem.window)
    return emitFewRows();
  emitBlocks();
}

/// Emits separate code for full tiles and for the last tile, which has fewer rows, so that blocks of static rows all
/// have the best size.
void BlockLoops::emitWholeAndLastTile() {
  unsigned rowLoop = *contraction.rowLoop;
  int64_t rows[] = {problem.schedule.getTile()[rowLoop], problem.schedule.getLastRows()};
  assert(rows[1] < rows[0] && "the last tile is the shorter one, for which memory of a whole one is enough");
  Value all = nest.getExtent(rowLoop);
  Value isWhole = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, all, nest.constant(rows[0]));
  auto branch = scf::IfOp::create(b, loc, isWhole, /*withElseRegion=*/true);
  parts.kBlocking.setVersions(branch);
  OpBuilder::InsertionGuard guard(b);
  for (int64_t i : {0, 1}) {
    b.setInsertionPointToStart(i == 0 ? branch.thenBlock() : branch.elseBlock());
    nest.setExtent(rowLoop, nest.constant(rows[i]));
    emitBlocks();
  }
  nest.setExtent(rowLoop, all);
}

/// Emits a version for each small dynamic number of rows that does not fill a block (`row_versions`). It reads the RHS
/// once, with as many columns at a time as the registers allow.
void BlockLoops::emitFewRows() {
  unsigned rowLoop = *contraction.rowLoop;
  Value all = nest.getExtent(rowLoop);
  int64_t blockRows = chooseBlock().rows;
  int64_t maxRows = std::min(problem.schedule.getRowVersions(), blockRows - 1);
  if (maxRows == 0)
    return emitBlocks();
  SmallVector<int64_t> numbers = llvm::to_vector(llvm::seq_inclusive<int64_t>(1, maxRows));
  auto branch = scf::IndexSwitchOp::create(b, loc, TypeRange(), all, numbers, numbers.size());
  parts.kBlocking.setVersions(branch);
  OpBuilder::InsertionGuard guard(b);
  auto emitVersion = [&](Region &region, int64_t number) {
    b.createBlock(&region);
    nest.setExtent(rowLoop, number == 0 ? all : nest.constant(number));
    emitBlocks();
    scf::YieldOp::create(b, loc);
  };
  // The largest number of rows comes first, because its memory is large enough for the others.
  parts.rowLoops.setMinRows(maxRows + 1);
  emitVersion(branch.getDefaultRegion(), 0);
  parts.rowLoops.setMinRows(1);
  for (auto [number, region] : llvm::zip_equal(numbers, branch.getCaseRegions()))
    emitVersion(region, number);
  nest.setExtent(rowLoop, all);
}

void BlockLoops::emitBlocks() {
  chosen = kernel.adjustBlock(chooseBlock());
  assert(chosen.rows > 0 && chosen.vectors > 0 && "a register block has a sum");
  parts.rowLoops.setBlock(chosen);
  parts.operands.setPackedRows(kernel.allowsPackedRows() ? packRows(nest, problem, parts.rowLoops) : Value());
  kernel.beginBlocks(chosen);
  KBlocking &kBlocking = parts.kBlocking;
  if (parts.operands.hasPackedRows() || !kernel.allowsKBlocks())
    kBlocking.clear();
  else
    kBlocking.chooseForVectors(chosen.rows, !contraction.rowLoop || parts.rowLoops.getRowBlocks());
  if (kBlocking)
    kBlocking.forBlocks([&] { emitLoops(); });
  else
    emitLoops();
  kernel.endBlocks();
}

void BlockLoops::emitLoops() {
  if (contraction.panel && contraction.isGrouped)
    return parts.columnLoops.forGroups([&](Value) { emitPanels(); });
  if (contraction.panel)
    return emitPanels();
  if (parts.columnLoops.packsColumns())
    return emitPackedColumns();
  nest.forParallel(nest.getOuterLoops(), [&] {
    if (!readsColumnsInOrder())
      return emitColumnsOfRows();
    parts.rowLoops.forRows([&](int64_t rows) {
      parts.columnLoops.forVectors(chosen, [&](int64_t vectors, Value mask) { emitBlock({rows, vectors, mask}); });
    });
  });
}

/// True if the RHS is the same for all iterations of the outer loops; that of a batch is not.
bool BlockLoops::isRhsCommon() {
  return llvm::none_of(nest.getOuterLoops(), [&](unsigned loop) { return contraction.rhs.map.isFunctionOfDim(loop); });
}

/// Emits loops that multiply a panel with all rows before the next panel.
void BlockLoops::emitPanels() {
  parts.columnLoops.forVectors(chosen, [&](int64_t vectors, Value mask) {
    if (isRhsCommon())
      kernel.packColumns(vectors);
    nest.forParallel(nest.getOuterLoops(), [&] {
      if (!isRhsCommon())
        kernel.packColumns(vectors);
      parts.rowLoops.forRows([&](int64_t rows) { emitBlock({rows, vectors, mask}); });
    });
  });
}

void BlockLoops::emitPackedColumns() {
  parts.columnLoops.forGroups([&](Value firstColumn) {
    ElementRead filter = tenon::packColumns(nest, problem, contraction.rhs, ScratchUse::packedFilter, firstColumn);
    ElementRead image = tenon::packColumns(nest, problem, contraction.lhs, ScratchUse::packedTile, firstColumn);
    parts.operands.setRhs(filter);
    parts.operands.setLhs(image, /*group=*/1);
    nest.forParallel(nest.getOuterLoops(), [&] { emitColumnsOfRows(); });
    parts.operands.reset();
  });
}

void BlockLoops::emitColumnsOfRows() {
  parts.columnLoops.forVectors(chosen, [&](int64_t vectors, Value mask) {
    parts.rowLoops.forRows([&](int64_t rows) { emitBlock({rows, vectors, mask}); });
  });
}

/// True if all columns of some rows are summed before other rows. A depthwise convolution then reads one sequential
/// stream for each pixel in the windows of these rows. L1 and its prefetcher track a limited number of streams; beyond
/// it, it is faster to read each pixel for all rows that use it.
bool BlockLoops::readsColumnsInOrder() {
  int64_t maxTaps = problem.policy.maxOrderedTaps;
  if (!contraction.isColumnwise || !problem.window)
    return false;
  int64_t taps = 1;
  for (unsigned loop : nest.getSummedLoops())
    taps *= nest.getStaticExtent(loop).value_or(maxTaps + 1);
  return taps <= maxTaps;
}

void BlockLoops::emitBlock(const SumBlock &block) {
  KBlocking &kBlocking = parts.kBlocking;
  assert((!kBlocking || problem.isFromZero) && "K-blocks add to sums of their own, which begin with zero");
  ElementRead out = getRead(*op.getDpsInitOperand(0));
  SmallVector<Value> sums;
  auto vectorType = VectorType::get({lanes}, type);
  if (problem.isFromZero)
    sums.assign(block.rows * block.vectors, arith::ConstantOp::create(b, loc, b.getZeroAttr(vectorType)));
  for (int64_t row = 0; row < block.rows; ++row)
    for (int64_t v = 0; v < block.vectors; ++v)
      if (kBlocking)
        sums[row * block.vectors + v] = kBlocking.loadSum(nest.getBlockRow(), row, v);
      else if (!problem.isFromZero)
        sums.push_back(parts.operands.loadVector(out, row, v, block));
  bool isDone = !kBlocking || kBlocking.isLast();
  if (isDone)
    parts.results.prefetch(block);
  sums = reduction.emitAll(block, sums);
  if (isDone)
    parts.results.store(sums, block, parts.columnLoops.isLastColumnAlone());
  else
    kBlocking.storeSums(nest.getBlockRow(), sums, block.vectors);
}
