//===- Amx.cpp - micro-kernels that sum in AMX tiles ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// AMX (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, chapter 18) has eight tiles of up to 16
// rows of 64 bytes. Four tiles hold the sums of 2 x 2 blocks, two hold the LHS and two the RHS, so that each loaded
// tile is used for two products. An instruction expects the RHS in VNNI packing: a row of 16 columns for each four
// int8, or each two bf16. Tile numbers are fixed here, so no register allocation is needed.
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/contract/Amx.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tenon;

bool tenon::hasConstantRowStride(const Contraction &contraction) {
  return llvm::all_of(contraction.lhs.map.getResults(),
                      [&](AffineExpr index) { return getStep(index, *contraction.rowLoop).has_value(); });
}

/// The rows of an AMX tile, at most.
static constexpr int64_t kMaxRows = 16; // format: of AMX

/// Memory of the kernel's own.
Value AmxKernel::allocate(MemRefType type) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&op->getParentOfType<func::FuncOp>().front());
  return memref::AllocOp::create(b, loc, type);
}

void AmxKernel::call(StringRef name, ArrayRef<int64_t> registers) {
  SmallVector<Value> operands;
  for (int64_t number : registers)
    operands.push_back(arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(number)));
  LLVM::CallIntrinsicOp::create(b, loc, b.getStringAttr("llvm.x86." + name), operands);
}

/// The address of an element.
static Value getPointer(OpBuilder &b, Location loc, Value memory, ValueRange indices) {
  assert(static_cast<int64_t>(indices.size()) == cast<MemRefType>(memory.getType()).getRank() &&
         "an element has an index in each dimension");
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

void AmxKernel::move(StringRef how, int64_t number, Value memory, ValueRange indices, Value rowBytes) {
  assert(number >= 0 && number < kFirstRhs + kSide && "AMX has eight tiles");
  Value registerNumber = arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(number));
  Value stride = arith::IndexCastOp::create(b, loc, b.getI64Type(), rowBytes);
  LLVM::CallIntrinsicOp::create(b, loc, b.getStringAttr("llvm.x86." + how),
                                ValueRange{registerNumber, getPointer(b, loc, memory, indices), stride});
}

Value AmxKernel::getStrideBytes(const ElementRead &read, unsigned loop) {
  assert(read.map.getNumResults() == cast<MemRefType>(read.memory.getType()).getRank() &&
         "an index of an operand has a stride");
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, read.memory);
  Value bytes = nest.constant(0);
  int64_t elementBytes = getElementTypeOrSelf(read.memory).getIntOrFloatBitWidth() / 8;
  for (auto [index, stride] : llvm::zip(read.map.getResults(), metadata.getConstifiedMixedStrides()))
    if (int64_t step = *getStep(index, loop)) {
      Value distance = arith::MulIOp::create(b, loc, nest.constant(step * elementBytes),
                                             getValueOrCreateConstantIndexOp(b, loc, stride));
      bytes = arith::AddIOp::create(b, loc, bytes, distance);
    }
  return bytes;
}

void AmxKernel::multiplyTiles(StringRef name, int64_t rows, int64_t vectors, TileLoad loadLhs, TileLoad loadRhs) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t v = 0; v < vectors; ++v) {
      if (v == 0 && loadLhs)
        loadLhs(i);
      if (i == 0 && loadRhs)
        loadRhs(v);
      call(name, {kFirstSums + i * kSide + v, kFirstLhs + i, kFirstRhs + v});
    }
}

