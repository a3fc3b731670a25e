//===- Border.cpp - register blocks at the border of a convolution --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/contract/Border.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <set>

using namespace mlir;
using namespace tenon;

bool Border::readsZeros(unsigned loop, ArrayRef<int64_t> rows) const {
  return isWindow(loop) && rows.size() > 1 && mode == BorderMode::dynamicBorder;
}

bool Border::unrollsTaps() {
  const std::optional<WindowLoop> &window = problem.window;
  if (!contraction.isColumnwise || !window || 2 * window->taps > problem.registers)
    return false;
  // Nothing is summed inside of the window.
  auto isInner = [&](unsigned loop) {
    return op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction && loop > window->loop;
  };
  return llvm::none_of(llvm::seq(op.getNumLoops()),
                       [&](unsigned loop) { return isInner(loop) && nest.getStaticExtent(loop) != 1; });
}

void Border::emitRows(int64_t rows, llvm::function_ref<void(int64_t rows)> body) {
  assert(rows > 0 && "a register block has a row");
  mode = problem.window && problem.window->hasBounds ? BorderMode::dynamicBorder : BorderMode::interior;
  if (mode == BorderMode::interior || rows == 1)
    return body(rows);
  auto branch = scf::IfOp::create(b, loc, isInterior(rows), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  mode = BorderMode::interior;
  body(rows);
  b.setInsertionPointToStart(branch.elseBlock());
  mode = BorderMode::dynamicBorder;
  if (unrollsTaps() || getPixelDim())
    return body(rows);
  Value begin = nest.at(*contraction.rowLoop);
  Value end = arith::AddIOp::create(b, loc, begin, nest.constant(rows));
  nest.forLoop(begin, end, 1, [&](Value row) {
    nest.moveTo(*contraction.rowLoop, row);
    body(1);
  });
}

void Border::forRowsOfKnownWindows(const RowBlocks &blocks, llvm::function_ref<void(int64_t rows)> body) {
  assert(contraction.rowLoop && problem.window && "windows move with the rows");
  auto getRows = [&](int64_t number) { return blocks.rows + (number < blocks.larger); };
  int64_t first = 0;
  for (int64_t number = 0; number < blocks.count;) {
    // A group is several neighbouring blocks of one size in the interior, or one block at the border.
    int64_t rows = getRows(number), last = first;
    for (; number < blocks.count && getRows(number) == rows && isKnownInterior(last, rows); ++number)
      last += rows;
    mode = BorderMode::interior;
    nest.forLoop(nest.constant(first), nest.constant(last), rows, [&](Value index) {
      nest.moveTo(*contraction.rowLoop, index);
      body(rows);
    });
    if (first == last) {
      mode = BorderMode::staticBorder;
      nest.moveTo(*contraction.rowLoop, nest.constant(first));
      body(rows);
      last += rows;
      ++number;
    }
    first = last;
  }
}

bool Border::hasKnownWindows(const RowBlocks &blocks) {
  std::optional<int64_t> extent = nest.getStaticExtent(*contraction.rowLoop);
  nest.moveTo(*contraction.rowLoop, nest.constant(0));
  mode = BorderMode::dynamicBorder;
  LoopRange range = getRange(problem.window->loop, 0);
  if (!extent || !getConstantIntValue(range.begin) || !getConstantIntValue(range.end))
    return false;
  int64_t numBorderBlocks = 0, row = 0;
  for (int64_t number = 0; number < blocks.count; ++number) {
    int64_t rows = blocks.rows + (number < blocks.larger);
    numBorderBlocks += !isKnownInterior(row, rows);
    row += rows;
  }
  return numBorderBlocks <= problem.policy.maxBorderBlocks;
}

std::pair<int64_t, int64_t> Border::getKnownRange(int64_t row) {
  LoopRange range = getRange(problem.window->loop, row);
  assert(getConstantIntValue(range.begin) && getConstantIntValue(range.end) &&
         "hasKnownWindows has seen that the taps in bounds are constants");
  return {*getConstantIntValue(range.begin), *getConstantIntValue(range.end)};
}

bool Border::isKnownInterior(int64_t first, int64_t rows) {
  nest.moveTo(*contraction.rowLoop, nest.constant(first));
  mode = BorderMode::dynamicBorder;
  return getKnownRange(0).first == 0 && getKnownRange(rows - 1).second == problem.window->taps;
}

Value Border::isInterior(int64_t rows) {
  mode = BorderMode::dynamicBorder;
  LoopRange first = getRange(problem.window->loop, 0), last = getRange(problem.window->loop, rows - 1);
  Value begin = getValueOrCreateConstantIndexOp(b, loc, first.begin),
        end = getValueOrCreateConstantIndexOp(b, loc, last.end);
  Value atStart = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, begin, nest.constant(0));
  Value atEnd = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, end, nest.constant(problem.window->taps));
  return arith::AndIOp::create(b, loc, atStart, atEnd);
}

Value Border::isTapInBounds(int64_t row) {
  ElementRead shifted = operands.getLhs();
  for (ReadBound &bound : shifted.bounds)
    bound.rest = nest.shiftRows(bound.rest, row);
  return emitBounds(b, loc, shifted, problem.window->loop, nest.getPosition());
}

