//===- TileKernels.cpp - split the work of each kernel into tiles ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/KernelDialect.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "passes/Unsupported.h"
#include "passes/kernel/ChainTile.h"
#include "passes/kernel/Contraction.h"
#include "passes/kernel/ScratchLayout.h"
#include "passes/kernel/Tiling.h"
#include "passes/kernel/WinogradScratch.h"
#include "runtime/format/Kernel.h"

namespace tenon {
#define GEN_PASS_DEF_TILEKERNELS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

/// Returns the bytes of scratch that the stages of a kernel need for a tile, and that the kernel's reports need.
static int64_t getScratch(func::FuncOp kernel) {
  int64_t bytes = 0;
  kernel.walk([&](Operation *op) {
    if (isa<kernel::CheckIndicesOp>(op))
      bytes = std::max<int64_t>(bytes, sizeof(tenon_kernel_index_report));
    else if (auto winograd = dyn_cast<kernel::WinogradOp>(op))
      bytes = std::max(bytes, getWinogradScratch(winograd).layout.getBytes());
    else if (auto contract = dyn_cast<kernel::ContractOp>(op))
      if (std::optional<Contraction> contraction = readContraction(contract))
        bytes = std::max(bytes, getScratchLayout(contract, *contraction).getBytes());
  });
  return bytes;
}

static void setScratch(func::FuncOp kernel) {
  if (int64_t bytes = getScratch(kernel))
    kernel->setAttr(kScratchAttr, IntegerAttr::get(IntegerType::get(kernel.getContext(), 64), bytes));
}

/// Options for a single loop over the range of tiles that a call computes; the number of a tile is delinearized into
/// its position in each tiled dimension.
static scf::SCFTilingOptions getTilingOptions(const Tiling &tiling, Value begin, Value end) {
  SmallVector<OpFoldResult> sizes;
  Builder attrs(begin.getContext());
  for (int64_t size : tiling.sizes)
    sizes.push_back(attrs.getIndexAttr(size));
  scf::SCFTilingOptions options;
  options.setTileSizes(sizes);
  options.setLoopType(scf::SCFTilingOptions::LoopType::CustomOp);

  auto makeHeader = [begin, end, slowest = tiling.slowest, even = tiling.even](
                        RewriterBase &b, Location loc, ArrayRef<Range> ranges, ArrayRef<OpFoldResult> sizes,
                        ValueRange destinations) -> FailureOr<scf::SCFTilingOptions::CustomLoopHeaderInfo> {
    scf::SCFTilingOptions::CustomLoopHeaderInfo header;
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    // The tiled loops, from the slowest to the fastest.
    SmallVector<unsigned> order;
    for (unsigned i = 0; i < sizes.size(); ++i)
      if (!isZeroInteger(sizes[i]))
        order.insert(slowest == i ? order.begin() : order.end(), i);
    SmallVector<Value> counts;
    AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1), s2 = b.getAffineSymbolExpr(2);
    for (unsigned i : order)
      counts.push_back(getValueOrCreateConstantIndexOp(
          b, loc, affine::makeComposedFoldedAffineApply(b, loc, s0.ceilDiv(s1), {ranges[i].size, sizes[i]})));
    auto loop = scf::ForOp::create(b, loc, begin, end, one, destinations);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> positions(sizes.size());
    Value rest = loop.getInductionVar();
    for (size_t i = counts.size(); i-- > 1;) {
      positions[order[i]] = arith::RemUIOp::create(b, loc, rest, counts[i]);
      rest = arith::DivUIOp::create(b, loc, rest, counts[i]);
    }
    positions[order[0]] = rest;
    for (auto [loopNumber, range, size, position] : llvm::enumerate(ranges, sizes, positions)) {
      if (isZeroInteger(size)) {
        header.tileOffset.push_back(range.offset);
        header.tileSizes.push_back(range.size);
        continue;
      }
      OpFoldResult offset = affine::makeComposedFoldedAffineApply(b, loc, s0 * s1, {position, size});
      std::optional<int64_t> extent = getConstantIntValue(range.size), step = getConstantIntValue(size);
      bool isExact = *step == 1 || (extent && *extent % *step == 0) || llvm::is_contained(even, loopNumber);
      header.tileOffset.push_back(offset);
      header.tileSizes.push_back(
          isExact ? size
                  : affine::makeComposedFoldedAffineMin(b, loc, AffineMap::get(0, 3, {s0, s1 - s2}, b.getContext()),
                                                        {size, range.size, offset}));
    }
    header.loops.push_back(loop);
    llvm::append_range(header.destinationTensors, loop.getRegionIterArgs());
    return header;
  };
  auto makeTerminator = [](RewriterBase &b, Location loc, ArrayRef<LoopLikeOpInterface>, ValueRange tiles,
                           ArrayRef<SmallVector<OpFoldResult>> offsets, ArrayRef<SmallVector<OpFoldResult>> sizes,
                           ValueRange destinations) -> LogicalResult {
    SmallVector<Value> results;
    for (auto [tile, offset, size, destination] : llvm::zip(tiles, offsets, sizes, destinations)) {
      SmallVector<OpFoldResult> strides(offset.size(), b.getIndexAttr(1));
      results.push_back(tensor::InsertSliceOp::create(b, loc, tile, destination, offset, size, strides));
    }
    scf::YieldOp::create(b, loc, results);
    return success();
  };
  options.setCustomLoopGenerationFns(makeHeader, makeTerminator);
  return options;
}

