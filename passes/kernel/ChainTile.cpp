//===- ChainTile.cpp - what a tile reads of the loop nest before ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/ChainTile.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Kernel.h"
#include "passes/kernel/Contraction.h"

using namespace mlir;
using namespace tenon;

Operation *tenon::findLink(func::FuncOp kernel) {
  for (Operation &op : kernel.getBody().front())
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op) && op.hasAttr(kChainTileAttr))
      return &op;
  return nullptr;
}

/// `expr`, of `operands` as symbols.
static OpFoldResult compute(OpBuilder &b, Location loc, AffineExpr expr, ArrayRef<OpFoldResult> operands) {
  return affine::makeComposedFoldedAffineApply(b, loc, AffineMap::get(0, operands.size(), expr), operands);
}

/// Fuses the producers of `slice`, which is in the loop, into the loop: a chain of stages, each of which updates the
/// result of the one before it in place.
static FailureOr<Value> computeInLoop(RewriterBase &rewriter, scf::ForOp tiles, tensor::ExtractSliceOp slice) {
  SmallVector<LoopLikeOpInterface> loops{cast<LoopLikeOpInterface>(tiles.getOperation())};
  SmallVector<Operation *> pending{slice};
  Value result;
  while (!pending.empty()) {
    auto candidate = dyn_cast<tensor::ExtractSliceOp>(pending.pop_back_val());
    Operation *producer = candidate ? candidate.getSource().getDefiningOp() : nullptr;
    if (!producer || tiles->isProperAncestor(producer) || !isa<TilingInterface>(producer))
      continue;
    std::optional<scf::SCFFuseProducerOfSliceResult> fused =
        scf::tileAndFuseProducerOfSlice(rewriter, candidate, loops);
    if (!fused)
      return failure();
    rewriter.replaceOp(candidate, fused->tiledAndFusedProducer);
    result = result ? result : fused->tiledAndFusedProducer;
    llvm::append_range(pending, fused->generatedSlices);
  }
  if (!result)
    return failure();
  return result;
}

/// Sets the insertion point after the index arithmetic at the start of the loop body, before the first operation on
/// tensors.
static void setToBegin(RewriterBase &rewriter, scf::ForOp tiles) {
  for (Operation &op : *tiles.getBody())
    if (op.getNumResults() == 0 || !op.getResult(0).getType().isIndex())
      return rewriter.setInsertionPoint(&op);
}

/// The first nest computes images, and the second one reads them as rows: computes the image lines that a tile of rows
/// covers.
static LogicalResult computeRows(RewriterBase &rewriter, scf::ForOp tiles, tensor::CollapseShapeOp link,
                                 ArrayRef<OpFoldResult> offsets, int64_t rows) {
  Location loc = link.getLoc();
  ArrayRef<int64_t> image = link.getSrcType().getShape();
  setToBegin(rewriter, tiles);
  AffineExpr row = rewriter.getAffineSymbolExpr(0);
  assert(image.size() == 4 && image[2] > 0 && rows % image[2] == 0 && "a tile of a chain has whole lines of an image");
  OpFoldResult number = compute(rewriter, loc, row.floorDiv(image[1] * image[2]), offsets.front());
  OpFoldResult line = compute(rewriter, loc, (row % (image[1] * image[2])).floorDiv(image[2]), offsets.front());
  OpFoldResult zero = rewriter.getIndexAttr(0), one = rewriter.getIndexAttr(1);
  SmallVector<OpFoldResult> from{number, line, zero, zero}, steps(4, one);
  SmallVector<OpFoldResult> sizes =
      getAsIndexOpFoldResult(rewriter.getContext(), {1, rows / image[2], image[2], image[3]});
  auto slice = tensor::ExtractSliceOp::create(rewriter, loc, link.getSrc(), from, sizes, steps);
  FailureOr<Value> lines = computeInLoop(rewriter, tiles, slice);
  if (failed(lines))
    return failure();
  rewriter.setInsertionPointAfterValue(*lines);
  Value read = tensor::CollapseShapeOp::create(rewriter, loc, *lines, link.getReassociationIndices());
  for (Operation *user : llvm::make_early_inc_range(link->getUsers())) {
    auto part = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!tiles->isProperAncestor(user) || isa<tensor::DimOp>(user))
      continue;
    if (!part || part.getType() != read.getType())
      return failure();
    rewriter.replaceOp(part, read);
  }
  return success();
}

std::optional<int64_t> tenon::countLinesOfTile(kernel::ContractOp reader, int64_t lines, int64_t extent) {
  std::optional<Contraction> contraction = readContraction(reader);
  if (!contraction || contraction->lhs.map.getNumResults() != 4)
    return std::nullopt;
  AffineMap result = reader.getMatchingIndexingMap(reader.getDpsInitOperand(0));
  int64_t count = 1;
  SmallVector<int64_t> ranges = reader.getStaticLoopRanges();
  for (auto [loop, range] : llvm::enumerate(ranges)) {
    std::optional<int64_t> step = getStep(contraction->lhs.map.getResult(1), loop);
    if (!step || *step < 0)
      return std::nullopt;
    bool isLine = result.getNumResults() == 4 && result.getResult(1).isFunctionOfDim(loop);
    if (*step > 0)
      count += *step * (std::min(isLine ? lines : range, extent) - 1);
  }
  return std::min(count, extent);
}

namespace {
/// The lines that a tile of the second loop nest reads.
struct Lines {
  OpFoldResult first;
  int64_t count;
};
} // namespace

