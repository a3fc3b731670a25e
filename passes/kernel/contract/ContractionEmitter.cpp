//===- ContractionEmitter.cpp - the loops of a matrix product --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/contract/ContractionEmitter.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "passes/kernel/QuadProducts.h"
#include "passes/kernel/WordPairs.h"
#include "passes/kernel/contract/PackTile.h"
#include <numeric>

using namespace mlir;
using namespace tenon;

ContractionProblem ContractionEmitter::getProblem(linalg::GenericOp op, const Contraction &contraction,
                                                  const BlockMachine &unit, Int8Dot int8Dot) {
  Type type =
      contraction.isDepthwiseInt8 ? Float32Type::get(op.getContext()) : getElementTypeOrSelf(op.getDpsInits()[0]);
  return {op,
          contraction,
          kernel::getSchedule(op),
          getScratchLayout(op, contraction),
          unit.registers,
          unit.firstCacheWays,
          int8Dot,
          type,
          static_cast<int64_t>(unit.vectorBytes * 8 / type.getIntOrFloatBitWidth()),
          /*isFromZero=*/false};
}

BlockProblem ContractionEmitter::getBlockProblem() {
  std::optional<int64_t> rows = contraction.rowLoop ? nest.getStaticExtent(*contraction.rowLoop) : 1;
  std::optional<int64_t> columns = getConstantIntValue(columnExtent);
  // A block wider than a tile would leave all of its columns to narrower blocks.
  if (!columns)
    columns = getUpperBound(columnExtent);
  // The remainder of an unbounded extent counts for little.
  BlockProblem blocks{rows.value_or(1 << 20), columns.value_or(lanes << 20), lanes, registers};
  // The parts of a quad are in registers together.
  if (contraction.dot4Loop && !takesWholeQuads(int8Dot) && !sumsWords)
    blocks.registers -= 4;
  // Products wait for their sums.
  bool sumsPairsOfWords = contraction.isPackedI16 || sumsWords;
  if (sumsPairsOfWords && int8Dot == Int8Dot::PmaddWd)
    blocks.registers -= 2;
  // The sums of a block of steps are apart from those of all, and numbers are on their way to become factors.
  if (dequantize.isInRegisters()) {
    blocks.registers = blocks.registers / 2 - 2;
    blocks.rows = std::min(blocks.rows, kFewWidenedRows);
  } else if (contraction.dequantization || sumsWords) {
    blocks.columns = std::min(blocks.columns, contraction.panel);
  }
  blocks.isColumnwise = contraction.isColumnwise;
  // Lines of rows that share a set of the first cache evict each other where they are more than its ways, of which the
  // other operand's lines take some.
  constexpr int64_t kOtherWays = 2;
  if (contraction.rowLoop && !contraction.isColumnwise && schedule.getPacking() != kernel::Packing::rows)
    if (std::optional<int64_t> distance = getRowDistance(contraction))
      blocks.mostRows =
          std::max<int64_t>(problem.l1Ways - kOtherWays, 1) * (kSetBytes / std::gcd(*distance, kSetBytes));
  // A panel is too long for the first cache, which takes three cycles for a line from the second one.
  constexpr double kCyclesOfLine = 3, kBitsOfLine = 512;
  if (contraction.panel) {
    blocks.vectorCycles = kCyclesOfLine * lanes * type.getIntOrFloatBitWidth() / kBitsOfLine;
    // Beside few products a step, addresses in a second panel count.
    if (hasFewRegisters())
      blocks.panelVectors = contraction.panel / lanes;
  }
  if (unrollsTaps)
    std::tie(blocks.taps, blocks.stride, blocks.dilation) = std::tie(window->taps, window->stride, window->dilation);
  return blocks;
}

void ContractionEmitter::emit() {
  nest.emitExtents(op);
  if (!contraction.dot4Loop)
    packLhs();
  columnExtent = contraction.isGrouped ? nest.constant(contraction.panel) : nest.getExtent(contraction.columnLoop);
  setWindow();
  if (contraction.dequantization)
    emitWidenedLoops();
  else if ((contraction.terms && !sumsPairs) || (wantsAmx && fitsAmx()))
    emitAmx();
  else if (contraction.dot4Loop)
    emitQuadLoops();
  else
    emitRows();
  for (EpilogueStage &stage : epilogue)
    stage.op.erase();
}

/// Whether AMX tiles can sum int8.
bool ContractionEmitter::fitsAmx() { return !(window && window->hasBounds) && fitsAmxInt8(problem, nest); }

