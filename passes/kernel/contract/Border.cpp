//===- Border.cpp - products of which rows see parts -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/kernel/contract/ContractionEmitter.h"
#include <set>

using namespace mlir;
using namespace tenon;

std::optional<WindowLoop> ContractionEmitter::findWindow() {
  std::optional<WindowLoop> found;
  SmallVector<AffineExpr> indices(contraction.lhs.map.getResults());
  auto *moving = llvm::find_if(indices, [&](AffineExpr index) { return index.isFunctionOfDim(*contraction.rowLoop); });
  std::optional<int64_t> stride = getStep(*moving, *contraction.rowLoop);
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (iterator == utils::IteratorType::parallel || !moving->isFunctionOfDim(loop))
      continue;
    // One loop beside the rows, or none that is known well enough.
    std::optional<int64_t> dilation = getStep(*moving, loop), taps = nest.getStaticExtent(loop);
    if (found || !stride || !dilation || !taps)
      return std::nullopt;
    found = WindowLoop{static_cast<unsigned>(loop), *stride, *dilation, *taps, false};
  }
  return found;
}

/// Rows whose bounds are not those of such a window are done one by one.
void ContractionEmitter::setWindow() {
  if (!contraction.rowLoop)
    return;
  window = findWindow();
  bool hasBounds = llvm::any_of(
      contraction.lhs.bounds, [&](const ReadBound &bound) { return bound.rest.isFunctionOfDim(*contraction.rowLoop); });
  if (window)
    window->hasBounds = hasBounds;
  else if (hasBounds)
    contraction.rowLoop.reset();
  nest.findOuterLoops(contraction);
}

/// Whether a window of single columns is small enough for registers, and nothing is summed inside of it.
bool ContractionEmitter::hasFewTaps() {
  if (!contraction.isColumnwise || !window || 2 * window->taps > registers)
    return false;
  auto isOther = [&](unsigned loop) {
    return op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction && loop > window->loop;
  };
  return llvm::none_of(llvm::seq(op.getNumLoops()),
                       [&](unsigned loop) { return isOther(loop) && nest.getStaticExtent(loop) != 1; });
}

