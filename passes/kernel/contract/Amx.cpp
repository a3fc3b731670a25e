//===- Amx.cpp - sums of products in tile registers ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// AMX (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1,
// chapter 18) has eight registers of up to 16 rows of 64 bytes. Four have sums, of
// two registers of rows and two of columns: each is loaded for two products. A
// panel of quads is what an instruction wants of the columns: a row of 16 columns
// for each quad, or of parts of f32 for each pair. The registers go by number here; there is nothing to
// allocate.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/kernel/contract/ContractionEmitter.h"

using namespace mlir;
using namespace tenon;

/// Of a register, and registers side by side in a block.
static constexpr int64_t kMostRows = 16, kMostQuads = 16, kColumns = 16, kSide = 2;
/// The first registers for sums, for rows and for columns.
static constexpr int64_t kFirstSums = 0, kFirstRows = 4, kFirstColumns = 6;
/// Between rows of sums in memory.
static constexpr int64_t kSumsRowBytes = kSide * kColumns * 4;

bool ContractionEmitter::fitsAmx() {
  if (contraction.terms)
    return lanes == kColumns && contraction.panel == kColumns && problem.isFromZero && contraction.rowLoop &&
           hasSteadyRows();
  if (!contraction.dot4Loop || contraction.panel != kSide * kColumns || lanes != kColumns || !problem.isFromZero ||
      !contraction.rowLoop || (window && window->hasBounds) || *contraction.dot4Loop + 1 != contraction.columnLoop)
    return false;
  std::optional<int64_t> depth = nest.getStaticExtent(*contraction.dot4Loop);
  return depth && *depth >= 4 && nest.getStaticExtent(contraction.columnLoop) && hasSteadyRows();
}

/// Whether neighbouring rows are as far apart everywhere.
bool ContractionEmitter::hasSteadyRows() {
  return llvm::all_of(contraction.lhs.map.getResults(),
                      [&](AffineExpr index) { return getStep(index, *contraction.rowLoop).has_value(); });
}

/// Bytes that a step sums of each row. Those of quads are of equal length, with less than a quad for each of
/// them left.
int64_t ContractionEmitter::getAmxDepth() {
  if (contraction.terms)
    return 2 * contraction.terms->step;
  int64_t quads = *nest.getStaticExtent(*contraction.dot4Loop) / 4;
  return quads / llvm::divideCeil(quads, kMostQuads) * 4;
}

/// Memory of the kernel's own.
Value ContractionEmitter::allocate(MemRefType type) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&op->getParentOfType<func::FuncOp>().front());
  return memref::AllocOp::create(b, loc, type);
}

/// An instruction on registers alone.
void ContractionEmitter::callAmx(StringRef name, ArrayRef<int64_t> registers) {
  SmallVector<Value> operands;
  for (int64_t number : registers)
    operands.push_back(arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(number)));
  LLVM::CallIntrinsicOp::create(b, loc, b.getStringAttr("llvm.x86." + name), operands);
}

/// The address of an element.
static Value getPointer(OpBuilder &b, Location loc, Value memory, ValueRange indices) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, memory);
  Value place = getValueOrCreateConstantIndexOp(b, loc, metadata.getConstifiedMixedOffset());
  for (auto [index, stride] : llvm::zip(indices, metadata.getConstifiedMixedStrides())) {
    Value distance = arith::MulIOp::create(b, loc, index, getValueOrCreateConstantIndexOp(b, loc, stride));
    place = arith::AddIOp::create(b, loc, place, distance);
  }
  Value bytes = arith::ConstantIndexOp::create(b, loc, getElementTypeOrSelf(memory).getIntOrFloatBitWidth() / 8);
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory);
  Value address = arith::AddIOp::create(b, loc, base, arith::MulIOp::create(b, loc, place, bytes));
  Value number = arith::IndexCastOp::create(b, loc, b.getI64Type(), address);
  return LLVM::IntToPtrOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()), number);
}