void ContractionEmitter::emitAmx() {
  AmxHost host;
  host.forColumns = [&](int64_t maxVectors, llvm::function_ref<void(int64_t)> body) {
    block = {1, maxVectors};
    forColumns([&](int64_t vectors, Value mask) {
      size = {1, vectors};
      active = mask;
      body(vectors);
    });
  };
  host.prefetchPanels = [&](int64_t) { prefetchParts(); };
  host.finishRows = [&](int64_t rows, int64_t summed, SmallVector<Value> sums) {
    size.rows = rows;
    if (contraction.dot4Loop) {
      firstQuad = summed / 4;
      if (*nest.getStaticExtent(*contraction.dot4Loop) > summed)
        sums = emitReduction(nest.getSummedLoops(), llvm::to_vector(llvm::seq(rows)), sums);
    }
    storeBlock(sums);
  };
  auto create = contraction.terms ? createAmxBf16 : createAmxInt8;
  create(nest, problem, kBlocking, host)->emit();
}

void ContractionEmitter::forFewOrManyRows(llvm::function_ref<void(bool areFew)> body) {
  Value rows = contraction.rowLoop ? nest.getExtent(*contraction.rowLoop) : nest.constant(1);
  if (std::optional<int64_t> known = getConstantIntValue(rows))
    return body(*known <= kFewWidenedRows);
  Value few = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, rows, nest.constant(kFewWidenedRows));
  auto branch = scf::IfOp::create(b, loc, few, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
    b.setInsertionPointToStart(block);
    body(block == branch.thenBlock());
  }
}

void ContractionEmitter::emitWidenedLoops() {
  forFewOrManyRows([&](bool areFew) { emitWidenedRows(areFew); });
}

void ContractionEmitter::emitWidenedRows(bool inRegisters) {
  dequantize.setInRegisters(inRegisters);
  block = chooseBlock(getBlockProblem());
  // A single row has a few sums alone: it reads whole panels, as they lie in memory.
  if (inRegisters && (!contraction.rowLoop || isConstantIntValue(nest.getExtent(*contraction.rowLoop), 1)))
    block = {1, contraction.panel / lanes};
  packedRows = {};
  if (inRegisters)
    return emitLoops();
  copyRows();
  ElementRead stored = contraction.rhs;
  contraction.rhs = dequantize.beginPanels(block.vectors * lanes);
  emitLoops();
  contraction.rhs = stored;
}

void ContractionEmitter::packLhs() {
  if (std::optional<ElementRead> packed = packTile(nest, problem)) {
    contraction.lhs = *packed;
    contraction.promotesLhs = false;
  }
}

void ContractionEmitter::emitRows() {
  if (!contraction.rowLoop || nest.getStaticExtent(*contraction.rowLoop))
    return emitBlocks();
  if (schedule.getLastRows() != 0)
    return emitKnownRows();
  if (schedule.getRowVersions() != 0 && contraction.panel && !contraction.isGrouped && !contraction.dot4Loop && !window)
    return emitFewRows();
  emitBlocks();
}

/// A tile of some rows and the last one, which has fewer, have code of their own: blocks of known rows are all of the
/// best size.
void ContractionEmitter::emitKnownRows() {
  int64_t known[] = {schedule.getTile()[*contraction.rowLoop], schedule.getLastRows()};
  unsigned rowLoop = *contraction.rowLoop;
  Value all = nest.getExtent(rowLoop);
  Value isWhole = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, all, nest.constant(known[0]));
  auto branch = scf::IfOp::create(b, loc, isWhole, /*withElseRegion=*/true);
  kBlocking.setVersions(branch);
  OpBuilder::InsertionGuard guard(b);
  for (int64_t i : {0, 1}) {
    b.setInsertionPointToStart(i == 0 ? branch.thenBlock() : branch.elseBlock());
    nest.setExtent(rowLoop, nest.constant(known[i]));
    emitBlocks();
  }
  nest.setExtent(rowLoop, all);
}

/// Open rows, of which each of the smallest numbers that do not fill a block (`row_versions`) has code of its own: that
/// reads the matrix once, as many of its columns at a time as registers have room for.
void ContractionEmitter::emitFewRows() {
  unsigned rowLoop = *contraction.rowLoop;
  Value all = nest.getExtent(rowLoop);
  int64_t blockRows = chooseBlock(getBlockProblem()).rows;
  int64_t mostRows = std::min(schedule.getRowVersions(), blockRows - 1);
  if (mostRows == 0)
    return emitBlocks();
  SmallVector<int64_t> numbers = llvm::to_vector(llvm::seq_inclusive<int64_t>(1, mostRows));
  auto branch = scf::IndexSwitchOp::create(b, loc, TypeRange(), all, numbers, numbers.size());
  kBlocking.setVersions(branch);
  OpBuilder::InsertionGuard guard(b);
  auto emitVersion = [&](Region &region, int64_t number) {
    b.createBlock(&region);
    nest.setExtent(rowLoop, number == 0 ? all : nest.constant(number));
    emitBlocks();
    scf::YieldOp::create(b, loc);
  };
  // The most rows come first: memory of theirs is enough for fewer.
  fewestRows = mostRows + 1;
  emitVersion(branch.getDefaultRegion(), 0);
  fewestRows = 1;
  for (auto [number, region] : llvm::zip_equal(numbers, branch.getCaseRegions()))
    emitVersion(region, number);
  nest.setExtent(rowLoop, all);
}

