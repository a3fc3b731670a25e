//===- Bf16Split.cpp - operands that are split to bf16 terms on load ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// An f32 matrix has four bytes per element in memory, but its three bf16 terms have six. While a pair of panels is
// multiplied with all rows, vector units, which are idle otherwise, split the next pair: each block of rows splits its
// share at each step, in the order of memory, so that the hardware prefetcher streams. Together with the last pair of a
// tile, the first panels of the next tile are prefetched. The LHS is split for a whole tile, or for a K-block of it,
// before anything is multiplied; without K-blocks, once for all tiles of a thread that have the same rows.
//

#include "passes/kernel/contract/Bf16Split.h"
#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/cost/CacheLines.h"
#include "passes/kernel/TileLoop.h"

using namespace mlir;
using namespace tenon;

/// The panels that are multiplied together, the pairs of panels in scratch, and the rows that are multiplied at a time.
static constexpr int64_t kPair = 2, kPairs = 2, kRowsOfBlock = 32; // format: of scratch and AMX tiles

/// Returns the product of the extents of all summed loops but that of the terms.
static int64_t getRepetitions(kernel::ContractOp op, const FactorTerms &bf16) {
  int64_t repetitions = 1;
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::reduction && loop != bf16.loop) {
      int64_t extent = op.getStaticLoopRanges()[loop];
      assert(!ShapedType::isDynamic(extent) && "scratch has room for a static number of steps");
      repetitions *= extent;
    }
  return repetitions;
}

/// Returns the number of steps in the loop of the terms, or in one of its K-blocks.
static int64_t countSplitSteps(kernel::ContractOp op, const FactorTerms &bf16) {
  int64_t depth = op.getStaticLoopRanges()[bf16.loop];
  if (int64_t block = kernel::getSchedule(op).getKBlock())
    depth = std::min(depth, block);
  return llvm::divideCeil(depth, bf16.step);
}

/// Shape of the terms of two pairs of panels: [pair, panel, step, term, pair of rows, columns in pairs].
static SmallVector<int64_t> getSplitRhsShape(kernel::ContractOp op, const Contraction &contraction) {
  const FactorTerms &bf16 = *contraction.terms;
  assert(bf16.step > 0 && bf16.step % 2 == 0 && "rows of the RHS are stored in pairs");
  int64_t steps = getRepetitions(op, bf16) * countSplitSteps(op, bf16);
  return {kPairs, kPair, steps, bf16.countLhsTerms(), bf16.step / 2, 2 * contraction.panel};
}

/// Shape of the terms of a tile's rows: [outer loops..., row, step, term, element].
static SmallVector<int64_t> getSplitLhsShape(kernel::ContractOp op, const Contraction &contraction) {
  const FactorTerms &bf16 = *contraction.terms;
  SmallVector<int64_t> extents = op.getStaticLoopRanges(), shape;
  if (kernel::ScheduleAttr schedule = kernel::getSchedule(op); schedule.getPacking() == kernel::Packing::split)
    extents.assign(schedule.getTile().begin(), schedule.getTile().end());
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::parallel && loop != contraction.columnLoop)
      shape.push_back(extents[loop]);
  shape.append({countSplitSteps(op, bf16), bf16.countLhsTerms(), bf16.step});
  return shape;
}

static constexpr int64_t kTermBytes = 2; // format: of bf16

int64_t tenon::getSplitRhsBytes(kernel::ContractOp op, const Contraction &contraction) {
  return contraction.terms->splitsRhs() ? computeProduct(getSplitRhsShape(op, contraction)) * kTermBytes : 0;
}

int64_t tenon::getSplitLhsBytes(kernel::ContractOp op, const Contraction &contraction) {
  return contraction.terms->splitsLhs() ? computeProduct(getSplitLhsShape(op, contraction)) * kTermBytes : 0;
}