/// Configures the shape of the AMX tiles. With fewer than 16 rows, tiles have that number of rows.
void AmxKernel::configure() {
  constexpr int64_t kBytes = 64, kFirstWidth = 16, kFirstHeight = 48; // format: of LDTILECFG
  SmallVector<int8_t> bytes(kBytes, 0);
  bytes[0] = 1;
  std::optional<int64_t> known = getConstantIntValue(tileRows);
  assert(getStepBytes() > 0 && getStepBytes() <= kBytes && getStepBytes() % 4 == 0 &&
         "a row of an AMX tile has whole groups of four bytes, and room for a step");
  for (int64_t number = kFirstSums; number < kFirstRhs + kSide; ++number) {
    bool isLhs = number >= kFirstLhs && number < kFirstRhs, isRhs = number >= kFirstRhs;
    bytes[kFirstWidth + 2 * number] = isLhs ? getStepBytes() : kColumns * 4;
    bytes[kFirstHeight + number] = isRhs ? getStepBytes() / 4 : known.value_or(0);
  }
  Value memory = allocate(MemRefType::get({kBytes}, b.getI8Type())), zero = nest.constant(0);
  Value shape = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(VectorType::get({kBytes}, b.getI8Type()), ArrayRef<int8_t>(bytes)));
  vector::StoreOp::create(b, loc, shape, memory, zero);
  if (!known) {
    Value rows = arith::IndexCastOp::create(b, loc, b.getI8Type(), tileRows);
    for (int64_t number = kFirstSums; number < kFirstRhs; ++number)
      memref::StoreOp::create(b, loc, rows, memory, nest.constant(kFirstHeight + number));
  }
  LLVM::CallIntrinsicOp::create(b, loc, b.getStringAttr("llvm.x86.ldtilecfg"), getPointer(b, loc, memory, zero));
}

void AmxKernel::emit() {
  assert(contraction.rowLoop && hasConstantRowStride(contraction) && "AMX loads rows that are the same distance apart");
  AffineMap maxRows =
      AffineMap::get(0, 1, {b.getAffineConstantExpr(kMaxRows), b.getAffineSymbolExpr(0)}, b.getContext());
  tileRows = getValueOrCreateConstantIndexOp(
      b, loc,
      affine::makeComposedFoldedAffineMin(b, loc, maxRows,
                                          getAsOpFoldResult(ValueRange{nest.getExtent(*contraction.rowLoop)})));
  sums = allocate(MemRefType::get({countSumBlocks() * kSide * kMaxRows, kSide * kColumns}, getSumType()));
  configure();
  parts.kBlocking.chooseForAmx();
  beginTile();
  if (parts.kBlocking)
    parts.kBlocking.forBlocks([&] { emitColumns(); });
  else
    emitColumns();
  call("tilerelease", {});
}

void AmxKernel::emitColumns() {
  beginKBlock();
  RegisterBlock block{1, kSide};
  parts.rowLoops.setBlock(block);
  parts.columnLoops.forVectors(block, [&](int64_t vectors, Value mask) {
    columnMask = mask;
    beginColumns();
    nest.forParallel(nest.getOuterLoops(), [&] { forRows([&](ArrayRef<Rows> rows) { emitBlock(rows, vectors); }); });
  });
}

/// Emits loops over two AMX tiles of rows at a time, then the remainder. The last tile ends with the last row.
void AmxKernel::forRows(llvm::function_ref<void(ArrayRef<Rows> rows)> body) {
  Value extent = nest.getExtent(*contraction.rowLoop);
  AffineExpr first = b.getAffineSymbolExpr(0), last = b.getAffineSymbolExpr(1), height = b.getAffineSymbolExpr(2);
  auto apply = [&](AffineExpr expr, ArrayRef<Value> operands) {
    AffineMap map = AffineMap::get(0, operands.size(), expr);
    return getValueOrCreateConstantIndexOp(
        b, loc, affine::makeComposedFoldedAffineApply(b, loc, map, getAsOpFoldResult(operands)));
  };
  auto getRows = [&](Value row) -> Rows {
    AffineMap map = AffineMap::get(0, 3, {first, last - height}, b.getContext());
    Value place = getValueOrCreateConstantIndexOp(
        b, loc, affine::makeComposedFoldedAffineMin(b, loc, map, getAsOpFoldResult(ValueRange{row, extent, tileRows})));
    return {place, apply(first - last, {row, place}), row};
  };
  Value whole = apply(first.floorDiv(kSide * kMaxRows) * (kSide * kMaxRows), {extent}), none = nest.constant(0);
  nest.forLoop(none, whole, kSide * kMaxRows, [&](Value row) {
    Value second = apply(first + kMaxRows, {row});
    body({{row, none, row}, {second, none, second}});
  });
  std::optional<int64_t> known = getConstantIntValue(extent);
  if (known && *known % (kSide * kMaxRows) > kMaxRows)
    return body({getRows(whole), getRows(apply(first + kMaxRows, {whole}))});
  nest.forLoop(whole, extent, kMaxRows, [&](Value row) { body({getRows(row)}); });
}