/// In blocks that registers hold.
void ContractionEmitter::emitBlocks() {
  unrollsTaps = hasFewTaps();
  hasCopiedColumns = schedule.getPacking() == kernel::Packing::tile && packsColumns(op, contraction);
  if (hasCopiedColumns)
    columnExtent = nest.constant(kPackedColumns);
  block = chooseBlock(getBlockProblem());
  // A block's columns become words, for which there is room for a panel.
  if (sumsWords)
    block.vectors = std::min(block.vectors, contraction.panel / lanes);
  copyRows();
  if (packedRows)
    kBlocking.clear();
  else
    kBlocking.chooseForVectors(block.rows, !contraction.rowLoop || getRowBlocks());
  if (kBlocking)
    kBlocking.forBlocks([&] { emitLoops(); });
  else
    emitLoops();
}

void ContractionEmitter::forGroups(llvm::function_ref<void()> body) {
  if (!contraction.isGrouped)
    return body();
  nest.forLoop(nest.constant(0), nest.getExtent(contraction.columnLoop), contraction.panel, [&](Value column) {
    firstColumn = column;
    body();
  });
}

void ContractionEmitter::emitLoops() {
  auto emitRows = [&](int64_t vectors, Value active) {
    forRows([&](int64_t rows) { emitBlock({rows, vectors}, active); });
  };
  // A panel is used for all rows before the next one is.
  if (contraction.panel)
    return forGroups([&] {
      forColumns([&](int64_t vectors, Value active) {
        if (contraction.dequantization && !dequantize.isInRegisters())
          dequantize.packPanel(vectors);
        // A matrix of a batch is another one for each.
        bool isCommon = llvm::none_of(nest.getOuterLoops(),
                                      [&](unsigned loop) { return contraction.rhs.map.isFunctionOfDim(loop); });
        if (sumsWords && isCommon)
          splitPanel(vectors);
        nest.forParallel(nest.getOuterLoops(), [&] {
          if (sumsWords && !isCommon)
            splitPanel(vectors);
          emitRows(vectors, active);
        });
      });
    });
  if (hasCopiedColumns)
    return nest.forLoop(nest.constant(0), nest.getExtent(contraction.columnLoop), kPackedColumns, [&](Value column) {
      firstColumn = column;
      ElementRead image = contraction.lhs, filter = contraction.rhs;
      contraction.rhs = packColumns(nest, problem, contraction.rhs, ScratchUse::PackedFilter, firstColumn);
      contraction.lhs = packColumns(nest, problem, contraction.lhs, ScratchUse::PackedTile, firstColumn);
      nest.forParallel(nest.getOuterLoops(), [&] { forColumns(emitRows); });
      std::tie(contraction.lhs, contraction.rhs) = std::pair(image, filter);
    });
  nest.forParallel(nest.getOuterLoops(), [&] {
    if (readsColumnsInOrder())
      forRows([&](int64_t rows) {
        forColumns([&](int64_t vectors, Value active) { emitBlock({rows, vectors}, active); });
      });
    else
      forColumns(emitRows);
  });
}

/// Whether all columns of some rows are summed before other rows: what a depthwise convolution reads then are runs of
/// neighbours in memory, as many as windows of these rows have pixels. The first cache and its prefetcher keep track of
/// some; of more they do better where each is read by all rows that see it (144 channels, a window of 31: 0.8 of the
/// time).
bool ContractionEmitter::readsColumnsInOrder() {
  constexpr int64_t kMostTaps = 9;
  if (!contraction.isColumnwise || !window)
    return false;
  int64_t taps = 1;
  for (unsigned loop : nest.getSummedLoops())
    taps *= nest.getStaticExtent(loop).value_or(kMostTaps + 1);
  return taps <= kMostTaps;
}

