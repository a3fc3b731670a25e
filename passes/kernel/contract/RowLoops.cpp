//===- RowLoops.cpp - loops over rows in register blocks ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/contract/RowLoops.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tenon;

std::optional<RowBlocks> RowLoops::getRowBlocks() const {
  assert(contraction.rowLoop && block.rows > 0 && "the register block is set before the loops over its rows");
  std::optional<int64_t> rows = nest.getStaticExtent(*contraction.rowLoop);
  return rows ? std::optional(splitRows(*rows, block.rows)) : std::nullopt;
}

void RowLoops::forRows(llvm::function_ref<void(int64_t rows)> body) {
  if (!contraction.rowLoop)
    return body(1);
  nest.moveTo(*contraction.rowLoop, nest.constant(0));
  std::optional<RowBlocks> blocks = getRowBlocks();
  if (!blocks)
    return forDynamicRows(body);
  if (problem.window && problem.window->hasBounds && border.hasKnownWindows(*blocks))
    return border.forRowsOfKnownWindows(*blocks, body);
  forStaticRows(*blocks, body);
}

void RowLoops::forStaticRows(const RowBlocks &blocks, llvm::function_ref<void(int64_t rows)> body) {
  int64_t first = 0;
  for (auto [rows, count] :
       {std::pair(blocks.rows + 1, blocks.larger), std::pair(blocks.rows, blocks.count - blocks.larger)}) {
    int64_t last = first + rows * count;
    nest.forLoop(nest.constant(first), nest.constant(last), rows, [&](Value row) {
      nest.moveTo(*contraction.rowLoop, row);
      border.emitRows(rows, body);
    });
    first = last;
  }
}

/// Emits blocks for dynamic rows. The last block ends with the last row, and may sum some rows again, which costs less
/// than smaller blocks for the remainder, each of which would read the whole panel.
void RowLoops::forDynamicRows(llvm::function_ref<void(int64_t rows)> body) {
  Value extent = nest.getExtent(*contraction.rowLoop);
  // The heights are that of the block, half of it, and half of that.
  SmallVector<int64_t> all;
  for (int64_t rows = block.rows; rows > 0; rows /= 2)
    all.push_back(rows);
  ArrayRef<int64_t> smaller = ArrayRef(all).drop_front();
  if (block.rows == 1) {
    forHeights(nest.constant(0), all, body);
    return;
  }
  if (!mayRepeatRows) {
    forHeights(forBlocksOfSomeHeights(body), smaller, body);
    return;
  }
  if (minRows >= block.rows) {
    forBlocksOfSomeHeights(body);
    return;
  }
  Value fits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, extent, nest.constant(block.rows));
  auto branch = scf::IfOp::create(b, loc, fits, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  forBlocksOfSomeHeights(body);
  b.setInsertionPointToStart(branch.elseBlock());
  // Fewer rows than `minRows` are handled by other code, so blocks of `minRows` always fit, and may repeat rows.
  if (minRows > 1)
    smaller = smaller.take_while([&](int64_t rows) { return rows > 2 * minRows; });
  Value next = forHeights(nest.constant(0), smaller, body);
  if (minRows > 1)
    forBlocks(next, extent, minRows, body);
}

/// Emits blocks of `rows` rows for the dynamic rows from `begin` to `end`. If rows may be repeated, the last block ends
/// with the last row of all.
void RowLoops::forBlocks(Value begin, Value end, int64_t rows, llvm::function_ref<void(int64_t rows)> body) {
  nest.forLoop(begin, end, rows, [&](Value row) {
    nest.moveTo(*contraction.rowLoop, row);
    if (mayRepeatRows) {
      nest.setBlockRow(row);
      AffineMap clamped =
          AffineMap::get(0, 2, {b.getAffineSymbolExpr(0), b.getAffineSymbolExpr(1) - rows}, b.getContext());
      nest.moveTo(*contraction.rowLoop,
                  affine::AffineMinOp::create(b, loc, clamped, ValueRange{row, nest.getExtent(*contraction.rowLoop)}));
    }
    border.emitRows(rows, body);
  });
  nest.setBlockRow({});
}