void Bf16Split::splitLhs() {
  if (!contraction.terms->splitsLhs())
    return;
  const FactorTerms &bf16 = *contraction.terms;
  const ElementRead &unsplit = bf16.lhs.front();
  auto type = MemRefType::get(getSplitLhsShape(op, contraction), b.getBF16Type());
  Value memory = problem.scratch.emit(b, loc, ScratchUse::splitLhs, type);
  Value begin = getKBegin();
  SmallVector<AffineExpr> indices;
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::parallel && loop != contraction.columnLoop)
      indices.push_back(b.getAffineDimExpr(loop));
  AffineExpr k = b.getAffineDimExpr(bf16.loop) - b.getAffineSymbolExpr(0);
  lhsTerms.clear();
  for (int64_t term = 0; term < FactorTerms::kAllTerms; ++term) {
    SmallVector<AffineExpr> all(indices);
    all.append({k.floorDiv(bf16.step), b.getAffineConstantExpr(term), k % bf16.step});
    lhsTerms.push_back({memory, AffineMap::get(op.getNumLoops(), 1, all, b.getContext()), {begin}, {}});
  }
  OpBuilder::InsertionGuard guard(b);
  std::optional<SmallVector<Value>> offsets = kBlocking ? std::nullopt : findTileOffsets(unsplit.memory);
  if (Value isNew = offsets ? emitIsNew(b, op, *offsets) : Value()) {
    auto branch = scf::IfOp::create(b, loc, isNew, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  }
  int64_t length = getKLength();
  nest.forParallel(nest.getOuterLoops(), [&] {
    nest.forLoop(nest.constant(0), nest.getExtent(*contraction.rowLoop), 1, [&](Value row) {
      nest.moveTo(*contraction.rowLoop, row);
      nest.forLoop(nest.constant(0), nest.constant(length), bf16.step, [&](Value step) {
        nest.moveTo(bf16.loop, nest.compute(b.getAffineSymbolExpr(0) + b.getAffineSymbolExpr(1), {begin, step}));
        auto floats = VectorType::get({bf16.step}, b.getF32Type());
        auto stored = VectorType::get({bf16.step}, getElementTypeOrSelf(unsplit.memory));
        Value elements = vector::LoadOp::create(b, loc, stored, unsplit.memory, nest.getIndices(unsplit, 0, 0));
        if (stored != floats)
          elements = arith::ExtFOp::create(b, loc, floats, elements);
        splitElements(elements, FactorTerms::kAllTerms, [&](int64_t term, Value bf16s) {
          vector::StoreOp::create(b, loc, bf16s, memory, nest.getIndices(lhsTerms[term], 0, 0));
        });
      });
    });
  });
}

void Bf16Split::beginRhs(Value columns) {
  SmallVector<int64_t> shape = getSplitRhsShape(op, contraction);
  columnExtent = columns;
  terms = problem.scratch.emit(b, loc, ScratchUse::splitRhs, MemRefType::get(shape, b.getBF16Type()));
  source = getRowsOfPanels();
  next = {
      nest.constant(0), nest.constant(0), nest.constant(0), countPanels(nest.constant(0)), countRows(nest.constant(0)),
      Value()};
  for (int64_t panel = 0; panel < kPair; ++panel)
    forRows(panel, nest.constant(0), next.rows, [&](Value row) { splitRow(panel, row); });
}

/// Returns the RHS as [panel, pair of rows, columns in pairs]; a panel is contiguous.
Value Bf16Split::getRowsOfPanels() {
  const FactorTerms &bf16 = *contraction.terms;
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, contraction.rhs.memory);
  int64_t width = 2 * contraction.panel, depth = *nest.getStaticExtent(bf16.loop);
  int64_t rows = getRepetitions(op, bf16) * llvm::divideCeil(depth, bf16.step) * bf16.step / 2;
  SmallVector<OpFoldResult> sizes{metadata.getConstifiedMixedSizes().front(), b.getIndexAttr(rows),
                                  b.getIndexAttr(width)};
  SmallVector<OpFoldResult> strides{b.getIndexAttr(rows * width), b.getIndexAttr(width), b.getIndexAttr(1)};
  return memref::ReinterpretCastOp::create(b, loc, metadata.getBaseBuffer(), metadata.getConstifiedMixedOffset(), sizes,
                                           strides);
}