/// Whole blocks of vectors, then the remainder: in one block if the extent is static, otherwise in narrower blocks.
/// The last vector may be masked.
void ContractionEmitter::forColumns(llvm::function_ref<void(int64_t vectors, Value active)> emitBody) {
  Value extent = columnExtent;
  int64_t width = block.vectors * lanes;
  auto makeMask = [&](Value column) -> Value {
    Value rest = arith::SubIOp::create(b, loc, extent, column);
    return vector::CreateMaskOp::create(b, loc, VectorType::get({lanes}, b.getI1Type()), rest);
  };
  auto body = [&](Value column, int64_t vectors, Value active) {
    nest.moveTo(contraction.columnLoop,
                firstColumn ? arith::AddIOp::create(b, loc, firstColumn, column).getResult() : column);
    emitBody(vectors, active);
  };
  if (std::optional<int64_t> known = getConstantIntValue(extent)) {
    int64_t whole = *known / width * width, rest = llvm::divideCeil(*known - whole, lanes);
    nest.forLoop(nest.constant(0), nest.constant(whole), width,
                 [&](Value column) { body(column, block.vectors, Value()); });
    if (rest == 0)
      return;
    Value column = nest.constant(whole), last = nest.constant(whole + (rest - 1) * lanes);
    return body(column, rest, *known % lanes ? makeMask(last) : Value());
  }
  Value begin = nest.constant(0);
  // A single vector of few rows has too few independent sums to hide the latency of a multiply-add: each narrower block
  // halves their number instead. More rows have enough of them, and more code.
  bool hidesLatency = block.rows >= kIndependentSums;
  for (int64_t vectors = block.vectors; vectors > 1; vectors = hidesLatency ? 1 : vectors / 2)
    begin = nest.forWholeBlocks(begin, extent, vectors * lanes, [&](Value column) { body(column, vectors, Value()); });
  nest.forLoop(begin, extent, lanes, [&](Value column) { body(column, 1, makeMask(column)); });
}

std::optional<RowBlocks> ContractionEmitter::getRowBlocks() {
  std::optional<int64_t> rows = nest.getStaticExtent(*contraction.rowLoop);
  return rows ? std::optional(splitRows(*rows, block.rows)) : std::nullopt;
}

void ContractionEmitter::forKnownRows(llvm::function_ref<void(int64_t rows)> body) {
  RowBlocks blocks = *getRowBlocks();
  int64_t first = 0;
  for (auto [rows, count] :
       {std::pair(blocks.rows + 1, blocks.larger), std::pair(blocks.rows, blocks.count - blocks.larger)}) {
    int64_t last = first + rows * count;
    nest.forLoop(nest.constant(first), nest.constant(last), rows, [&](Value row) {
      nest.moveTo(*contraction.rowLoop, row);
      emitRowsAnywhere(rows, body);
    });
    first = last;
  }
}

/// How many open rows at a time: the block's, then half as many, and half of that.
SmallVector<int64_t> ContractionEmitter::getRowSteps() {
  SmallVector<int64_t> steps;
  for (int64_t rows = block.rows; rows > 0; rows /= 2)
    steps.push_back(rows);
  return steps;
}

/// Of open rows the last block ends with the last row, and may do some once more: that costs less than to do what is
/// left in smaller steps, each of which reads the whole panel.
void ContractionEmitter::forRows(llvm::function_ref<void(int64_t rows)> body) {
  if (!contraction.rowLoop)
    return body(1);
  Value extent = nest.getExtent(*contraction.rowLoop);
  nest.moveTo(*contraction.rowLoop, nest.constant(0));
  if (window && window->hasBounds && hasKnownWindows())
    return forRowsOfKnownWindows(body);
  if (getConstantIntValue(extent))
    return forKnownRows(body);
  SmallVector<int64_t> rowSteps = getRowSteps();
  ArrayRef<int64_t> steps = ArrayRef(rowSteps).drop_front();
  if (block.rows == 1) {
    forRowSteps(nest.constant(0), rowSteps, body);
    return;
  }
  if (!mayRepeatRows()) {
    forRowSteps(forRowsOfSomeSizes(body), steps, body);
    return;
  }
  if (fewestRows >= block.rows) {
    forRowsOfSomeSizes(body);
    return;
  }
  Value fits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, extent, nest.constant(block.rows));
  auto branch = scf::IfOp::create(b, loc, fits, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  forRowsOfSomeSizes(body);
  b.setInsertionPointToStart(branch.elseBlock());
  // Smaller numbers than `fewestRows` have other code, so that blocks of as many always fit, and may do some rows
  // twice.
  if (fewestRows > 1)
    steps = steps.take_while([&](int64_t rows) { return rows > 2 * fewestRows; });
  Value next = forRowSteps(nest.constant(0), steps, body);
  if (fewestRows > 1)
    forBlocksOfRows(next, extent, fewestRows, body);
}