SmallVector<Value> Border::emitWindow(ArrayRef<int64_t> rows, ValueRange sums, EmitLoop emitLoop) {
  unsigned window = problem.window->loop;
  assert(mode != BorderMode::interior && "rows in the interior read all taps");
  assert(llvm::is_sorted(rows) && "the first and the last row bound the taps that some row reads");
  if (mode == BorderMode::dynamicBorder) {
    // The loop covers all taps that any of the rows reads; rows that do not read a tap multiply zeros.
    LoopRange first = getRange(window, rows.front()), last = getRange(window, rows.back());
    SmallVector<Value> results = emitLoop({last.begin, first.end}, rows, sums);
    operands.setPixels({});
    return results;
  }
  // Each range of taps that the same rows read has its own loop.
  std::set<int64_t> ends;
  for (int64_t row : rows) {
    auto [begin, end] = getKnownRange(row);
    ends.insert({begin, end});
  }
  SmallVector<Value> results(sums);
  for (auto [begin, end] : llvm::zip(ends, llvm::drop_begin(ends))) {
    SmallVector<int64_t> reading = llvm::filter_to_vector(rows, [&](int64_t row) {
      auto [first, last] = getKnownRange(row);
      return first <= begin && end <= last;
    });
    if (!reading.empty())
      results = emitLoop({b.getIndexAttr(begin), b.getIndexAttr(end)}, reading, results);
  }
  return results;
}

/// Returns the pixel dimension of the input if it is the last dimension and the only one that is summed within the
/// window: then a buffer of zeros can replace a pixel.
std::optional<int64_t> Border::getPixelDim() {
  unsigned loop = problem.window->loop + 1;
  auto type = cast<MemRefType>(operands.getLhs().memory.getType());
  assert((loop >= op.getNumLoops() || op.getIteratorTypesArray()[loop] == utils::IteratorType::parallel ||
          loop + 1 < op.getNumLoops()) &&
         "the last loop is the one over columns");
  bool isLast = loop < op.getNumLoops() && op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction &&
                op.getIteratorTypesArray()[loop + 1] == utils::IteratorType::parallel;
  auto moves = [&](AffineExpr index) { return index.isFunctionOfDim(loop); };
  ArrayRef<AffineExpr> indices = operands.getLhs().map.getResults();
  if (contraction.isColumnwise || !isLast || !nest.getStaticExtent(loop) || !type.isLastDimUnitStride() ||
      llvm::count_if(indices, moves) != 1 || getStep(indices.back(), loop) != 1)
    return std::nullopt;
  return indices.size() - 1;
}

Value Border::getZeros(MemRefType pixel) {
  if (zeros && zeros.getType() == pixel)
    return zeros;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&op->getParentOfType<func::FuncOp>().front());
  Type element = pixel.getElementType();
  auto memory = memref::AllocOp::create(b, loc, MemRefType::get(pixel.getShape(), element));
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  linalg::FillOp::create(b, loc, zero, memory.getResult());
  return zeros = memref::CastOp::create(b, loc, pixel, memory);
}

void Border::loadPixels(ArrayRef<int64_t> rows, int64_t blockRows) {
  const ElementRead &read = operands.getLhs();
  unsigned channelLoop = problem.window->loop + 1;
  assert(getPixelDim() && "zeros stand for pixels that are contiguous along the loop after the window");
  nest.moveTo(channelLoop, nest.constant(0));
  SmallVector<Value> pixels(blockRows);
  // Operands that are packed in groups are padded with zeros beyond the last channel.
  int64_t channels = llvm::alignTo(*nest.getStaticExtent(channelLoop), operands.getLhsGroup());
  for (int64_t row : rows) {
    SmallVector<Value> indices = nest.getIndices(read, row, 0);
    SmallVector<OpFoldResult> offsets = getAsOpFoldResult(indices), sizes(indices.size(), b.getIndexAttr(1)),
                              strides(indices.size(), b.getIndexAttr(1));
    sizes[*getPixelDim()] = b.getIndexAttr(channels);
    auto pixel = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
        {channels}, cast<MemRefType>(read.memory.getType()), offsets, sizes, strides));
    Value view = memref::SubViewOp::create(b, loc, pixel, read.memory, offsets, sizes, strides);
    pixels[row] = arith::SelectOp::create(b, loc, isTapInBounds(row), view, getZeros(pixel));
  }
  operands.setPixels(std::move(pixels));
}

LoopRange Border::getRange(unsigned loop, int64_t row) {
  if (kBlocking && loop == kBlocking.getLoop())
    return {b.getIndexAttr(0), b.getIndexAttr(kBlocking.getLength())};
  if (isWindow(loop) && mode == BorderMode::interior)
    return {b.getIndexAttr(0), getAsOpFoldResult(nest.getExtent(loop))};
  ElementRead shifted = operands.getLhs();
  for (ReadBound &bound : shifted.bounds)
    bound.rest = nest.shiftRows(bound.rest, row);
  return tenon::getRange(b, loc, shifted, loop, nest.getExtent(loop), nest.getPosition());
}