/// Computes which of `extent` lines the windows of `tileLines` result lines read. The range is clamped to the image, so
/// at its border it has some lines that no window reads.
static std::optional<Lines> findLines(RewriterBase &rewriter, kernel::ContractOp op, const ElementRead &read,
                                      int64_t extent, int64_t tileLines) {
  AffineExpr index = read.map.getResult(1), first = index;
  assert(extent > 0 && tileLines > 0 && "a tile of an image has a line");
  int64_t count = 1;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (auto [loop, range] : llvm::enumerate(ranges)) {
    std::optional<int64_t> step = getStep(index, loop);
    if (!step || *step < 0)
      return std::nullopt;
    count += *step * (std::min(ShapedType::isDynamic(range) ? tileLines : range, extent) - 1);
    first = first.replace(rewriter.getAffineDimExpr(loop), rewriter.getAffineConstantExpr(0));
  }
  count = std::min(count, extent);
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> symbols = getAsOpFoldResult(read.symbols);
  Value begin = getValueOrCreateConstantIndexOp(rewriter, loc, compute(rewriter, loc, first, symbols));
  Value last = arith::ConstantIndexOp::create(rewriter, loc, extent - count),
        zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value clamped = arith::MaxSIOp::create(rewriter, loc, arith::MinSIOp::create(rewriter, loc, begin, last), zero);
  return Lines{clamped, count};
}

/// Returns the contraction in the loop that reads `image` through its windows.
static kernel::ContractOp findReader(scf::ForOp tiles, Value image) {
  for (auto op : tiles.getOps<kernel::ContractOp>())
    if (std::optional<Contraction> contraction = readContraction(op); contraction && contraction->lhs.memory == image)
      return op;
  return {};
}

/// The first nest computes rows, and the second one reads them as images: computes the lines and channels that the
/// windows of a tile read.
static LogicalResult computeLines(RewriterBase &rewriter, scf::ForOp tiles, tensor::ExpandShapeOp link,
                                  ArrayRef<OpFoldResult> offsets, ArrayRef<int64_t> tile) {
  Location loc = link.getLoc();
  ArrayRef<int64_t> image = link.getResultType().getShape();
  assert(image.size() == 4 && offsets.size() == 4 && tile.size() == 4 && "an image has lines of pixels with channels");
  kernel::ContractOp reader = findReader(tiles, link.getResult());
  if (!reader)
    return failure();
  setToBegin(rewriter, tiles);
  std::optional<Lines> lines = findLines(rewriter, reader, readContraction(reader)->lhs, image[1], tile[1]);
  if (!lines)
    return failure();
  AffineExpr number = rewriter.getAffineSymbolExpr(0), line = rewriter.getAffineSymbolExpr(1);
  OpFoldResult row = compute(rewriter, loc, (number * image[1] + line) * image[2], {offsets[0], lines->first});
  OpFoldResult one = rewriter.getIndexAttr(1);
  SmallVector<OpFoldResult> from{row, offsets[3]}, steps(2, one);
  SmallVector<OpFoldResult> sizes = getAsIndexOpFoldResult(rewriter.getContext(), {lines->count * image[2], tile[3]});
  auto slice = tensor::ExtractSliceOp::create(rewriter, loc, link.getSrc(), from, sizes, steps);
  FailureOr<Value> rows = computeInLoop(rewriter, tiles, slice);
  if (failed(rows))
    return failure();
  rewriter.setInsertionPointAfterValue(*rows);
  auto type = RankedTensorType::get({1, lines->count, image[2], tile[3]}, link.getResultType().getElementType());
  Value read = tensor::ExpandShapeOp::create(rewriter, loc, type, *rows, link.getReassociationIndices());
  SmallVector<OpFoldResult> begin{offsets[0], lines->first, rewriter.getIndexAttr(0), offsets[3]};
  for (Operation *user : llvm::make_early_inc_range(link->getUsers())) {
    auto element = dyn_cast<tensor::ExtractOp>(user);
    if (!tiles->isProperAncestor(user) || isa<tensor::DimOp>(user))
      continue;
    if (!element)
      return failure();
    rewriter.setInsertionPoint(element);
    SmallVector<Value> indices;
    AffineExpr there = rewriter.getAffineSymbolExpr(0), origin = rewriter.getAffineSymbolExpr(1);
    for (auto [index, first] : llvm::zip(element.getIndices(), begin))
      indices.push_back(
          getValueOrCreateConstantIndexOp(rewriter, loc, compute(rewriter, loc, there - origin, {index, first})));
    rewriter.replaceOpWithNewOp<tensor::ExtractOp>(element, read, indices);
  }
  return success();
}

LogicalResult tenon::computeLinkInTiles(RewriterBase &rewriter, scf::ForOp tiles, Operation *link) {
  auto yield = cast<scf::YieldOp>(tiles.getBody()->getTerminator());
  auto result = yield.getOperand(0).getDefiningOp<tensor::InsertSliceOp>();
  ArrayRef<int64_t> tile = link->getAttrOfType<DenseI64ArrayAttr>(kChainTileAttr).asArrayRef();
  if (!result)
    return failure();
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(link))
    return computeRows(rewriter, tiles, collapse, result.getMixedOffsets(), tile[0]);
  return computeLines(rewriter, tiles, cast<tensor::ExpandShapeOp>(link), result.getMixedOffsets(), tile);
}