void AmxKernel::emitBlock(ArrayRef<Rows> rows, int64_t vectors) {
  assert(!rows.empty() && rows.size() <= size_t(kSide) && vectors > 0 && vectors <= kSide &&
         "a block of sums has at most two AMX tiles on a side");
  bool isInPlace = sumsInPlace();
  if (getKBlocking())
    moveStoredSums("tileloadd64", rows, vectors);
  else if (isInPlace && !problem.isFromZero)
    moveSums("tileloadd64", rows, vectors);
  else
    clearSums(rows, vectors);
  emitSums(rows, vectors);
  if (getKBlocking() && !getKBlocking().isLast())
    return moveStoredSums("tilestored64", rows, vectors);
  if (isInPlace)
    return moveSums("tilestored64", rows, vectors);
  storeSums(0, rows, vectors);
  finish(rows, vectors);
}

void AmxKernel::clearSums(ArrayRef<Rows> rows, int64_t vectors) {
  for (size_t i = 0; i < rows.size(); ++i)
    for (int64_t v = 0; v < vectors; ++v)
      call("tilezero", {kFirstSums + int64_t(i) * kSide + v});
}

void AmxKernel::forTermSteps(llvm::function_ref<void()> body) {
  const FactorTerms &terms = *contraction.terms;
  Value first = getKBlocking() ? getKBlocking().getBegin() : nest.constant(0);
  int64_t length = getKBlocking() ? getKBlocking().getLength() : *nest.getStaticExtent(terms.loop);
  AffineMap place = AffineMap::get(2, 0, b.getAffineDimExpr(0) + b.getAffineDimExpr(1) * terms.step);
  nest.forLoop(nest.constant(0), nest.constant(llvm::divideCeil(length, terms.step)), 1, [&](Value number) {
    nest.moveTo(terms.loop, affine::makeComposedAffineApply(b, loc, place, {first, number}));
    body();
  });
}

void AmxKernel::storeSums(int64_t number, ArrayRef<Rows> rows, int64_t vectors) {
  assert(number >= 0 && number < countSumBlocks() && "there is memory for so many blocks");
  for (size_t i = 0; i < rows.size(); ++i)
    for (int64_t v = 0; v < vectors; ++v)
      move("tilestored64", kFirstSums + i * kSide + v, sums,
           {nest.constant((number * kSide + i) * kMaxRows), nest.constant(v * kColumns)},
           nest.constant(kSide * kColumns * 4));
}

Value AmxKernel::loadSum(int64_t number, Value row, int64_t vector) {
  Value place = arith::AddIOp::create(b, loc, row, nest.constant(number * kSide * kMaxRows));
  return vector::LoadOp::create(b, loc, VectorType::get({lanes}, getSumType()), sums,
                                ValueRange{place, nest.constant(vector * kColumns)});
}

void AmxKernel::finish(ArrayRef<Rows> rows, int64_t vectors) {
  for (auto [i, part] : llvm::enumerate(rows))
    finishRows(i * kMaxRows, part, vectors);
}

Value AmxKernel::emitSum(const Rows &, Value, Value row, int64_t vector) { return loadSum(0, row, vector); }

void AmxKernel::emitResults(const Rows &, Value, ValueRange sums, const SumBlock &block) {
  SmallVector<Value> results = completeSums(block, llvm::to_vector(sums));
  parts.results.store(results, block, parts.columnLoops.isLastColumnAlone());
}

/// Loads or stores the sums of a block between K-blocks.
void AmxKernel::moveStoredSums(StringRef name, ArrayRef<Rows> rows, int64_t vectors) {
  Value rowBytes = nest.constant(cast<MemRefType>(getKBlocking().getSums().getType()).getDimSize(1) * 4);
  for (auto [i, part] : llvm::enumerate(rows))
    for (int64_t v = 0; v < vectors; ++v) {
      AffineMap map = AffineMap::get(1, 0, b.getAffineDimExpr(0) + v * kColumns);
      Value column = affine::AffineApplyOp::create(b, loc, map, nest.at(contraction.columnLoop));
      move(name, kFirstSums + int64_t(i) * kSide + v, getKBlocking().getSums(), {part.place, column}, rowBytes);
    }
}