/// Open rows from `begin` on in blocks of so many. Where rows may be done twice, the last block ends with the last row
/// of all.
void ContractionEmitter::forBlocksOfRows(Value begin, Value end, int64_t rows,
                                         llvm::function_ref<void(int64_t rows)> body) {
  bool mayRepeat = mayRepeatRows();
  nest.forLoop(begin, end, rows, [&](Value row) {
    nest.moveTo(*contraction.rowLoop, row);
    if (mayRepeat) {
      blockOfRows = row;
      AffineMap clamped =
          AffineMap::get(0, 2, {b.getAffineSymbolExpr(0), b.getAffineSymbolExpr(1) - rows}, b.getContext());
      nest.moveTo(*contraction.rowLoop,
                  affine::AffineMinOp::create(b, loc, clamped, ValueRange{row, nest.getExtent(*contraction.rowLoop)}));
    }
    emitRowsAnywhere(rows, body);
  });
  blockOfRows = {};
}

/// How many sizes blocks of open rows have besides the best, each a part less than the one before: one, or where there
/// may be few blocks all that are more than half of the best. Few rows then waste one at most with blocks of 6 (7 are
/// done as 4 and 4).
int64_t ContractionEmitter::countSmallerSizes(int64_t part) {
  // A window's rows see too different things for code of more sizes, which many rows do not need.
  if (window)
    return 0;
  // Many rows of which none may be done twice are done in blocks of two sizes where these add up to any number, rather
  // than in some blocks of few rows at the end, each of which reads the whole panel.
  bool addsUp = part == 1 && !mayRepeatRows();
  if (schedule.getManyRows())
    return addsUp ? 1 : 0;
  return schedule.getRowVersions() > 1 ? std::max<int64_t>((block.rows - block.rows / 2 - 1) / part, 1) : 1;
}

/// Open rows in as few blocks as there can be, of the best size and then of ones that are a little smaller. Where these
/// do not end with the last row, the last ones begin earlier; where rows may not be done twice, all have the best size,
/// and what is left follows the row that is returned.
Value ContractionEmitter::forRowsOfSomeSizes(llvm::function_ref<void(int64_t rows)> body) {
  constexpr int64_t kPart = 8;
  Value extent = nest.getExtent(*contraction.rowLoop);
  int64_t rows = block.rows, part = llvm::divideCeil(rows, kPart), numSmaller = countSmallerSizes(part);
  AffineExpr d0 = b.getAffineSymbolExpr(0), d1 = b.getAffineSymbolExpr(1);
  Value count = nest.compute(d0.ceilDiv(rows), {extent}), zero = nest.constant(0);
  // Parts that all blocks together have less; every block has one before one has two.
  Value parts = zero;
  if (numSmaller)
    parts = arith::MinSIOp::create(b, loc, nest.compute(d0 * numSmaller, {count}),
                                   nest.compute((d1 * rows - d0).floorDiv(part), {extent, count}));
  Value end = nest.compute(d0 * rows - d1 * part, {count, parts});
  if (!mayRepeatRows()) {
    Value isExact = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, end, extent);
    count = arith::SelectOp::create(b, loc, isExact, count, nest.compute(d0.floorDiv(rows), {extent}));
    parts = arith::SelectOp::create(b, loc, isExact, parts, zero);
    end = nest.compute(d0 * rows - d1 * part, {count, parts});
  }
  // Blocks with so many parts less follow those with fewer.
  Value begin = zero, left = count;
  for (int64_t less = 0; less <= numSmaller; ++less) {
    Value smaller = zero;
    if (less < numSmaller)
      smaller = arith::MaxSIOp::create(
          b, loc, zero, arith::MinSIOp::create(b, loc, count, nest.compute(d0 - d1 * less, {parts, count})));
    int64_t each = rows - less * part;
    Value next =
        less == numSmaller ? end : nest.compute(d0 + (d1 - b.getAffineSymbolExpr(2)) * each, {begin, left, smaller});
    forBlocksOfRows(begin, next, each, body);
    begin = next;
    left = smaller;
  }
  return end;
}

Value ContractionEmitter::forRowSteps(Value begin, ArrayRef<int64_t> steps,
                                      llvm::function_ref<void(int64_t rows)> body) {
  for (int64_t rows : steps)
    begin = nest.forWholeBlocks(begin, nest.getExtent(*contraction.rowLoop), rows, [&](Value row) {
      nest.moveTo(*contraction.rowLoop, row);
      emitRowsAnywhere(rows, body);
    });
  return begin;
}

/// The buffer that a chain of views is of.
static Value getViewedBuffer(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  return memory;
}

/// Whether rows that are computed twice come out the same: nothing that they are made of is written over.
bool ContractionEmitter::mayRepeatRows() {
  return problem.isFromZero && llvm::none_of(epilogue, [](EpilogueStage &stage) {
           Value written = getViewedBuffer(stage.op.getDpsInits()[0]);
           return llvm::any_of(stage.reads,
                               [&](const ElementRead &read) { return getViewedBuffer(read.memory) == written; });
         });
}