/// Loads or stores a register.
void ContractionEmitter::moveAmx(StringRef how, int64_t number, Value memory, ValueRange indices, Value rowBytes) {
  Value registerNumber = arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(number));
  Value stride = arith::IndexCastOp::create(b, loc, b.getI64Type(), rowBytes);
  LLVM::CallIntrinsicOp::create(b, loc, b.getStringAttr("llvm.x86." + how),
                                ValueRange{registerNumber, getPointer(b, loc, memory, indices), stride});
}

/// Between neighbouring rows of `lhs`.
Value ContractionEmitter::getRowBytes() {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, contraction.lhs.memory);
  Value bytes = nest.constant(0);
  int64_t elementBytes = getElementTypeOrSelf(contraction.lhs.memory).getIntOrFloatBitWidth() / 8;
  for (auto [index, stride] : llvm::zip(contraction.lhs.map.getResults(), metadata.getConstifiedMixedStrides()))
    if (int64_t step = *getStep(index, *contraction.rowLoop)) {
      Value distance = arith::MulIOp::create(b, loc, nest.constant(step * elementBytes),
                                             getValueOrCreateConstantIndexOp(b, loc, stride));
      bytes = arith::AddIOp::create(b, loc, bytes, distance);
    }
  return bytes;
}

/// Says how large the registers are. Where there are fewer rows than a register has, they have fewer.
void ContractionEmitter::configureAmx() {
  constexpr int64_t kBytes = 64, kFirstWidth = 16, kFirstHeight = 48;
  SmallVector<int8_t> bytes(kBytes, 0);
  bytes[0] = 1;
  std::optional<int64_t> known = getConstantIntValue(amxRows);
  for (int64_t number = kFirstSums; number < kFirstColumns + kSide; ++number) {
    bool isRows = number >= kFirstRows && number < kFirstColumns, isColumns = number >= kFirstColumns;
    bytes[kFirstWidth + 2 * number] = isRows ? getAmxDepth() : kColumns * 4;
    bytes[kFirstHeight + number] = isColumns ? getAmxDepth() / 4 : known.value_or(0);
  }
  Value memory = allocate(MemRefType::get({kBytes}, b.getI8Type())), zero = nest.constant(0);
  Value shape = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(VectorType::get({kBytes}, b.getI8Type()), ArrayRef<int8_t>(bytes)));
  vector::StoreOp::create(b, loc, shape, memory, zero);
  if (!known) {
    Value rows = arith::IndexCastOp::create(b, loc, b.getI8Type(), amxRows);
    for (int64_t number = kFirstSums; number < kFirstColumns; ++number)
      memref::StoreOp::create(b, loc, rows, memory, nest.constant(kFirstHeight + number));
  }
  LLVM::CallIntrinsicOp::create(b, loc, b.getStringAttr("llvm.x86.ldtilecfg"), getPointer(b, loc, memory, zero));
}

void ContractionEmitter::emitAmx() {
  AffineMap mostRows =
      AffineMap::get(0, 1, {b.getAffineConstantExpr(kMostRows), b.getAffineSymbolExpr(0)}, b.getContext());
  amxRows = getValueOrCreateConstantIndexOp(
      b, loc,
      affine::makeComposedFoldedAffineMin(b, loc, mostRows,
                                          getAsOpFoldResult(ValueRange{nest.getExtent(*contraction.rowLoop)})));
  amxSums = allocate(MemRefType::get({kSide * kMostRows, kSide * kColumns}, type));
  block = {1, kSide};
  configureAmx();
  kBlocking.chooseForAmx();
  if (contraction.terms && contraction.terms->splitsLhs())
    wholeRows = contraction.terms->lhs.front();
  if (contraction.terms && contraction.terms->splitsRhs())
    beginCuts();
  if (kBlocking)
    kBlocking.forBlocks([&] { emitAmxColumns(); });
  else
    emitAmxColumns();
  callAmx("tilerelease", {});
}

