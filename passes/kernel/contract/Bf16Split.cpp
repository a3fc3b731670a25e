//===- Bf16Split.cpp - columns that become parts where they are read -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A matrix of f32 comes from memory in four bytes an element, and tile registers
// multiply it in six. While a pair of panels is multiplied with all rows, the next
// pair is cut into parts, by vectors, which have nothing else to do then: each block
// of rows does its share at each step. What is read from far away is waited for
// meanwhile, in the order that it has in memory, as hardware that reads ahead wants
// it. Before the last pair there is none that is next, and what the next tile begins
// with is asked for. Rows are cut for a whole tile, or for the part of a long sum that
// is next, before anything is multiplied; once for all tiles of a thread that have the
// same ones and whole sums.
//

#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/kernel/TileLoop.h"
#include "passes/kernel/contract/ContractionEmitter.h"

using namespace mlir;
using namespace tenon;

/// Panels that are multiplied together, pairs of them that are kept, and rows that are multiplied at a time.
static constexpr int64_t kPair = 2, kPairs = 2, kRowsOfBlock = 32;

/// What the summed loops but that of the parts run over.
static int64_t getRepetitions(linalg::GenericOp op, const Bf16Terms &parts) {
  int64_t repetitions = 1;
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::reduction && loop != parts.loop)
      repetitions *= op.getStaticLoopRanges()[loop];
  return repetitions;
}

/// Steps of the loop of the parts, or of the longest part of it that is done at a time.
static int64_t countCutSteps(linalg::GenericOp op, const Bf16Terms &parts) {
  int64_t depth = op.getStaticLoopRanges()[parts.loop];
  if (int64_t block = kernel::getSchedule(op).getKBlock())
    depth = std::min(depth, block);
  return llvm::divideCeil(depth, parts.step);
}

/// Of two pairs of panels in parts: [pair, panel, step, part, pair of rows, columns in pairs].
static SmallVector<int64_t> getCutShape(linalg::GenericOp op, const Contraction &contraction) {
  const Bf16Terms &parts = *contraction.terms;
  int64_t steps = getRepetitions(op, parts) * countCutSteps(op, parts);
  return {kPairs, kPair, steps, parts.countLhsTerms(), parts.step / 2, 2 * contraction.panel};
}

/// Of the rows of a tile in parts: [outer loops..., row, step, part, element].
static SmallVector<int64_t> getCutRowsShape(linalg::GenericOp op, const Contraction &contraction) {
  const Bf16Terms &parts = *contraction.terms;
  SmallVector<int64_t> extents = op.getStaticLoopRanges(), shape;
  if (kernel::ScheduleAttr schedule = kernel::getSchedule(op); schedule.getPacking() == kernel::Packing::split)
    extents.assign(schedule.getTile().begin(), schedule.getTile().end());
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::parallel && loop != contraction.columnLoop)
      shape.push_back(extents[loop]);
  shape.append({countCutSteps(op, parts), parts.countLhsTerms(), parts.step});
  return shape;
}

static constexpr int64_t kPartBytes = 2, kLine = 64;

int64_t tenon::getSplitRhsBytes(linalg::GenericOp op, const Contraction &contraction) {
  return contraction.terms->splitsRhs() ? computeProduct(getCutShape(op, contraction)) * kPartBytes : 0;
}

int64_t tenon::getSplitLhsBytes(linalg::GenericOp op, const Contraction &contraction) {
  return contraction.terms->splitsLhs() ? computeProduct(getCutRowsShape(op, contraction)) * kPartBytes : 0;
}