/// Counts the panels of a pair that begins with `column`: two, or one, or none beyond the last column.
Value Bf16Split::countPanels(Value column) {
  AffineExpr first = b.getAffineSymbolExpr(0), extent = b.getAffineSymbolExpr(1);
  Value rest = nest.compute((extent - first).ceilDiv(contraction.panel), {column, columnExtent});
  Value atMost = arith::MinSIOp::create(b, loc, rest, nest.constant(kPair));
  return arith::MaxSIOp::create(b, loc, atMost, nest.constant(0));
}

/// Counts the pairs of rows of the K-block that begins at `begin`.
Value Bf16Split::countRows(Value begin) {
  const FactorTerms &bf16 = *contraction.terms;
  int64_t steps = llvm::divideCeil(*nest.getStaticExtent(bf16.loop), bf16.step), perStep = bf16.step / 2;
  if (!kBlocking)
    return nest.constant(getRepetitions(op, bf16) * steps * perStep);
  AffineExpr first = b.getAffineSymbolExpr(0);
  Value rest = nest.compute(steps * perStep - first.floorDiv(2), {begin});
  return arith::MinSIOp::create(b, loc, rest, nest.constant(kBlocking.getSize() / 2));
}

/// With K-blocks, the pair after the last one is the first pair of the next K-block.
void Bf16Split::moveToPanels() {
  assert(columnExtent && "the first pair of panels is split before the loop over columns");
  AffineExpr d0 = b.getAffineSymbolExpr(0);
  Value column = nest.at(contraction.columnLoop), begin = getKBegin();
  int64_t width = kPair * contraction.panel;
  Value pair = nest.compute(d0.floorDiv(width), {column});
  if (kBlocking)
    pair = arith::AddIOp::create(b, loc, pair,
                                 arith::MulIOp::create(b, loc, nest.compute(d0.floorDiv(kBlocking.getSize()), {begin}),
                                                       nest.compute(d0.ceilDiv(width), {columnExtent})));
  PanelPair following;
  slot = nest.compute(d0 % kPairs, {pair});
  firstPanel = nest.compute((d0 % width).floorDiv(contraction.panel), {column});
  following.slot = nest.compute((d0 + 1) % kPairs, {pair});
  following.column = nest.compute(d0.floorDiv(width) * width + width, {column});
  following.begin = begin;
  Value isLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, following.column, columnExtent);
  following.exists = arith::XOrIOp::create(b, loc, isLast, arith::ConstantIntOp::create(b, loc, 1, 1));
  if (kBlocking && !kBlocking.isLast()) {
    following.column = arith::SelectOp::create(b, loc, isLast, nest.constant(0), following.column);
    following.begin = arith::SelectOp::create(b, loc, isLast, nest.compute(d0 + kBlocking.getSize(), {begin}), begin);
    following.exists = arith::ConstantIntOp::create(b, loc, 1, 1);
  } else if (kBlocking) {
    following.begin = arith::SelectOp::create(b, loc, isLast, nest.constant(0), begin);
  }
  following.panels = countPanels(following.column);
  following.rows = countRows(following.begin);
  next = following;
  // The next K-block is never longer than this one.
  Value blocks = b.createOrFold<arith::MaxSIOp>(loc, countRowBlocks(), nest.constant(1));
  share = b.createOrFold<arith::CeilDivSIOp>(loc, nest.constant(kPair * contraction.terms->step / 2), blocks);
}

Value Bf16Split::getKBegin() { return kBlocking ? kBlocking.getBegin() : nest.constant(0); }

int64_t Bf16Split::getKLength() {
  return kBlocking ? kBlocking.getLength() : *nest.getStaticExtent(contraction.terms->loop);
}