/// Returns the number of heights that blocks of dynamic rows have besides the best one, each `step` rows less than the
/// one before: one or, if there may be few blocks, all that are more than half of the best. Then few rows waste at most
/// one row with blocks of 6 (7 rows are 4 and 4).
int64_t RowLoops::countSmallerHeights(int64_t step) {
  // With a window, rows read too different taps to have code for more heights; with many rows, more heights gain
  // nothing.
  if (problem.window)
    return 0;
  // Many rows that must not be repeated are split into blocks of two heights if these add up to any number. Otherwise
  // some small blocks would remain, each of which reads the whole panel.
  bool addsUp = step == 1 && !mayRepeatRows;
  if (problem.schedule.getManyRows())
    return addsUp ? 1 : 0;
  return problem.schedule.getRowVersions() > 1 ? std::max<int64_t>((block.rows - block.rows / 2 - 1) / step, 1) : 1;
}

/// Splits dynamic rows into as few blocks as possible, of the best height and of slightly smaller ones. If these do not
/// end with the last row, the last blocks begin earlier; if rows must not be repeated, all blocks have the best height,
/// and the function returns the row where the remainder begins.
Value RowLoops::forBlocksOfSomeHeights(llvm::function_ref<void(int64_t rows)> body) {
  Value extent = nest.getExtent(*contraction.rowLoop);
  int64_t rows = block.rows, step = llvm::divideCeil(rows, problem.policy.heightParts),
          numSmaller = countSmallerHeights(step);
  AffineExpr d0 = b.getAffineSymbolExpr(0), d1 = b.getAffineSymbolExpr(1);
  Value count = nest.compute(d0.ceilDiv(rows), {extent}), zero = nest.constant(0);
  // The number of height steps that all blocks together have to lose; it is spread evenly over the blocks.
  Value steps = zero;
  if (numSmaller)
    steps = arith::MinSIOp::create(b, loc, nest.compute(d0 * numSmaller, {count}),
                                   nest.compute((d1 * rows - d0).floorDiv(step), {extent, count}));
  Value end = nest.compute(d0 * rows - d1 * step, {count, steps});
  if (!mayRepeatRows) {
    Value isExact = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, end, extent);
    count = arith::SelectOp::create(b, loc, isExact, count, nest.compute(d0.floorDiv(rows), {extent}));
    steps = arith::SelectOp::create(b, loc, isExact, steps, zero);
    end = nest.compute(d0 * rows - d1 * step, {count, steps});
  }
  // The blocks that lose more steps come after those that lose fewer.
  Value begin = zero, left = count;
  for (int64_t less = 0; less <= numSmaller; ++less) {
    Value smaller = zero;
    if (less < numSmaller)
      smaller = arith::MaxSIOp::create(
          b, loc, zero, arith::MinSIOp::create(b, loc, count, nest.compute(d0 - d1 * less, {steps, count})));
    assert(less * step < rows && "the smallest block has a row");
    int64_t height = rows - less * step;
    Value next =
        less == numSmaller ? end : nest.compute(d0 + (d1 - b.getAffineSymbolExpr(2)) * height, {begin, left, smaller});
    forBlocks(begin, next, height, body);
    begin = next;
    left = smaller;
  }
  return end;
}

/// Emits full blocks of each of `heights` for dynamic rows from `begin` on. Returns the row after the last block.
Value RowLoops::forHeights(Value begin, ArrayRef<int64_t> heights, llvm::function_ref<void(int64_t rows)> body) {
  for (int64_t rows : heights)
    begin = nest.forWholeBlocks(begin, nest.getExtent(*contraction.rowLoop), rows, [&](Value row) {
      nest.moveTo(*contraction.rowLoop, row);
      border.emitRows(rows, body);
    });
  return begin;
}