/// Makes parts of all rows of a tile, so far as the sum is done now, which `lhs` are then.
void ContractionEmitter::cutRows() {
  Bf16Terms &parts = *contraction.terms;
  auto type = MemRefType::get(getCutRowsShape(op, contraction), b.getBF16Type());
  Value memory = scratch.emit(b, loc, ScratchUse::SplitLhs, type);
  Value begin = kBlocking ? kBlocking.getBegin() : nest.constant(0);
  SmallVector<AffineExpr> indices;
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::parallel && loop != contraction.columnLoop)
      indices.push_back(b.getAffineDimExpr(loop));
  AffineExpr k = b.getAffineDimExpr(parts.loop) - b.getAffineSymbolExpr(0);
  parts.lhs.clear();
  for (int64_t part = 0; part < Bf16Terms::kAllTerms; ++part) {
    SmallVector<AffineExpr> all(indices);
    all.append({k.floorDiv(parts.step), b.getAffineConstantExpr(part), k % parts.step});
    parts.lhs.push_back({memory, AffineMap::get(op.getNumLoops(), 1, all, b.getContext()), {begin}, {}});
  }
  contraction.lhs = parts.lhs.front();
  OpBuilder::InsertionGuard guard(b);
  std::optional<SmallVector<Value>> offsets = kBlocking ? std::nullopt : findTileOffsets(wholeRows->memory);
  if (Value isNew = offsets ? emitIsNew(b, op, *offsets) : Value()) {
    auto branch = scf::IfOp::create(b, loc, isNew, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  }
  int64_t length = kBlocking ? kBlocking.getLength() : *nest.getStaticExtent(parts.loop);
  nest.forParallel(nest.getOuterLoops(), [&] {
    nest.forLoop(nest.constant(0), nest.getExtent(*contraction.rowLoop), 1, [&](Value row) {
      nest.moveTo(*contraction.rowLoop, row);
      nest.forLoop(nest.constant(0), nest.constant(length), parts.step, [&](Value step) {
        nest.moveTo(parts.loop, nest.compute(b.getAffineSymbolExpr(0) + b.getAffineSymbolExpr(1), {begin, step}));
        auto floats = VectorType::get({parts.step}, b.getF32Type());
        auto stored = VectorType::get({parts.step}, getElementTypeOrSelf(wholeRows->memory));
        Value elements = vector::LoadOp::create(b, loc, stored, wholeRows->memory, nest.getIndices(*wholeRows, 0, 0));
        if (stored != floats)
          elements = arith::ExtFOp::create(b, loc, floats, elements);
        cutElements(elements, Bf16Terms::kAllTerms, [&](int64_t part, Value halves) {
          vector::StoreOp::create(b, loc, halves, memory, nest.getIndices(parts.lhs[part], 0, 0));
        });
      });
    });
  });
}

/// Makes memory for the parts, and those of the first pair of panels of a tile.
void ContractionEmitter::beginCuts() {
  SmallVector<int64_t> shape = getCutShape(op, contraction);
  cuts.emplace();
  cuts->parts = scratch.emit(b, loc, ScratchUse::SplitRhs, MemRefType::get(shape, b.getBF16Type()));
  cuts->source = getRowsOfPanels();
  cuts->next = {nest.constant(0),
                nest.constant(0),
                nest.constant(0),
                countNextPanels(nest.constant(0)),
                getCutRows(nest.constant(0)),
                Value()};
  for (int64_t panel = 0; panel < kPair; ++panel)
    forCutRows(panel, nest.constant(0), cuts->next.rows, [&](Value row) { cutRow(panel, row); });
}

/// The matrix as [panel, pair of rows, columns in pairs]: a panel is one stretch of memory.
Value ContractionEmitter::getRowsOfPanels() {
  const Bf16Terms &parts = *contraction.terms;
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, contraction.rhs.memory);
  int64_t width = 2 * contraction.panel, depth = *nest.getStaticExtent(parts.loop);
  int64_t rows = getRepetitions(op, parts) * llvm::divideCeil(depth, parts.step) * parts.step / 2;
  SmallVector<OpFoldResult> sizes{metadata.getConstifiedMixedSizes().front(), b.getIndexAttr(rows),
                                  b.getIndexAttr(width)};
  SmallVector<OpFoldResult> strides{b.getIndexAttr(rows * width), b.getIndexAttr(width), b.getIndexAttr(1)};
  return memref::ReinterpretCastOp::create(b, loc, metadata.getBaseBuffer(), metadata.getConstifiedMixedOffset(), sizes,
                                           strides);
}

/// The panels of a pair that begins with `column`: two, or one, or none beyond the last column.
Value ContractionEmitter::countNextPanels(Value column) {
  AffineExpr first = b.getAffineSymbolExpr(0), extent = b.getAffineSymbolExpr(1);
  Value rest = nest.compute((extent - first).ceilDiv(contraction.panel), {column, columnExtent});
  Value atMost = arith::MinSIOp::create(b, loc, rest, nest.constant(kPair));
  return arith::MaxSIOp::create(b, loc, atMost, nest.constant(0));
}

/// Pairs of rows of the part of a sum that begins at `begin`.
Value ContractionEmitter::getCutRows(Value begin) {
  const Bf16Terms &parts = *contraction.terms;
  int64_t steps = llvm::divideCeil(*nest.getStaticExtent(parts.loop), parts.step), perStep = parts.step / 2;
  if (!kBlocking)
    return nest.constant(getRepetitions(op, parts) * steps * perStep);
  AffineExpr first = b.getAffineSymbolExpr(0);
  Value rest = nest.compute(steps * perStep - first.floorDiv(2), {begin});
  return arith::MinSIOp::create(b, loc, rest, nest.constant(kBlocking.getSize() / 2));
}