SmallVector<Value> Bf16Split::getRhsIndices(int64_t panel, int64_t term) {
  Value number = nest.compute(b.getAffineSymbolExpr(0) + panel, {firstPanel}), zero = nest.constant(0);
  return {slot, number, getStepOfBlock(), nest.constant(term), zero, zero};
}

/// Counts the steps of a block of rows in the current K-block.
int64_t Bf16Split::countStepsOfBlock() {
  int64_t length = getKLength();
  return getRepetitions(op, *contraction.terms) * llvm::divideCeil(length, contraction.terms->step);
}

/// The number of the current step among these.
Value Bf16Split::getStepOfBlock() {
  const FactorTerms &bf16 = *contraction.terms;
  AffineExpr d0 = b.getAffineSymbolExpr(0), d1 = b.getAffineSymbolExpr(1);
  Value repetition = nest.constant(0), begin = getKBegin();
  for (unsigned loop : nest.getSummedLoops())
    if (loop != bf16.loop)
      repetition = nest.compute(d0 * *nest.getStaticExtent(loop) + d1, {repetition, nest.at(loop)});
  Value step = nest.compute((d0 - d1).floorDiv(bf16.step), {nest.at(bf16.loop), begin});
  return nest.compute(d0 * (countStepsOfBlock() / getRepetitions(op, bf16)) + d1, {repetition, step});
}

/// Counts the blocks of rows that a pair of panels is multiplied with.
Value Bf16Split::countRowBlocks() {
  Value count = nest.compute(b.getAffineSymbolExpr(0).ceilDiv(kRowsOfBlock), {nest.getExtent(*contraction.rowLoop)});
  for (unsigned outer : nest.getOuterLoops())
    count = b.createOrFold<arith::MulIOp>(loc, count, nest.getExtent(outer));
  return count;
}

/// The number of the block of rows that begins at `row`.
Value Bf16Split::getRowBlock(Value row) {
  AffineExpr d0 = b.getAffineSymbolExpr(0);
  Value number = nest.constant(0);
  auto add = [&](Value extent, Value next) {
    number = b.createOrFold<arith::AddIOp>(loc, b.createOrFold<arith::MulIOp>(loc, number, extent), next);
  };
  for (unsigned outer : nest.getOuterLoops())
    add(nest.getExtent(outer), nest.at(outer));
  add(nest.compute(d0.ceilDiv(kRowsOfBlock), {nest.getExtent(*contraction.rowLoop)}),
      nest.compute(d0.floorDiv(kRowsOfBlock), {row}));
  return number;
}

void Bf16Split::splitShare(Value firstRow) {
  assert(next.exists && share && "a share is one of the panels after the current ones");
  AffineExpr d0 = b.getAffineSymbolExpr(0), d1 = b.getAffineSymbolExpr(1);
  // Beyond the last row of a panel lies the next panel.
  int64_t rowBytes = 2 * contraction.panel * int64_t(sizeof(float)), ahead = problem.policy.splitBytesAhead / rowBytes;
  Value number = nest.compute(d0 * countStepsOfBlock() + d1, {getRowBlock(firstRow), getStepOfBlock()});
  Value first = b.createOrFold<arith::MulIOp>(loc, number, share);
  Value last = b.createOrFold<arith::AddIOp>(loc, first, share);
  auto branch = scf::IfOp::create(b, loc, next.exists, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  for (bool exists : {true, false}) {
    b.setInsertionPointToStart(exists ? branch.thenBlock() : branch.elseBlock());
    for (int64_t panel = 0; panel < kPair; ++panel) {
      // Rows of the second panel follow those of the first.
      Value before = arith::MulIOp::create(b, loc, next.rows, nest.constant(panel));
      Value from = nest.compute(d0 - d1, {first, before}), to = nest.compute(d0 - d1, {last, before});
      forRows(panel, from, to, [&](Value row) {
        if (!exists)
          return prefetchRow(panel, row);
        prefetchRow(panel, nest.compute(d0 + ahead, {row}));
        splitRow(panel, row);
      });
    }
  }
}

/// Runs `body` for the existing rows from `first` to `last` of a panel of the next pair.
void Bf16Split::forRows(int64_t panel, Value first, Value last, llvm::function_ref<void(Value)> body) {
  Value zero = nest.constant(0);
  Value hasPanel = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, next.panels, nest.constant(panel));
  Value most = arith::SelectOp::create(b, loc, hasPanel, next.rows, zero);
  nest.forLoop(arith::MaxSIOp::create(b, loc, first, zero), arith::MinSIOp::create(b, loc, last, most), 1, body);
}