void ContractionEmitter::emitAmxColumns() {
  if (wholeRows)
    cutRows();
  forColumns([&](int64_t vectors, Value mask) {
    size = {1, vectors};
    active = mask;
    if (cuts)
      moveCuts();
    nest.forParallel(nest.getOuterLoops(), [&] { forAmxRows([&](ArrayRef<AmxRows> rows) { emitAmxBlock(rows); }); });
  });
}

/// Two registers of rows at a time, then what is left. The last one ends with the last row.
void ContractionEmitter::forAmxRows(llvm::function_ref<void(ArrayRef<AmxRows> rows)> body) {
  Value extent = nest.getExtent(*contraction.rowLoop);
  AffineExpr first = b.getAffineSymbolExpr(0), last = b.getAffineSymbolExpr(1), height = b.getAffineSymbolExpr(2);
  auto apply = [&](AffineExpr expr, ArrayRef<Value> operands) {
    AffineMap map = AffineMap::get(0, operands.size(), expr);
    return getValueOrCreateConstantIndexOp(
        b, loc, affine::makeComposedFoldedAffineApply(b, loc, map, getAsOpFoldResult(operands)));
  };
  auto getRows = [&](Value row) -> AmxRows {
    AffineMap map = AffineMap::get(0, 3, {first, last - height}, b.getContext());
    Value place = getValueOrCreateConstantIndexOp(
        b, loc, affine::makeComposedFoldedAffineMin(b, loc, map, getAsOpFoldResult(ValueRange{row, extent, amxRows})));
    return {place, apply(first - last, {row, place}), row};
  };
  Value whole = apply(first.floorDiv(kSide * kMostRows) * (kSide * kMostRows), {extent}), none = nest.constant(0);
  nest.forLoop(none, whole, kSide * kMostRows, [&](Value row) {
    Value second = apply(first + kMostRows, {row});
    body({{row, none, row}, {second, none, second}});
  });
  std::optional<int64_t> known = getConstantIntValue(extent);
  if (known && *known % (kSide * kMostRows) > kMostRows)
    return body({getRows(whole), getRows(apply(first + kMostRows, {whole}))});
  nest.forLoop(whole, extent, kMostRows, [&](Value row) { body({getRows(row)}); });
}

void ContractionEmitter::emitAmxBlock(ArrayRef<AmxRows> rows) {
  int64_t numColumns = size.vectors;
  if (kBlocking)
    moveWaitingSums("tileloadd64", rows);
  for (size_t i = 0; i < rows.size(); ++i)
    for (int64_t v = 0; v < numColumns && !kBlocking; ++v)
      callAmx("tilezero", {kFirstSums + int64_t(i) * kSide + v});
  emitAmxSums(nest.getSummedLoops(), rows);
  if (kBlocking && !kBlocking.isLast())
    return moveWaitingSums("tilestored64", rows);
  for (size_t i = 0; i < rows.size(); ++i)
    for (int64_t v = 0; v < numColumns; ++v)
      moveAmx("tilestored64", kFirstSums + i * kSide + v, amxSums,
              {nest.constant(i * kMostRows), nest.constant(v * kColumns)}, nest.constant(kSumsRowBytes));
  for (auto [i, part] : llvm::enumerate(rows))
    finishAmxRows(i * kMostRows, part);
}

/// Loads or stores the sums of a block where they wait.
void ContractionEmitter::moveWaitingSums(StringRef how, ArrayRef<AmxRows> rows) {
  Value rowBytes = nest.constant(cast<MemRefType>(kBlocking.getSums().getType()).getDimSize(1) * 4);
  for (auto [i, part] : llvm::enumerate(rows))
    for (int64_t v = 0; v < size.vectors; ++v) {
      AffineMap map = AffineMap::get(1, 0, b.getAffineDimExpr(0) + v * kColumns);
      Value column = affine::AffineApplyOp::create(b, loc, map, nest.at(contraction.columnLoop));
      moveAmx(how, kFirstSums + int64_t(i) * kSide + v, kBlocking.getSums(), {part.place, column}, rowBytes);
    }
}