/// Before a pair of panels is multiplied, or one of them: where it is kept, and what comes next. Where sums are done in
/// parts, after the last pair comes the first one, with their next part.
void ContractionEmitter::moveCuts() {
  AffineExpr d0 = b.getAffineSymbolExpr(0);
  Value column = nest.at(contraction.columnLoop), begin = kBlocking ? kBlocking.getBegin() : nest.constant(0);
  int64_t width = kPair * contraction.panel;
  Value pair = nest.compute(d0.floorDiv(width), {column});
  if (kBlocking)
    pair = arith::AddIOp::create(b, loc, pair,
                                 arith::MulIOp::create(b, loc, nest.compute(d0.floorDiv(kBlocking.getSize()), {begin}),
                                                       nest.compute(d0.ceilDiv(width), {columnExtent})));
  CutPair next;
  cuts->kept = nest.compute(d0 % kPairs, {pair});
  cuts->panel = nest.compute((d0 % width).floorDiv(contraction.panel), {column});
  next.kept = nest.compute((d0 + 1) % kPairs, {pair});
  next.column = nest.compute(d0.floorDiv(width) * width + width, {column});
  next.begin = begin;
  Value isLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, next.column, columnExtent);
  next.isThere = arith::XOrIOp::create(b, loc, isLast, arith::ConstantIntOp::create(b, loc, 1, 1));
  if (kBlocking && !kBlocking.isLast()) {
    next.column = arith::SelectOp::create(b, loc, isLast, nest.constant(0), next.column);
    next.begin = arith::SelectOp::create(b, loc, isLast, nest.compute(d0 + kBlocking.getSize(), {begin}), begin);
    next.isThere = arith::ConstantIntOp::create(b, loc, 1, 1);
  } else if (kBlocking) {
    next.begin = arith::SelectOp::create(b, loc, isLast, nest.constant(0), begin);
  }
  next.panels = countNextPanels(next.column);
  next.rows = getCutRows(next.begin);
  cuts->next = next;
  // A part of the sum that is next is never longer than the one before.
  Value blocks = b.createOrFold<arith::MaxSIOp>(loc, countRowBlocks(), nest.constant(1));
  cuts->share = b.createOrFold<arith::CeilDivSIOp>(loc, nest.constant(kPair * contraction.terms->step / 2), blocks);
}

/// Of a block of rows, in the current part of the sum.
int64_t ContractionEmitter::countStepsOfBlock() {
  int64_t length = kBlocking ? kBlocking.getLength() : *nest.getStaticExtent(contraction.terms->loop);
  return getRepetitions(op, *contraction.terms) * llvm::divideCeil(length, contraction.terms->step);
}

/// The number of the current one.
Value ContractionEmitter::getStepOfBlock() {
  const Bf16Terms &parts = *contraction.terms;
  AffineExpr d0 = b.getAffineSymbolExpr(0), d1 = b.getAffineSymbolExpr(1);
  Value repetition = nest.constant(0), begin = kBlocking ? kBlocking.getBegin() : nest.constant(0);
  for (unsigned loop : nest.getSummedLoops())
    if (loop != parts.loop)
      repetition = nest.compute(d0 * *nest.getStaticExtent(loop) + d1, {repetition, nest.at(loop)});
  Value step = nest.compute((d0 - d1).floorDiv(parts.step), {nest.at(parts.loop), begin});
  return nest.compute(d0 * (countStepsOfBlock() / getRepetitions(op, parts)) + d1, {repetition, step});
}

/// That a pair of panels is multiplied with.
Value ContractionEmitter::countRowBlocks() {
  Value count = nest.compute(b.getAffineSymbolExpr(0).ceilDiv(kRowsOfBlock), {nest.getExtent(*contraction.rowLoop)});
  for (unsigned outer : nest.getOuterLoops())
    count = b.createOrFold<arith::MulIOp>(loc, count, nest.getExtent(outer));
  return count;
}

/// The number of the one whose first row is at `place`.
Value ContractionEmitter::getRowBlock(Value place) {
  AffineExpr d0 = b.getAffineSymbolExpr(0);
  Value number = nest.constant(0);
  auto add = [&](Value extent, Value next) {
    number = b.createOrFold<arith::AddIOp>(loc, b.createOrFold<arith::MulIOp>(loc, number, extent), next);
  };
  for (unsigned outer : nest.getOuterLoops())
    add(nest.getExtent(outer), nest.at(outer));
  add(nest.compute(d0.ceilDiv(kRowsOfBlock), {nest.getExtent(*contraction.rowLoop)}),
      nest.compute(d0.floorDiv(kRowsOfBlock), {place}));
  return number;
}