/// Rows of which it is not known what they see: by code of its own where all see the whole window.
void ContractionEmitter::emitRowsAnywhere(int64_t rows, llvm::function_ref<void(int64_t rows)> body) {
  borderMode = window && window->hasBounds ? BorderMode::Dynamic : BorderMode::Interior;
  if (borderMode == BorderMode::Interior || rows == 1)
    return body(rows);
  auto branch = scf::IfOp::create(b, loc, isWhole(rows), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  borderMode = BorderMode::Interior;
  body(rows);
  b.setInsertionPointToStart(branch.elseBlock());
  borderMode = BorderMode::Dynamic;
  if (unrollsTaps || getPixelDim())
    return body(rows);
  Value begin = nest.at(*contraction.rowLoop);
  Value end = arith::AddIOp::create(b, loc, begin, nest.constant(rows));
  nest.forLoop(begin, end, 1, [&](Value row) {
    nest.moveTo(*contraction.rowLoop, row);
    body(1);
  });
}

/// Blocks at the border each have code of their own, which knows what every row sees; those between are a
/// loop.
void ContractionEmitter::forRowsOfKnownWindows(llvm::function_ref<void(int64_t rows)> body) {
  RowBlocks blocks = *getRowBlocks();
  auto getRows = [&](int64_t number) { return blocks.rows + (number < blocks.larger); };
  int64_t first = 0;
  for (int64_t number = 0; number < blocks.count;) {
    // Neighbours of one size that see all, or one that does not.
    int64_t rows = getRows(number), last = first;
    for (; number < blocks.count && getRows(number) == rows && isKnownWhole(last, rows); ++number)
      last += rows;
    borderMode = BorderMode::Interior;
    nest.forLoop(nest.constant(first), nest.constant(last), rows, [&](Value index) {
      nest.moveTo(*contraction.rowLoop, index);
      body(rows);
    });
    if (first == last) {
      borderMode = BorderMode::Static;
      nest.moveTo(*contraction.rowLoop, nest.constant(first));
      body(rows);
      last += rows;
      ++number;
    }
    first = last;
  }
}

bool ContractionEmitter::hasKnownWindows() {
  constexpr int64_t kMostBorderBlocks = 8;
  std::optional<int64_t> extent = nest.getStaticExtent(*contraction.rowLoop);
  nest.moveTo(*contraction.rowLoop, nest.constant(0));
  borderMode = BorderMode::Dynamic;
  LoopRange range = getRange(window->loop, 0);
  if (!extent || !getConstantIntValue(range.begin) || !getConstantIntValue(range.end))
    return false;
  RowBlocks blocks = *getRowBlocks();
  int64_t numBorderBlocks = 0, row = 0;
  for (int64_t number = 0; number < blocks.count; ++number) {
    int64_t rows = blocks.rows + (number < blocks.larger);
    numBorderBlocks += !isKnownWhole(row, rows);
    row += rows;
  }
  return numBorderBlocks <= kMostBorderBlocks;
}

std::pair<int64_t, int64_t> ContractionEmitter::getKnownRange(int64_t row) {
  LoopRange range = getRange(window->loop, row);
  return {*getConstantIntValue(range.begin), *getConstantIntValue(range.end)};
}

bool ContractionEmitter::isKnownWhole(int64_t first, int64_t rows) {
  nest.moveTo(*contraction.rowLoop, nest.constant(first));
  borderMode = BorderMode::Dynamic;
  return getKnownRange(0).first == 0 && getKnownRange(rows - 1).second == window->taps;
}

Value ContractionEmitter::isWhole(int64_t rows) {
  borderMode = BorderMode::Dynamic;
  LoopRange first = getRange(window->loop, 0), last = getRange(window->loop, rows - 1);
  Value begin = getValueOrCreateConstantIndexOp(b, loc, first.begin),
        end = getValueOrCreateConstantIndexOp(b, loc, last.end);
  Value atStart = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, begin, nest.constant(0));
  Value atEnd = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, end, nest.constant(window->taps));
  return arith::AndIOp::create(b, loc, atStart, atEnd);
}

Value ContractionEmitter::seesTap(int64_t row) {
  ElementRead shifted = contraction.lhs;
  for (ReadBound &bound : shifted.bounds)
    bound.rest = nest.shiftRows(bound.rest, row);
  return emitBounds(b, loc, shifted, window->loop, nest.getPosition());
}

/// Rows that see different parts of the window: a loop for each run of taps that the same rows see.
SmallVector<Value> ContractionEmitter::emitBorder(ArrayRef<unsigned> loops, ArrayRef<int64_t> rows, ValueRange sums) {
  std::set<int64_t> ends;
  for (int64_t row : rows) {
    auto [begin, end] = getKnownRange(row);
    ends.insert({begin, end});
  }
  SmallVector<Value> results(sums);
  for (auto [begin, end] : llvm::zip(ends, llvm::drop_begin(ends))) {
    SmallVector<int64_t> seeing = llvm::filter_to_vector(rows, [&](int64_t row) {
      auto [first, last] = getKnownRange(row);
      return first <= begin && end <= last;
    });
    if (!seeing.empty())
      results = emitLoop(loops, {b.getIndexAttr(begin), b.getIndexAttr(end)}, seeing, results);
  }
  return results;
}

/// The dimension of the pixels' memory that is summed inside of a window, where that is the last one and all
/// that is summed there: then zeros can stand for a pixel.
std::optional<int64_t> ContractionEmitter::getPixelDim() {
  unsigned loop = window->loop + 1;
  auto type = cast<MemRefType>(contraction.lhs.memory.getType());
  bool isLast = loop < op.getNumLoops() && op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction &&
                op.getIteratorTypesArray()[loop + 1] == utils::IteratorType::parallel;
  auto moves = [&](AffineExpr index) { return index.isFunctionOfDim(loop); };
  ArrayRef<AffineExpr> indices = contraction.lhs.map.getResults();
  if (contraction.isColumnwise || !isLast || !nest.getStaticExtent(loop) || !type.isLastDimUnitStride() ||
      llvm::count_if(indices, moves) != 1 || getStep(indices.back(), loop) != 1)
    return std::nullopt;
  return indices.size() - 1;
}