/// Two rows of sums at a time, so that there is always something to do (applyEpilogue); then one that is left.
void ContractionEmitter::finishAmxRows(int64_t firstSums, AmxRows rows) {
  AffineExpr first = b.getAffineSymbolExpr(0), last = b.getAffineSymbolExpr(1);
  Value pairs = getValueOrCreateConstantIndexOp(
      b, loc,
      affine::makeComposedFoldedAffineApply(b, loc, first + (last - first).floorDiv(2) * 2,
                                            getAsOpFoldResult(ValueRange{rows.fresh, amxRows})));
  nest.forLoop(rows.fresh, pairs, 2, [&](Value row) { finishAmxBlock(firstSums, rows, row, 2); });
  nest.forLoop(pairs, amxRows, 1, [&](Value row) { finishAmxBlock(firstSums, rows, row, 1); });
}

/// Adds the quads that are left to the sums of neighbouring rows, from memory, and stores what becomes of them.
void ContractionEmitter::finishAmxBlock(int64_t firstSums, AmxRows rows, Value row, int64_t count) {
  size.rows = count;
  nest.moveTo(*contraction.rowLoop, arith::AddIOp::create(b, loc, rows.first, row));
  SmallVector<Value> sums;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t v = 0; v < size.vectors; ++v) {
      Value place = arith::AddIOp::create(b, loc, row, nest.constant(firstSums + i));
      sums.push_back(vector::LoadOp::create(b, loc, VectorType::get({lanes}, type), amxSums,
                                            ValueRange{place, nest.constant(v * kColumns)}));
    }
  if (contraction.dot4Loop) {
    int64_t depth = *nest.getStaticExtent(*contraction.dot4Loop), step = getAmxDepth();
    firstQuad = depth / step * step / 4;
    if (depth > 4 * firstQuad)
      sums = emitReduction(nest.getSummedLoops(), llvm::to_vector(llvm::seq(count)), sums);
  }
  storeBlock(sums);
}

void ContractionEmitter::emitAmxSums(ArrayRef<unsigned> loops, ArrayRef<AmxRows> rows) {
  unsigned loop = loops.front();
  bool isInSteps = contraction.terms ? loop == contraction.terms->loop : loop == contraction.dot4Loop;
  if (!isInSteps) {
    LoopRange range = getRange(loop, 0);
    return nest.forLoop(getValueOrCreateConstantIndexOp(b, loc, range.begin),
                        getValueOrCreateConstantIndexOp(b, loc, range.end), 1, [&](Value place) {
                          nest.moveTo(loop, place);
                          emitAmxSums(loops.drop_front(), rows);
                        });
  }
  if (contraction.terms)
    return forStepsOfParts([&] { emitAmxParts(rows); });
  int64_t bytes = *nest.getStaticExtent(loop), step = getAmxDepth();
  nest.forLoop(nest.constant(0), nest.constant(bytes / step * step / 4), step / 4, [&](Value quad) {
    nest.moveTo(loop, affine::AffineApplyOp::create(b, loc, AffineMap::get(1, 0, b.getAffineDimExpr(0) * 4), quad));
    emitAmxStep(rows);
  });
}

void ContractionEmitter::forStepsOfParts(llvm::function_ref<void()> body) {
  const Bf16Terms &parts = *contraction.terms;
  Value first = kBlocking ? kBlocking.getBegin() : nest.constant(0);
  int64_t length = kBlocking ? kBlocking.getLength() : *nest.getStaticExtent(parts.loop);
  AffineMap place = AffineMap::get(2, 0, b.getAffineDimExpr(0) + b.getAffineDimExpr(1) * parts.step);
  nest.forLoop(nest.constant(0), nest.constant(llvm::divideCeil(length, parts.step)), 1, [&](Value number) {
    nest.moveTo(parts.loop, affine::makeComposedAffineApply(b, loc, place, {first, number}));
    body();
  });
}