/// SplitState the share of the current step in the block of rows at `place`; or asks for it, where it is the next
/// tile's.
void ContractionEmitter::cutShare(Value place) {
  AffineExpr d0 = b.getAffineSymbolExpr(0), d1 = b.getAffineSymbolExpr(1);
  Value number = nest.compute(d0 * countStepsOfBlock() + d1, {getRowBlock(place), getStepOfBlock()});
  Value first = b.createOrFold<arith::MulIOp>(loc, number, cuts->share);
  Value last = b.createOrFold<arith::AddIOp>(loc, first, cuts->share);
  auto branch = scf::IfOp::create(b, loc, cuts->next.isThere, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  for (bool isThere : {true, false}) {
    b.setInsertionPointToStart(isThere ? branch.thenBlock() : branch.elseBlock());
    for (int64_t panel = 0; panel < kPair; ++panel) {
      // Rows of the second panel follow those of the first.
      Value before = arith::MulIOp::create(b, loc, cuts->next.rows, nest.constant(panel));
      Value from = nest.compute(d0 - d1, {first, before}), to = nest.compute(d0 - d1, {last, before});
      forCutRows(panel, from, to, [&](Value row) { isThere ? cutRow(panel, row) : prefetchRow(panel, row); });
    }
  }
}

/// Runs `body` for rows of a panel of the next pair, so far as there are such.
void ContractionEmitter::forCutRows(int64_t panel, Value first, Value last, llvm::function_ref<void(Value)> body) {
  Value zero = nest.constant(0);
  Value hasPanel = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, cuts->next.panels, nest.constant(panel));
  Value most = arith::SelectOp::create(b, loc, hasPanel, cuts->next.rows, zero);
  nest.forLoop(arith::MaxSIOp::create(b, loc, first, zero), arith::MinSIOp::create(b, loc, last, most), 1, body);
}

/// The place of a row of the next pair in the matrix.
SmallVector<Value> ContractionEmitter::getCutSource(int64_t panel, Value row) {
  AffineExpr d0 = b.getAffineSymbolExpr(0), d1 = b.getAffineSymbolExpr(1);
  return {nest.compute(d0.floorDiv(contraction.panel) + panel, {cuts->next.column}),
          nest.compute(d0.floorDiv(2) + d1, {cuts->next.begin, row}), nest.constant(0)};
}

void ContractionEmitter::prefetchRow(int64_t panel, Value row) {
  constexpr int64_t kElements = kLine / sizeof(float);
  SmallVector<Value> place = getCutSource(panel, row);
  for (int64_t column = 0; column < 2 * contraction.panel; column += kElements) {
    place.back() = nest.constant(column);
    memref::PrefetchOp::create(b, loc, cuts->source, place, /*isWrite=*/false, /*localityHint=*/2,
                               /*isDataCache=*/true);
  }
}

/// The parts of elements: the upper half of the bits of each is one, and what it leaves becomes the next.
void ContractionEmitter::cutElements(Value elements, int64_t count,
                                     llvm::function_ref<void(int64_t part, Value halves)> store) {
  constexpr uint32_t kUpper = 0xffff0000;
  auto floats = cast<VectorType>(elements.getType());
  int64_t width = floats.getNumElements();
  auto words = VectorType::get({width}, b.getI32Type()), halves = VectorType::get({2 * width}, b.getI16Type());
  Value upper = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(words, APInt(32, kUpper)));
  SmallVector<int64_t> odd = llvm::to_vector(llvm::map_range(llvm::seq(width), [](int64_t i) { return 2 * i + 1; }));
  for (int64_t part = 0; part < count; ++part) {
    Value bits = vector::BitCastOp::create(b, loc, halves, elements);
    Value half = vector::ShuffleOp::create(b, loc, bits, bits, odd);
    store(part, vector::BitCastOp::create(b, loc, VectorType::get({width}, b.getBF16Type()), half));
    if (part + 1 == count)
      return;
    Value masked = arith::AndIOp::create(b, loc, vector::BitCastOp::create(b, loc, words, elements), upper);
    elements = arith::SubFOp::create(b, loc, elements, vector::BitCastOp::create(b, loc, floats, masked));
  }
}

/// A pair of rows of a panel.
void ContractionEmitter::cutRow(int64_t panel, Value row) {
  int64_t perStep = contraction.terms->step / 2, width = 2 * contraction.panel;
  AffineExpr d0 = b.getAffineSymbolExpr(0);
  auto floats = VectorType::get({width}, b.getF32Type());
  Value elements = vector::LoadOp::create(b, loc, floats, cuts->source, getCutSource(panel, row));
  cutElements(elements, contraction.terms->countLhsTerms(), [&](int64_t part, Value halves) {
    SmallVector<Value> place{cuts->next.kept,
                             nest.constant(panel),
                             nest.compute(d0.floorDiv(perStep), {row}),
                             nest.constant(part),
                             nest.compute(d0 % perStep, {row}),
                             nest.constant(0)};
    vector::StoreOp::create(b, loc, halves, cuts->parts, place);
  });
}