/// True if AMX tiles hold whole sums that need no epilogue, and are stored where they belong. Rows that were computed
/// before are stored once more, but not added to twice.
bool AmxKernel::sumsInPlace() {
  std::optional<int64_t> extent = nest.getStaticExtent(*contraction.rowLoop);
  bool repeatsRows = !extent || (*extent > kMaxRows && *extent % kMaxRows != 0);
  return parts.results.storesSums() && hasWholeSums() && !columnMask && (problem.isFromZero || !repeatsRows);
}

/// Loads or stores the sums of a block where they belong.
void AmxKernel::moveSums(StringRef name, ArrayRef<Rows> rows, int64_t vectors) {
  ElementRead out = getRead(*op.getDpsInitOperand(0));
  Value rowBytes = getRowBytes(out);
  for (auto [i, part] : llvm::enumerate(rows)) {
    nest.moveTo(*contraction.rowLoop, part.first);
    for (int64_t v = 0; v < vectors; ++v)
      move(name, kFirstSums + int64_t(i) * kSide + v, out.memory, nest.getIndices(out, 0, v * kColumns), rowBytes);
  }
}

/// Finishes two rows of sums at a time, so that the epilogue has independent operations, then the remaining one.
void AmxKernel::finishRows(int64_t firstSums, Rows rows, int64_t vectors) {
  AffineExpr first = b.getAffineSymbolExpr(0), last = b.getAffineSymbolExpr(1);
  Value pairs = getValueOrCreateConstantIndexOp(
      b, loc,
      affine::makeComposedFoldedAffineApply(b, loc, first + (last - first).floorDiv(2) * 2,
                                            getAsOpFoldResult(ValueRange{rows.fresh, tileRows})));
  nest.forLoop(rows.fresh, pairs, 2, [&](Value row) { finishSomeRows(firstSums, rows, row, 2, vectors); });
  nest.forLoop(pairs, tileRows, 1, [&](Value row) { finishSomeRows(firstSums, rows, row, 1, vectors); });
}

void AmxKernel::finishSomeRows(int64_t firstSums, Rows rows, Value row, int64_t count, int64_t vectors) {
  nest.moveTo(*contraction.rowLoop, arith::AddIOp::create(b, loc, rows.first, row));
  SmallVector<Value> results;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t v = 0; v < vectors; ++v) {
      Value ofTile = arith::AddIOp::create(b, loc, row, nest.constant(i)),
            place = arith::AddIOp::create(b, loc, row, nest.constant(firstSums + i));
      results.push_back(emitSum(rows, ofTile, place, v));
    }
  SumBlock block{count, vectors, columnMask};
  if (!problem.isFromZero) {
    ElementRead out = getRead(*op.getDpsInitOperand(0));
    for (int64_t i = 0; i < count * vectors; ++i) {
      Value before = parts.operands.loadVector(out, i / vectors, i % vectors, block);
      results[i] = arith::AddFOp::create(b, loc, before, results[i]);
    }
  }
  emitResults(rows, row, results, block);
}

void AmxKernel::emitSums(ArrayRef<unsigned> loops, ArrayRef<Rows> rows, int64_t vectors) {
  assert(!loops.empty() && "the loop whose steps are multiplied at once is a summed one");
  unsigned loop = loops.front();
  if (loop == getStepLoop())
    return emitSteps(rows, vectors);
  LoopRange range = getRange(b, loc, contraction.lhs, loop, nest.getExtent(loop), nest.getPosition());
  nest.forLoop(getValueOrCreateConstantIndexOp(b, loc, range.begin), getValueOrCreateConstantIndexOp(b, loc, range.end),
               1, [&](Value place) {
                 nest.moveTo(loop, place);
                 emitSums(loops.drop_front(), rows, vectors);
               });
}