void ContractionEmitter::emitAmxStep(ArrayRef<AmxRows> rows) {
  Value panelRow = nest.constant(contraction.panel * 4), rowBytes = getRowBytes();
  for (int64_t v = 0; v < size.vectors; ++v)
    moveAmx("tileloadd64", kFirstColumns + v, contraction.rhs.memory, nest.getIndices(contraction.rhs, 0, v * kColumns),
            panelRow);
  for (auto [i, part] : llvm::enumerate(rows)) {
    nest.moveTo(*contraction.rowLoop, part.first);
    int64_t number = kFirstRows + i;
    moveAmx("tileloadd64", number, contraction.lhs.memory, nest.getIndices(contraction.lhs, 0, 0), rowBytes);
    for (int64_t v = 0; v < size.vectors; ++v)
      callAmx("tdpbusd", {kFirstSums + int64_t(i) * kSide + v, number, kFirstColumns + v});
  }
}

/// Which parts of rows and of columns are multiplied, one product after the other: each has an operand of the one
/// before.
static SmallVector<std::pair<int64_t, int64_t>> getPartProducts(int64_t rowParts, int64_t columnParts) {
  if (columnParts == 3 && rowParts == 3)
    return {{2, 0}, {0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 2}};
  if (columnParts == 2 && rowParts == 2)
    return {{1, 0}, {0, 0}, {0, 1}};
  // All, the smallest first.
  SmallVector<std::pair<int64_t, int64_t>> products;
  for (int64_t column = columnParts; column-- > 0;)
    for (int64_t row = rowParts; row-- > 0;)
      products.emplace_back(row, column);
  return products;
}

/// A part of a step of a panel.
void ContractionEmitter::loadColumns(int64_t vector, int64_t part) {
  int64_t number = kFirstColumns + vector;
  Value panelRow = nest.constant(contraction.panel * 4);
  if (cuts) {
    Value panel = nest.compute(b.getAffineSymbolExpr(0) + vector, {cuts->panel}), zero = nest.constant(0);
    return moveAmx("tileloadd64", number, cuts->parts,
                   {cuts->kept, panel, getStepOfBlock(), nest.constant(part), zero, zero}, panelRow);
  }
  moveAmx("tileloadd64", number, contraction.rhs.memory,
          nest.getIndices(contraction.terms->rhs[part], 0, vector * kColumns), panelRow);
}

void ContractionEmitter::emitAmxParts(ArrayRef<AmxRows> rows) {
  const Bf16Terms &parts = *contraction.terms;
  Value rowBytes = getRowBytes();
  std::pair<int64_t, int64_t> loaded(-1, -1);
  nest.moveTo(*contraction.rowLoop, rows.front().first);
  if (cuts)
    cutShare(rows.front().place);
  else
    prefetchParts();
  for (auto [ofRows, ofColumns] : getPartProducts(parts.lhs.size(), parts.countRhsTerms())) {
    for (size_t i = 0; i < rows.size() && loaded.first != ofRows; ++i) {
      nest.moveTo(*contraction.rowLoop, rows[i].first);
      moveAmx("tileloadd64", kFirstRows + i, contraction.lhs.memory, nest.getIndices(parts.lhs[ofRows], 0, 0),
              rowBytes);
    }
    for (int64_t v = 0; v < size.vectors && loaded.second != ofColumns; ++v)
      loadColumns(v, ofColumns);
    for (size_t i = 0; i < rows.size(); ++i)
      for (int64_t v = 0; v < size.vectors; ++v)
        callAmx("tdpbf16ps", {kFirstSums + int64_t(i) * kSide + v, kFirstRows + int64_t(i), kFirstColumns + v});
    loaded = {ofRows, ofColumns};
  }
}