Value ContractionEmitter::getZeros(MemRefType pixel) {
  if (zeros)
    return zeros;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&op->getParentOfType<func::FuncOp>().front());
  Type element = pixel.getElementType();
  auto memory = memref::AllocOp::create(b, loc, MemRefType::get(pixel.getShape(), element));
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  linalg::FillOp::create(b, loc, zero, memory.getResult());
  return zeros = memref::CastOp::create(b, loc, pixel, memory);
}

/// The pixels that rows read for the current tap: zeros where one does not see it.
void ContractionEmitter::readPixels(ArrayRef<int64_t> rows) {
  const ElementRead &read = contraction.lhs;
  nest.moveTo(window->loop + 1, nest.constant(0));
  pixels.assign(size.rows, Value());
  for (int64_t row : rows) {
    SmallVector<Value> indices = nest.getIndices(read, row, 0);
    SmallVector<OpFoldResult> offsets = getAsOpFoldResult(indices), sizes(indices.size(), b.getIndexAttr(1)),
                              strides(indices.size(), b.getIndexAttr(1));
    int64_t channels = *nest.getStaticExtent(window->loop + 1);
    // A few channels in words are a quad.
    if (sumsWords)
      channels = llvm::alignTo(channels, 4);
    sizes[*getPixelDim()] = b.getIndexAttr(channels);
    auto pixel = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
        {channels}, cast<MemRefType>(read.memory.getType()), offsets, sizes, strides));
    Value view = memref::SubViewOp::create(b, loc, pixel, read.memory, offsets, sizes, strides);
    pixels[row] = arith::SelectOp::create(b, loc, seesTap(row), view, getZeros(pixel));
  }
}

/// Rows that see parts of the window which are not known: all taps that some of them see, with zeros for
/// those that do not.
SmallVector<Value> ContractionEmitter::emitOpenBorder(ArrayRef<unsigned> loops, ArrayRef<int64_t> rows,
                                                      ValueRange sums) {
  LoopRange first = getRange(window->loop, rows.front()), last = getRange(window->loop, rows.back());
  SmallVector<Value> results = emitLoop(loops, {last.begin, first.end}, rows, sums);
  pixels.clear();
  return results;
}

/// All taps of a window, in the order of the places that they read, each of which is loaded once.
SmallVector<Value> ContractionEmitter::emitTaps(ArrayRef<unsigned> loops, ArrayRef<int64_t> rows, ValueRange sums) {
  struct Tap {
    int64_t place, row, number;
  };
  SmallVector<Tap> taps;
  for (int64_t row : rows) {
    auto [first, last] =
        borderMode == BorderMode::Dynamic ? std::pair<int64_t, int64_t>(0, window->taps) : getKnownRange(row);
    for (int64_t tap = first; tap < last; ++tap)
      taps.push_back({row * window->stride + tap * window->dilation, row, tap});
  }
  llvm::sort(taps, [](const Tap &a, const Tap &b) { return std::pair(a.place, a.row) < std::pair(b.place, b.row); });
  for (unsigned loop : loops)
    nest.moveTo(loop, nest.constant(0));
  SmallVector<Value> results(sums), pixel(size.vectors);
  llvm::SmallDenseMap<std::pair<int64_t, int64_t>, Value> columns;
  std::optional<int64_t> place;
  for (const Tap &tap : taps) {
    nest.moveTo(window->loop, nest.constant(tap.number));
    for (int64_t v = 0; v < size.vectors; ++v) {
      Value &column = columns[{tap.number, v}], &sum = results[tap.row * size.vectors + v];
      if (!column)
        column = loadVector(contraction.rhs, 0, v);
      if (place != tap.place)
        pixel[v] =
            loadVector(contraction.lhs, tap.row, v, borderMode == BorderMode::Dynamic ? seesTap(tap.row) : Value());
      sum = vector::FMAOp::create(b, loc, pixel[v], column, sum);
    }
    place = tap.place;
  }
  return results;
}