LoopRange ContractionEmitter::getRange(unsigned loop, int64_t row) {
  if (kBlocking && loop == kBlocking.getLoop())
    return {b.getIndexAttr(0), b.getIndexAttr(kBlocking.getLength())};
  if (window && loop == window->loop && borderMode == BorderMode::Interior)
    return {b.getIndexAttr(0), getAsOpFoldResult(nest.getExtent(loop))};
  ElementRead shifted = contraction.lhs;
  for (ReadBound &bound : shifted.bounds)
    bound.rest = nest.shiftRows(bound.rest, row);
  return tenon::getRange(b, loc, shifted, loop, nest.getExtent(loop), nest.getPosition());
}

/// What a panel holds beyond the last column is zero: it needs no mask. One of a group ends with its last column.
Value ContractionEmitter::loadVector(const ElementRead &read, int64_t row, int64_t vector, Value condition) {
  bool isPanel = contraction.panel && !contraction.isGrouped && read.memory == contraction.rhs.memory;
  Value mask = isPanel || vector + 1 != size.vectors ? Value() : active;
  if (condition) {
    Value all = vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, b.getI1Type()), condition);
    mask = mask ? arith::AndIOp::create(b, loc, mask, all).getResult() : all;
  }
  Value elements =
      emitVectorRead(b, loc, read, contraction.columnLoop, nest.getIndices(read, row, vector * lanes), lanes, mask);
  auto vectorType = VectorType::get({lanes}, type);
  if (contraction.promotesLhs && read.memory == contraction.lhs.memory)
    return arith::ExtFOp::create(b, loc, vectorType, elements);
  if (!contraction.isDepthwiseInt8)
    return elements;
  bool isUnsigned = read.memory == contraction.lhs.memory;
  return isUnsigned ? arith::UIToFPOp::create(b, loc, vectorType, elements).getResult()
                    : arith::SIToFPOp::create(b, loc, vectorType, elements).getResult();
}

void ContractionEmitter::emitBlock(RegisterBlock chosen, Value mask) {
  size = chosen;
  active = mask;
  ElementRead out = getRead(*op.getDpsInitOperand(0));
  SmallVector<Value> sums;
  auto vectorType = VectorType::get({lanes}, type);
  if (problem.isFromZero)
    sums.assign(size.rows * size.vectors, arith::ConstantOp::create(b, loc, b.getZeroAttr(vectorType)));
  for (int64_t row = 0; row < size.rows; ++row)
    for (int64_t v = 0; v < size.vectors; ++v)
      if (kBlocking)
        sums[row * size.vectors + v] = kBlocking.loadSum(getFirstRow(), row, v);
      else if (!problem.isFromZero)
        sums.push_back(loadVector(out, row, v));
  bool isDone = !kBlocking || kBlocking.isLast();
  if (isDone)
    prefetchEpilogue();
  sums = emitReduction(nest.getSummedLoops(), llvm::to_vector(llvm::seq(size.rows)), sums);
  if (isDone)
    storeBlock(sums);
  else
    kBlocking.storeSums(getFirstRow(), sums, size.vectors);
}

void ContractionEmitter::storeBlock(MutableArrayRef<Value> sums) {
  ElementRead out = getRead(*op.getDpsInitOperand(0));
  if (contraction.isDepthwiseInt8)
    for (Value &sum : sums)
      sum = arith::FPToSIOp::create(b, loc, VectorType::get({lanes}, getElementTypeOrSelf(out.memory)), sum);
  applyEpilogue(sums);
  if (!epilogue.empty())
    out.memory = epilogue.back().op.getDpsInits()[0];
  for (int64_t row = 0; row < size.rows; ++row)
    for (int64_t v = 0; v < size.vectors; ++v) {
      Value sum = sums[row * size.vectors + v];
      SmallVector<Value> indices = nest.getIndices(out, row, v * lanes);
      if (active && v + 1 == size.vectors && isLastColumnAlone())
        memref::StoreOp::create(b, loc, vector::ExtractOp::create(b, loc, sum, ArrayRef<int64_t>{0}), out.memory,
                                indices);
      else if (active && v + 1 == size.vectors)
        vector::MaskedStoreOp::create(b, loc, out.memory, indices, active, sum);
      else
        vector::StoreOp::create(b, loc, sum, out.memory, indices);
    }
}

/// Whether the vector of what is left of the columns has a single one. (LLVM 22 makes of a masked store of
/// one lane, whose elements it truncates on the way, one of elements as wide as they were before.)
bool ContractionEmitter::isLastColumnAlone() {
  std::optional<int64_t> columns = getConstantIntValue(columnExtent);
  return columns && *columns % lanes == 1;
}

void ContractionEmitter::absorbEpilogue() {
  AffineMap place = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  epilogue = matchEpilogue(op, op.getDpsInits()[0], place, contraction.columnLoop);
  // What it reads is defined there.
  if (!epilogue.empty())
    b.setInsertionPoint(epilogue.back().op);
}