/// Returns the position in the RHS of a pair of rows of the next pair of panels.
SmallVector<Value> Bf16Split::getSourceIndices(int64_t panel, Value row) {
  AffineExpr d0 = b.getAffineSymbolExpr(0), d1 = b.getAffineSymbolExpr(1);
  return {nest.compute(d0.floorDiv(contraction.panel) + panel, {next.column}),
          nest.compute(d0.floorDiv(2) + d1, {next.begin, row}), nest.constant(0)};
}

void Bf16Split::prefetchRow(int64_t panel, Value row) {
  int64_t elements = kCacheLineBytes / int64_t(sizeof(float));
  SmallVector<Value> place = getSourceIndices(panel, row);
  for (int64_t column = 0; column < 2 * contraction.panel; column += elements) {
    place.back() = nest.constant(column);
    memref::PrefetchOp::create(b, loc, source, place, /*isWrite=*/false, /*localityHint=*/2,
                               /*isDataCache=*/true);
  }
}

/// Splits elements into bf16 terms: a term is the upper half of the bits, and the remainder is split again.
void Bf16Split::splitElements(Value elements, int64_t count,
                              llvm::function_ref<void(int64_t term, Value bf16s)> store) {
  constexpr uint32_t kUpper = 0xffff0000; // format: the bits of a bf16 in an f32
  assert(count > 0 && count <= FactorTerms::kAllTerms && "after the last term nothing is left of an f32");
  auto floats = cast<VectorType>(elements.getType());
  int64_t width = floats.getNumElements();
  auto bits32 = VectorType::get({width}, b.getI32Type()), bits16 = VectorType::get({2 * width}, b.getI16Type());
  Value upper = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(bits32, APInt(32, kUpper)));
  SmallVector<int64_t> odd = llvm::to_vector(llvm::map_range(llvm::seq(width), [](int64_t i) { return 2 * i + 1; }));
  for (int64_t term = 0; term < count; ++term) {
    Value bits = vector::BitCastOp::create(b, loc, bits16, elements);
    Value half = vector::ShuffleOp::create(b, loc, bits, bits, odd);
    store(term, vector::BitCastOp::create(b, loc, VectorType::get({width}, b.getBF16Type()), half));
    if (term + 1 == count)
      return;
    Value masked = arith::AndIOp::create(b, loc, vector::BitCastOp::create(b, loc, bits32, elements), upper);
    elements = arith::SubFOp::create(b, loc, elements, vector::BitCastOp::create(b, loc, floats, masked));
  }
}

/// Splits a pair of rows of a panel.
void Bf16Split::splitRow(int64_t panel, Value row) {
  int64_t perStep = contraction.terms->step / 2, width = 2 * contraction.panel;
  AffineExpr d0 = b.getAffineSymbolExpr(0);
  auto floats = VectorType::get({width}, b.getF32Type());
  Value elements = vector::LoadOp::create(b, loc, floats, source, getSourceIndices(panel, row));
  splitElements(elements, contraction.terms->countLhsTerms(), [&](int64_t term, Value bf16s) {
    SmallVector<Value> place{next.slot,
                             nest.constant(panel),
                             nest.compute(d0.floorDiv(perStep), {row}),
                             nest.constant(term),
                             nest.compute(d0 % perStep, {row}),
                             nest.constant(0)};
    vector::StoreOp::create(b, loc, bf16s, terms, place);
  });
}