/// Returns the loop over lines that yields all of a kernel's results; null if there is none (LineLoops.h).
static scf::ForOp findLineLoop(func::ReturnOp terminator) {
  auto first = terminator.getNumOperands() ? terminator.getOperand(0).getDefiningOp<scf::ForOp>() : scf::ForOp();
  bool givesAll = first && first->hasAttr(kTilesAttr) &&
                  llvm::all_of(terminator.getOperands(), [&](Value value) { return value.getDefiningOp() == first; });
  return givesAll ? first : scf::ForOp();
}

/// Tiles do not overlap in a destination, so a stage in the loop may write its slice to the loop-carried destination.
/// Stages that were cloned for each of their users then become identical, and CSE merges them.
static void nameDestinationsAlike(scf::ForOp loop) {
  for (auto [destination, carried] : llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs()))
    destination.replaceUsesWithIf(carried, [&](OpOperand &use) { return loop->isProperAncestor(use.getOwner()); });
}

/// True if an index is at most `most` in every run.
static bool isAtMost(Value index, int64_t most) {
  FailureOr<int64_t> bound =
      ValueBoundsConstraintSet::computeConstantBound(presburger::BoundType::UB, {index},
                                                     /*stopCondition=*/nullptr, /*closedUB=*/true);
  return succeeded(bound) && *bound <= most;
}