void ContractionEmitter::applyEpilogue(MutableArrayRef<Value> sums) {
  // What becomes of bytes is a long chain of operations for each vector. Some chains next to each other keep a core
  // busy; more, or others, would want too many registers.
  constexpr size_t kChains = 4;
  size_t numChains = contraction.dot4Loop || contraction.isDepthwiseInt8 ? kChains : 1;
  for (const EpilogueStage &stage : epilogue) {
    // What is the same for all rows is read once.
    llvm::SmallDenseMap<std::pair<unsigned, int64_t>, Value> shared;
    for (size_t first = 0; first < sums.size(); first += numChains) {
      MutableArrayRef<Value> chains = sums.drop_front(first).take_front(numChains);
      emitStage(b, stage, chains, [&](unsigned number, size_t chain) {
        int64_t row = (first + chain) / size.vectors, v = (first + chain) % size.vectors;
        const ElementRead &read = stage.reads[number];
        bool isAlong = isAlongColumns(read, contraction.columnLoop);
        bool hasRows = contraction.rowLoop && read.map.isFunctionOfDim(*contraction.rowLoop);
        Value &known = shared[{number, isAlong ? v : -1}];
        if (known && !hasRows)
          return known;
        return known = emitVectorRead(b, loc, read, contraction.columnLoop, nest.getIndices(read, row, v * lanes),
                                      lanes, v + 1 == size.vectors ? active : Value());
      });
    }
  }
}

SmallVector<Value> ContractionEmitter::emitReduction(ArrayRef<unsigned> loops, ArrayRef<int64_t> rows,
                                                     ValueRange sums) {
  if (loops.empty())
    return sumsWords              ? emitWordStep(rows, sums)
           : contraction.dot4Loop ? emitQuadStep(rows, sums)
                                  : emitStep(rows, sums);
  if (dequantize.isInRegisters())
    return dequantize.emitProducts(size.vectors, rows, sums, [&](int64_t row) { return loadElement(row); });
  if (loops.front() == contraction.dot4Loop)
    return emitQuads(loops, rows, sums);
  if (sumsPairs)
    return emitBf16Dot(nest, problem, size.vectors, rows, sums);
  if (window && loops.front() == window->loop && unrollsTaps)
    return emitTaps(loops, rows, sums);
  if (window && loops.front() == window->loop && rows.size() > 1 && borderMode != BorderMode::Interior)
    return borderMode == BorderMode::Static ? emitBorder(loops, rows, sums) : emitOpenBorder(loops, rows, sums);
  return emitLoop(loops, getRange(loops.front(), rows.front()), rows, sums);
}

/// How many steps of the innermost loop are done at a time, so that the loop itself, which counts and asks for what
/// comes next, costs little beside the products of a step. Where registers are few, so are these: there all of a few
/// steps are done at a time, and what is left of others in a second loop. Elsewhere the number divides the steps, and
/// windows, which got slower by it, do one at a time.
int64_t ContractionEmitter::chooseUnrolledSteps(std::optional<int64_t> steps) {
  constexpr int64_t kFewProducts = 48, kMostSteps = 8;
  // How much of a window is seen is little where it is not known.
  bool isWindow = op.getNumReductionLoops() > 1;
  if (hasFewRegisters() ? isWindow && !steps : isWindow || !steps)
    return 1;
  if (hasFewRegisters() && steps && *steps <= kMostSteps)
    return std::max<int64_t>(*steps, 1);
  int64_t unrolled = 1;
  while (unrolled < kMostSteps && unrolled * size.rows * size.vectors < kFewProducts &&
         (hasFewRegisters() || *steps % (2 * unrolled) == 0))
    unrolled *= 2;
  return unrolled;
}

SmallVector<Value> ContractionEmitter::emitLoop(ArrayRef<unsigned> loops, LoopRange range, ArrayRef<int64_t> rows,
                                                ValueRange sums) {
  std::optional<int64_t> first = getConstantIntValue(range.begin), last = getConstantIntValue(range.end), steps;
  if (first && last)
    steps = *last - *first;
  Value begin = getValueOrCreateConstantIndexOp(b, loc, range.begin);
  if (steps == 1) {
    nest.moveTo(loops.front(), begin);
    if (readsZeros(loops.front(), rows))
      readPixels(rows);
    return emitReduction(loops.drop_front(), rows, sums);
  }
  Value end = getValueOrCreateConstantIndexOp(b, loc, range.end);
  int64_t unrolled = loops.size() == 1 ? chooseUnrolledSteps(steps) : 1;
  if (unrolled == 1 || (steps && *steps % unrolled == 0))
    return emitSteps(loops, begin, end, unrolled, rows, sums);
  // A window that lies outside ends before it begins.
  AffineExpr from = b.getAffineSymbolExpr(0), to = b.getAffineSymbolExpr(1);
  AffineMap whole = AffineMap::get(0, 2, {(to - from).floorDiv(unrolled), b.getAffineConstantExpr(0)}, b.getContext());
  OpFoldResult count = affine::makeComposedFoldedAffineMax(b, loc, whole, {range.begin, range.end});
  Value middle = getValueOrCreateConstantIndexOp(
      b, loc, affine::makeComposedFoldedAffineApply(b, loc, from + to * unrolled, {range.begin, count}));
  SmallVector<Value> results = emitSteps(loops, begin, middle, unrolled, rows, sums);
  return emitSteps(loops, middle, end, 1, rows, results);
}

