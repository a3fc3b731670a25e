//===- WinogradTiling.cpp - tiles of Winograd convolutions ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/ScheduleRequest.h"
#include "passes/Kernel.h"
#include "passes/kernel/Tiling.h"
#include "passes/kernel/WinogradScratch.h"
#include "passes/kernel/schedules/TileSource.h"
#include "passes/paths/winograd/Schedule.h"

using namespace mlir;
using namespace tenon;

/// Describes the convolution for all images, or for one if their number is not known.
static WinogradProblem getProblem(kernel::WinogradOp op, ArrayRef<AffineExpr> dims, const SizeHints &hints) {
  auto getExtent = [&](unsigned i) { return std::max<int64_t>(hints.get(dims[i]).value_or(1), 1); };
  WinogradProblem problem{static_cast<int64_t>(op.getOutputs()),
                          static_cast<int64_t>(op.getWindow()),
                          getExtent(1),
                          getExtent(2),
                          getFilterChannels(op),
                          getExtent(3),
                          getPanelFilters(op),
                          getFactors(op)};
  problem.images = getExtent(0);
  return problem;
}

/// Chooses the rows, columns and filters of a tile, all squares and panels whole.
static SmallVector<int64_t> chooseTile(kernel::WinogradOp op, ArrayRef<AffineExpr> dims, const SizeHints &hints,
                                       const ScheduleChoice &choice) {
  const SchedulePolicy policy;
  const WinogradPolicy winograd;
  WinogradProblem problem = getProblem(op, dims, hints);
  Machine machine = getMachine(op);
  auto estimate = [&](ArrayRef<int64_t> tile) {
    return estimateWinogradTile(problem,
                                {llvm::divideCeilSigned(tile[0], problem.outputs),
                                 llvm::divideCeilSigned(tile[1], problem.outputs),
                                 llvm::divideCeilSigned(tile[2], problem.panel)},
                                machine, winograd);
  };
  ScheduleDraft own;
  own.tile = llvm::to_vector(op.getTile());
  std::vector<NamedProposal> changes;
  auto vary = [&](unsigned dim, int64_t step, int64_t extent, StringRef name) {
    for (ScheduleProposal &proposal : proposeSizes(own, {dim, step, llvm::alignTo(extent, step)}, estimate, policy))
      changes.push_back({name, std::move(proposal)});
  };
  vary(0, problem.outputs, problem.height, "tile rows");
  vary(1, problem.outputs, problem.width, "tile columns");
  vary(2, problem.panel, problem.filters, "tile filters");
  auto finish = [&](const ScheduleDraft &draft) {
    bool fits = getWinogradScratch(op, draft.tile).layout.getBytes() <= winograd.maxScratchBytes;
    return makeTileSchedule(op.getContext(), fits ? draft.tile : own.tile);
  };
  std::vector<ScheduleAlternative> list = listAlternatives(own, std::move(changes), finish, policy);
  return llvm::to_vector(list[choice.choose(list)].schedule.getTile());
}

Tiling tenon::chooseWinogradTiling(kernel::WinogradOp op, TilingInterface root, ArrayRef<AffineExpr> dims,
                                   const SizeHints &hints, const ScheduleChoice &choice) {
  assert(dims.size() == 4 && "images have lines of pixels with filters");
  if (choice.isOpen())
    op.setTile(chooseTile(op, dims, hints, choice));
  MLIRContext *context = op.getContext();
  if (multipliesInAmxTiles(getFactors(op), getMachine(op)) && getPanelFilters(op) == kTermColumns) {
    kernel::ScheduleFields products;
    products.microKernel = kernel::MicroKernel::amx_bf16;
    op->setAttr(kernel::kScheduleAttr, kernel::ScheduleAttr::get(context, products));
  }
  Tiling tiling{SmallVector<int64_t>(root.getLoopIteratorTypes().size(), 0), getDimConstant(context, 1)};
  linalg::LinalgOp stage = getStage(root.getOperation());
  for (unsigned i = 0; i < dims.size(); ++i) {
    int64_t size = i == 0 ? 1 : op.getTile()[i - 1];
    assert(size > 0 && "a tile of a convolution has an element");
    if (std::optional<int64_t> extent = getConstant(dims[i]); extent && size >= *extent)
      continue;
    unsigned loop = i;
    if (stage)
      loop = stage.getMatchingIndexingMap(stage.getDpsInitOperand(0)).getDimPosition(i);
    tiling.sizes[loop] = size;
    tiling.count = mulDims(tiling.count, ceilDivDims(dims[i], getDimConstant(context, size)));
    // Each panel of weights is read by one thread only, and only once.
    if (i == 3)
      tiling.slowest = loop;
  }
  return tiling;
}
