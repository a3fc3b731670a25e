//===- KBlocking.cpp - long sums in parts ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/kernel/contract/ContractionEmitter.h"

using namespace mlir;
using namespace tenon;

/// Products of many rows with panels, summed from zero by one long loop.
std::optional<DepthParts> ContractionEmitter::splitDepth() {
  // A tile of 512 open rows and 64 columns, which whole blocks may reach beyond, and as much for the tile's own
  // results, is what a kernel may take from the stack (PlaceAllocations).
  constexpr int64_t kMostBytes = 8192, kPartBytes = 6144, kSumBytes = 136 * 1024;
  if (!contraction.panel || packedRows || contraction.terms || contraction.isGrouped || !contraction.rowLoop ||
      contraction.dot4Loop || !isFromZero || op.getNumReductionLoops() != 1)
    return std::nullopt;
  if (llvm::any_of(nest.getOuterLoops(), [&](unsigned loop) { return nest.getStaticExtent(loop) != 1; }))
    return std::nullopt;
  SmallVector<unsigned> summed;
  op.getReductionDims(summed);
  std::optional<int64_t> steps = nest.getStaticExtent(summed.front());
  int64_t elementBytes = type.getIntOrFloatBitWidth() / 8;
  if (!steps || *steps * elementBytes <= kMostBytes)
    return std::nullopt;
  std::optional<int64_t> rows = getUpperBound(nest.getExtent(*contraction.rowLoop)),
                         columns = getUpperBound(nest.getExtent(contraction.columnLoop));
  // A single block of rows reads each page once.
  if (!rows || !columns || *rows <= block.rows)
    return std::nullopt;
  DepthParts parts{summed.front(), int64_t(llvm::divideCeil(*steps * elementBytes, kPartBytes)), 0, Value()};
  // Steps are done in pairs.
  parts.size = llvm::alignTo(llvm::divideCeil(*steps, parts.count), 2);
  // Open rows have whole blocks, of which the last one begins earlier.
  int64_t blockRows = getRowBlocks() ? 1 : block.rows;
  SmallVector<int64_t> shape{int64_t(llvm::alignTo(std::max<int64_t>(*rows, 1), blockRows)),
                             int64_t(llvm::alignTo(std::max<int64_t>(*columns, 1), lanes))};
  if (shape[0] * shape[1] * elementBytes > kSumBytes)
    return std::nullopt;
  // Whole tiles, which are the first, need most.
  if (!waitingSums) {
    OpBuilder::InsertionGuard guard(b);
    if (versions)
      b.setInsertionPoint(versions);
    waitingSums = memref::AllocOp::create(b, loc, MemRefType::get(shape, type));
  }
  parts.sums = waitingSums;
  return parts;
}

/// The same of floats in parts: so many of their rows stay in the second cache (TileKernels).
std::optional<DepthParts> ContractionEmitter::splitAmxDepth() {
  int64_t size = schedule.getKBlock();
  if (!contraction.terms || size == 0)
    return std::nullopt;
  int64_t steps = *nest.getStaticExtent(contraction.terms->loop);
  DepthParts parts{contraction.terms->loop, int64_t(llvm::divideCeil(steps, size)), size, Value()};
  // Registers are stored as a whole.
  ArrayRef<int64_t> tile = schedule.getTile();
  SmallVector<int64_t> shape{int64_t(llvm::alignTo(tile[*contraction.rowLoop], 32)),
                             int64_t(llvm::alignTo(tile[contraction.columnLoop], 32))};
  parts.sums = memref::AllocOp::create(b, loc, MemRefType::get(shape, type));
  return parts;
}

void ContractionEmitter::emitParts() {
  forDepth([&] { emitLoops(); });
}

/// Runs `body` for each part of what is summed.
void ContractionEmitter::forDepth(llvm::function_ref<void()> body) {
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  linalg::FillOp::create(b, loc, zero, depth->sums);
  Value lastBegin = nest.constant((depth->count - 1) * depth->size);
  depth->length = depth->size;
  nest.forLoop(nest.constant(0), lastBegin, depth->size, [&](Value begin) {
    depth->begin = begin;
    body();
  });
  depth->begin = lastBegin;
  depth->length = *nest.getStaticExtent(depth->loop) - *getConstantIntValue(lastBegin);
  depth->isLast = true;
  body();
}

SmallVector<Value> ContractionEmitter::getPlaceOfSum(int64_t row, int64_t vector) {
  Value first = blockOfRows ? blockOfRows : nest.at(*contraction.rowLoop), column = nest.at(contraction.columnLoop);
  return {arith::AddIOp::create(b, loc, first, nest.constant(row)),
          arith::AddIOp::create(b, loc, column, nest.constant(vector * lanes))};
}

void ContractionEmitter::storeSums(ValueRange sums) {
  for (auto [i, sum] : llvm::enumerate(sums))
    vector::StoreOp::create(b, loc, sum, depth->sums, getPlaceOfSum(i / size.vectors, i % size.vectors));
}