/// Whether what a row sees beyond the border is read as zero.
bool ContractionEmitter::readsZeros(unsigned loop, ArrayRef<int64_t> rows) {
  return window && loop == window->loop && rows.size() > 1 && borderMode == BorderMode::Dynamic;
}

/// From `begin` to `end`, `unrolled` steps of the first of `loops` at a time.
SmallVector<Value> ContractionEmitter::emitSteps(ArrayRef<unsigned> loops, Value begin, Value end, int64_t unrolled,
                                                 ArrayRef<int64_t> rows, ValueRange sums) {
  unsigned current = loops.front();
  auto loop = scf::ForOp::create(b, loc, begin, end, nest.constant(unrolled), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> results(loop.getRegionIterArgs());
  for (int64_t step = 0; step < unrolled; ++step) {
    // The sums take nearly all of few registers. What a later step reads, read before its turn, would take theirs.
    if (step > 0 && hasFewRegisters())
      LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::seq_cst, "singlethread");
    Value number = step == 0 ? loop.getInductionVar()
                             : arith::AddIOp::create(b, loc, loop.getInductionVar(), nest.constant(step)).getResult();
    nest.moveTo(current, kBlocking ? arith::AddIOp::create(b, loc, kBlocking.getBegin(), number).getResult() : number);
    std::tie(stepOfLoop, numberOfStep) = std::pair(loop.getInductionVar(), step);
    if (loops.size() == 1)
      prefetchPanel(current, {loop.getInductionVar(), step, unrolled});
    if (readsZeros(current, rows))
      readPixels(rows);
    results = emitReduction(loops.drop_front(), rows, results);
  }
  scf::YieldOp::create(b, loc, results);
  return loop.getResults();
}

Value ContractionEmitter::loadElement(int64_t row) {
  if (packedRows)
    return loadCopied(row);
  Value element = pixels.empty()
                      ? memref::LoadOp::create(b, loc, contraction.lhs.memory, nest.getIndices(contraction.lhs, row, 0))
                      : memref::LoadOp::create(b, loc, pixels[row], nest.at(window->loop + 1));
  return contraction.promotesLhs ? arith::ExtFOp::create(b, loc, type, element).getResult() : element;
}

SmallVector<Value> ContractionEmitter::emitStep(ArrayRef<int64_t> rows, ValueRange sums) {
  auto vectorType = VectorType::get({lanes}, type);
  SmallVector<Value> results(sums);
  auto loadVectorOf = [&](int64_t v) { return loadVector(contraction.rhs, 0, v); };
  auto loadRow = [&](int64_t row) -> Value {
    return vector::BroadcastOp::create(b, loc, vectorType, loadElement(row));
  };
  auto add = [&](int64_t row, int64_t v, Value factor, Value columns) {
    Value &sum = results[row * size.vectors + v];
    sum = contraction.isPackedI16 ? addProductsOfPairs(b, loc, int8Dot, sum, factor, columns)
                                  : vector::FMAOp::create(b, loc, factor, columns, sum).getResult();
  };
  // Where registers have no room for all vectors of a step, they hold the elements of its rows (RegisterBlock).
  if (!contraction.isColumnwise && (size.rows + 1) * size.vectors >= registers) {
    SmallVector<Value> elements = llvm::map_to_vector(rows, loadRow);
    for (int64_t v = 0; v < size.vectors; ++v) {
      Value columns = loadVectorOf(v);
      for (auto [row, element] : llvm::zip_equal(rows, elements))
        add(row, v, element, columns);
    }
    return results;
  }
  SmallVector<Value> columns = llvm::map_to_vector(llvm::seq(size.vectors), loadVectorOf);
  for (int64_t row : rows) {
    Value element = contraction.isColumnwise ? Value() : loadRow(row);
    for (int64_t v = 0; v < size.vectors; ++v)
      add(row, v, element ? element : loadVector(contraction.lhs, row, v), columns[v]);
  }
  return results;
}
