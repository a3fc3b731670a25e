//===- PmaddWd.cpp - products of bytes as such of words -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a processor multiplies pairs of words, and no bytes without saturation,
// to make words of bytes takes as many instructions as the products. For many rows
// that happens once: what a tile reads of the rows (PackTile.cpp) and then
// each block of columns become words in the thread's scratch, and a step of the
// inner loop has nothing but loads, products and sums.
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/kernel/QuadProducts.h"
#include "passes/kernel/contract/ContractionEmitter.h"
#include <functional>

using namespace mlir;
using namespace tenon;

/// All that is summed, in quads; none where that is open.
static std::optional<int64_t> countQuads(linalg::GenericOp op, unsigned dot4Loop) {
  int64_t quads = 1;
  for (auto [loop, range] : llvm::enumerate(op.getStaticLoopRanges()))
    if (op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction)
      if (ShapedType::isDynamic(range) ||
          llvm::MulOverflow<int64_t>(quads, loop == dot4Loop ? llvm::divideCeil(range, 4) : range, quads))
        return std::nullopt;
  return quads;
}

bool tenon::fitsPmaddWd(linalg::GenericOp op, const Contraction &contraction) {
  constexpr int64_t kMostQuads = 1 << 13;
  if (!contraction.dot4Loop || !contraction.rowLoop)
    return false;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  AffineExpr last = contraction.lhs.map.getResults().back();
  bool isAlone = llvm::all_of(llvm::seq(op.getNumLoops()), [&](unsigned loop) {
    return loop == *contraction.dot4Loop || !last.isFunctionOfDim(loop);
  });
  std::optional<int64_t> quads = countQuads(op, *contraction.dot4Loop);
  // Of a few channels, as images have them, a pixel is a quad.
  int64_t depth = ranges[*contraction.dot4Loop];
  return isAlone && (depth % 4 == 0 || depth < 4) && quads && *quads > 0 && *quads <= kMostQuads &&
         (ShapedType::isDynamic(ranges[*contraction.rowLoop]) || ranges[*contraction.rowLoop] > kFewWidenedRows);
}

int64_t tenon::getPmaddWdPanelBytes(linalg::GenericOp op, const Contraction &contraction) {
  return *countQuads(op, *contraction.dot4Loop) * 4 * contraction.panel * int64_t(sizeof(int16_t));
}

void ContractionEmitter::emitQuadLoops() {
  // A window whose bounds are not understood leaves no rows (setWindow).
  if (!scratch.has(ScratchUse::PmaddWdPanel) || int8Dot != Int8Dot::PmaddWd || !contraction.rowLoop)
    return emitRows();
  // Of a known number the last tile may have few, which are rare.
  if (schedule.getLastRows() != 0)
    return emitWordLoops();
  forFewOrManyRows([&](bool areFew) { areFew ? emitRows() : emitWordLoops(); });
}

void ContractionEmitter::emitWordLoops() {
  ElementRead stored = contraction.lhs;
  auto type = MemRefType::get({*countQuads(op, *contraction.dot4Loop), 2, contraction.panel}, b.getI32Type());
  packLhs();
  panel = scratch.emit(b, loc, ScratchUse::PmaddWdPanel, type);
  sumsWords = true;
  zeros = {};
  emitRows();
  sumsWords = false;
  zeros = {};
  contraction.lhs = stored;
}

/// The current step of all loops that sum, in quads.
Value ContractionEmitter::getQuadStep() {
  AffineExpr number = b.getAffineConstantExpr(0);
  SmallVector<Value> places;
  for (unsigned loop : nest.getSummedLoops()) {
    int64_t unit = loop == *contraction.dot4Loop ? 4 : 1;
    number =
        number * llvm::divideCeil(*nest.getStaticExtent(loop), unit) + b.getAffineDimExpr(places.size()).floorDiv(unit);
    places.push_back(nest.at(loop));
  }
  return affine::makeComposedAffineApply(b, loc, AffineMap::get(places.size(), 0, number), getAsOpFoldResult(places));
}

/// Makes words of so many vectors of columns, from the current one on.
void ContractionEmitter::splitPanel(int64_t vectors) {
  std::function<void(ArrayRef<unsigned>)> forLoops = [&](ArrayRef<unsigned> loops) {
    if (!loops.empty())
      return nest.forLoop(nest.constant(0), nest.getExtent(loops.front()),
                          loops.front() == *contraction.dot4Loop ? 4 : 1, [&](Value place) {
                            nest.moveTo(loops.front(), place);
                            forLoops(loops.drop_front());
                          });
    Value step = getQuadStep();
    for (int64_t v = 0; v < vectors; ++v)
      for (auto [half, words] : llvm::enumerate(splitSigned(b, loc, int8Dot, loadQuads(v)))) {
        Value pairs = vector::BitCastOp::create(b, loc, VectorType::get({lanes}, b.getI32Type()), words);
        vector::StoreOp::create(b, loc, pairs, panel, ValueRange{step, nest.constant(half), nest.constant(v * lanes)});
      }
  };
  forLoops(nest.getSummedLoops());
}

/// A pair of words of a row, for all lanes.
Value ContractionEmitter::loadPair(int64_t row) {
  Value memory = pixels.empty() ? contraction.lhs.memory : pixels[row];
  SmallVector<Value> indices =
      pixels.empty() ? nest.getIndices(contraction.lhs, row, 0) : SmallVector<Value>{nest.at(window->loop + 1)};
  Value words = vector::LoadOp::create(b, loc, VectorType::get({2}, b.getI16Type()), memory, indices);
  Value pair = vector::ExtractOp::create(
      b, loc, vector::BitCastOp::create(b, loc, VectorType::get({1}, b.getI32Type()), words), ArrayRef<int64_t>{0});
  pair = vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, b.getI32Type()), pair);
  return vector::BitCastOp::create(b, loc, VectorType::get({2 * lanes}, b.getI16Type()), pair);
}

SmallVector<Value> ContractionEmitter::emitWordStep(ArrayRef<int64_t> rows, ValueRange sums) {
  Value step = getQuadStep();
  Value first = nest.at(*contraction.dot4Loop);
  auto words = VectorType::get({2 * lanes}, b.getI16Type());
  SmallVector<Value> results(sums);
  for (int64_t half = 0; half < 2; ++half) {
    // The sums take nearly all of few registers: what comes later is not to be read before its turn.
    if (hasFewRegisters())
      LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::seq_cst, "singlethread");
    if (half == 1)
      nest.moveTo(*contraction.dot4Loop,
                  affine::makeComposedAffineApply(b, loc, AffineMap::get(1, 0, b.getAffineDimExpr(0) + 2),
                                                  getAsOpFoldResult(ValueRange{first})));
    SmallVector<Value> columns;
    for (int64_t v = 0; v < size.vectors; ++v) {
      Value pairs = vector::LoadOp::create(b, loc, VectorType::get({lanes}, b.getI32Type()), panel,
                                           ValueRange{step, nest.constant(half), nest.constant(v * lanes)});
      columns.push_back(vector::BitCastOp::create(b, loc, words, pairs));
    }
    for (int64_t row : rows) {
      Value element = loadPair(row);
      for (int64_t v = 0; v < size.vectors; ++v) {
        Value &sum = results[row * size.vectors + v];
        sum = addProducts(b, loc, int8Dot, sum, element, columns[v]);
      }
    }
  }
  nest.moveTo(*contraction.dot4Loop, first);
  return results;
}
