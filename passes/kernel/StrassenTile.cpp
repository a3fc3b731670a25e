//===- StrassenTile.cpp - what a product of halves keeps of a tile --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/StrassenTile.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/cost/CacheLines.h"
#include "passes/cost/EmitterPolicy.h"
#include "passes/paths/strassen/Strassen.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;

static constexpr int64_t kLineElements = kCacheLineBytes / int64_t(sizeof(float)); // format: of f32

static bool isPlainProduct(const Contraction &contraction) {
  return contraction.panel > 0 && contraction.rowLoop && !contraction.isColumnwise && !contraction.isGrouped &&
         !contraction.promotesLhs && !contraction.dequantization && !contraction.terms && !contraction.integerGroups &&
         !contraction.dot4Loop && !contraction.isPackedI16 && !contraction.isPackedBf16 &&
         contraction.lhs.bounds.empty() && contraction.lhs.symbols.empty();
}

/// The number of steps of the sum, if there is one summed loop and its extent is static.
static std::optional<int64_t> getDepth(kernel::ContractOp op) {
  SmallVector<unsigned> summed;
  op.getReductionDims(summed);
  if (summed.size() != 1)
    return std::nullopt;
  int64_t depth = op.getStaticLoopRanges()[summed.front()];
  return ShapedType::isDynamic(depth) ? std::nullopt : std::optional(depth);
}

bool tenon::multipliesHalves(kernel::ContractOp op, const Contraction &contraction) {
  if (kernel::getSchedule(op).getMicroKernel() != kernel::MicroKernel::strassen_fma)
    return false;
  std::optional<int64_t> depth = getDepth(op);
  if (!isPlainProduct(contraction) || op.getNumLoops() != 3 || !depth || *depth == 0 || *depth % 2 != 0)
    return false;
  SmallVector<unsigned> summed;
  op.getReductionDims(summed);
  MLIRContext *context = op.getContext();
  AffineExpr row = getAffineDimExpr(*contraction.rowLoop, context), step = getAffineDimExpr(summed.front(), context),
             column = getAffineDimExpr(contraction.columnLoop, context);
  AffineExpr panel = column.floorDiv(contraction.panel), inPanel = column % contraction.panel;
  auto isOfF32 = [](Value memory) { return getElementTypeOrSelf(memory).isF32(); };
  return contraction.lhs.map == AffineMap::get(3, 0, {row, step}, context) &&
         contraction.rhs.map == AffineMap::get(3, 0, {panel, step, inPanel}, context) &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)) == AffineMap::get(3, 0, {row, column}, context) &&
         isOfF32(contraction.lhs.memory) && isOfF32(contraction.rhs.memory) && isOfF32(op.getInit());
}

/// An odd number of cache lines, so that rows do not map to few sets of L1.
static int64_t getRowStride(int64_t halfDepth) {
  return int64_t(llvm::divideCeil(halfDepth, kLineElements) | 1) * kLineElements;
}

int64_t tenon::getStrassenRowBytes(kernel::ContractOp op, const Contraction &contraction) {
  if (!multipliesHalves(op, contraction))
    return 0;
  return kStrassenProducts * getRowStride(*getDepth(op) / 2) * int64_t(sizeof(float)) / 2;
}

std::optional<StrassenTile> tenon::getStrassenTile(kernel::ContractOp op, const Contraction &contraction) {
  kernel::ScheduleAttr schedule = kernel::getSchedule(op);
  if (!multipliesHalves(op, contraction))
    return std::nullopt;
  StrassenTile tile;
  unsigned rowLoop = *contraction.rowLoop;
  tile.rows = schedule.getTile().empty() ? op.getStaticLoopRanges()[rowLoop] : schedule.getTile()[rowLoop];
  tile.lastRows = schedule.getLastRows();
  if (ShapedType::isDynamic(tile.rows))
    return std::nullopt;
  tile.pairs = llvm::divideCeilSigned(tile.rows, 2);
  tile.depth = *getDepth(op) / 2;
  tile.rowStride = getRowStride(tile.depth);
  tile.panel = contraction.panel;
  const EmitterPolicy policy;
  // Parts of equal size.
  int64_t parts = llvm::divideCeilSigned(tile.depth, policy.maxHalfKBlock);
  tile.kBlock = schedule.getKBlock() ? std::min(schedule.getKBlock(), tile.depth)
                                     : int64_t(llvm::divideCeilSigned(tile.depth, parts));
  return tile;
}

void tenon::addStrassenScratch(ScratchLayout &layout, const StrassenTile &tile) {
  auto add = [&](ScratchUse use, int64_t elements) { layout.add(use, elements * int64_t(sizeof(float))); };
  add(ScratchUse::strassenRows, kStrassenProducts * tile.pairs * tile.rowStride);
  add(ScratchUse::strassenScales, tile.pairs * 2);
  add(ScratchUse::strassenPanel, tile.kBlock * tile.panel);
  add(ScratchUse::strassenProducts, kStrassenProducts * tile.pairs * tile.panel);
}