/// Allocates memory that is local to a tile for a full tile; a tile that is truncated at the border uses a part of it.
/// `result` maps the tiled loops to dimensions of the result.
static LogicalResult boundIntermediates(scf::ForOp tiles, AffineMap result, ArrayRef<int64_t> sizes) {
  WalkResult walked = tiles.walk([&](tensor::EmptyOp empty) {
    RankedTensorType type = empty.getType();
    if (type.hasStaticShape() || type.getRank() != result.getNumResults())
      return WalkResult::advance();
    SmallVector<int64_t> whole(type.getShape());
    for (auto [i, extent] : llvm::enumerate(whole)) {
      if (!ShapedType::isDynamic(extent))
        continue;
      extent = sizes[result.getDimPosition(i)];
      // Elements beyond the extent would not belong to the tile.
      if (!isAtMost(empty.getDynamicSize(i), extent)) {
        emitUnsupported(empty, "needs an intermediate buffer of a dynamic extent, which no tile can hold");
        return WalkResult::interrupt();
      }
    }
    OpBuilder b(empty);
    Value memory = tensor::EmptyOp::create(b, empty.getLoc(), whole, type.getElementType());
    SmallVector<OpFoldResult> zeros(whole.size(), b.getIndexAttr(0)), ones(whole.size(), b.getIndexAttr(1));
    Value part = tensor::ExtractSliceOp::create(b, empty.getLoc(), type, memory, zeros, empty.getMixedSizes(), ones);
    empty.replaceAllUsesWith(part);
    empty.erase();
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

/// Returns the region of the kernel, under which times of its schedules are recorded, and removes the attribute.
static KernelRegion takeRegion(func::FuncOp kernel) {
  KernelRegion region;
  if (auto module = kernel->getParentOfType<ModuleOp>())
    region.target = module.getName().value_or("").str();
  if (auto text = dyn_cast_or_null<StringAttr>(kernel->removeAttr(kKernelRegionAttr)))
    region.text = text.getValue().str();
  return region;
}

static LogicalResult tileKernel(func::FuncOp kernel, int64_t tileElements, const TilePolicy &policy,
                                ScheduleChooser *chooser) {
  MLIRContext *context = kernel.getContext();
  Location loc = kernel.getLoc();
  Type index = IndexType::get(context);
  unsigned numArguments = kernel.getNumArguments();
  if (failed(kernel.insertArguments({numArguments, numArguments}, {index, index},
                                    {DictionaryAttr::get(context), DictionaryAttr::get(context)}, {loc, loc})))
    return failure();
  Value begin = kernel.getArgument(numArguments), end = kernel.getArgument(numArguments + 1);

  Dims count{getDimConstant(context, 1)};
  const ScheduleChoice choice{takeRegion(kernel), kernel.getName(), chooser};
  auto terminator = cast<func::ReturnOp>(kernel.getBody().front().getTerminator());
  auto returned = terminator.getNumOperands() == 1 ? dyn_cast<OpResult>(terminator.getOperand(0)) : OpResult();
  auto root = returned ? dyn_cast<TilingInterface>(returned.getOwner()) : TilingInterface();
  if (root) {
    Dims dims;
    for (unsigned i = 0; i < numArguments; ++i)
      if (kernel.getArgAttr(i, kOutputAttr))
        dims = Dims(kernel.getArgAttrOfType<ShapeAttr>(i, kDimsAttr).getDims());
    // A zero extent means that nothing is computed, whatever the other extents are.
    bool isEmpty = llvm::any_of(dims, [](AffineExpr dim) { return getConstant(dim) == 0; });
    kernel::WinogradOp winograd = findWinograd(root);
    linalg::LinalgOp stage = getStage(root.getOperation());
    AffineMap resultMap = stage ? stage.getMatchingIndexingMap(stage.getDpsInitOperand(0)) : AffineMap();
    Operation *link = findLink(kernel);
    SizeHints hints(kernel);
    Tiling tiling =
        winograd ? chooseWinogradTiling(winograd, root, dims, hints, choice)
        : link   ? chooseChainTiling(stage, link, dims, policy, choice)
                 : chooseLoopTiling(stage, returned.getResultNumber(), dims, hints, tileElements, policy, choice);
    setScratch(kernel);
    if (isEmpty)
      count[0] = getDimConstant(context, 0);
    else if (!(stage && reducesNothing(stage)) && llvm::any_of(tiling.sizes, [](int64_t size) { return size != 0; })) {
      count[0] = tiling.count;
      IRRewriter rewriter(context);
      rewriter.setInsertionPoint(root);
      scf::SCFTileAndFuseOptions options;
      options.setTilingOptions(getTilingOptions(tiling, begin, end));
      FailureOr<scf::SCFTileAndFuseResult> tiled = scf::tileConsumerAndFuseProducersUsingSCF(rewriter, root, options);
      if (failed(tiled))
        return kernel.emitError("cannot be tiled");
      for (auto [old, replacement] : tiled->replacements)
        rewriter.replaceAllUsesWith(old, replacement);
      auto loop = cast<scf::ForOp>(tiled->loops.front());
      if (link && failed(computeLinkInTiles(rewriter, loop, link)))
        return kernel.emitError("has two loop nests that cannot be computed by the same tiles");
      nameDestinationsAlike(loop);
      // A slice of uninitialized memory becomes memory of the slice's size.
      RewritePatternSet patterns(context);
      tensor::populateFoldTensorEmptyPatterns(patterns);
      if (failed(applyPatternsGreedily(kernel, std::move(patterns))))
        return kernel.emitError("does not simplify after tiling");
      if (resultMap && failed(boundIntermediates(loop, resultMap, tiling.sizes)))
        return failure();
    }
  } else {
    setScratch(kernel);
  }
  if (scf::ForOp lines = findLineLoop(terminator)) {
    count[0] = cast<ShapeAttr>(lines->getAttr(kTilesAttr)).getDims().front();
    lines.setLowerBound(begin);
    lines.setUpperBound(end);
    lines->removeAttr(kTilesAttr);
  }
  kernel->setAttr(kTilesAttr, ShapeAttr::get(context, count));
  return success();
}

namespace {
struct TileKernels : public tenon::impl::TileKernelsBase<TileKernels> {
  using TileKernelsBase::TileKernelsBase;
  explicit TileKernels(std::shared_ptr<ScheduleChooser> chooser) : chooser(std::move(chooser)) {}
  void runOnOperation() override {
    const TilePolicy policy;
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (kernel->hasAttr(kKernelAttr) && failed(tileKernel(kernel, tileElements, policy, chooser.get())))
        return signalPassFailure();
  }

private:
  std::shared_ptr<ScheduleChooser> chooser; ///< null if the policies choose all schedules
};
} // namespace

std::unique_ptr<Pass> tenon::createTileKernels(std::shared_ptr<ScheduleChooser> chooser) {
  return std::make_unique<TileKernels>(std::move(chooser));
}
