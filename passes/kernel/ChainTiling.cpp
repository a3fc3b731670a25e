//===- ChainTiling.cpp - tiles of two loop nests in one kernel -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Kernel.h"
#include "passes/cost/ChainPolicy.h"
#include "passes/kernel/ChainTile.h"
#include "passes/kernel/Contraction.h"
#include "passes/kernel/ContractionSchedule.h"
#include "passes/kernel/Tiling.h"
#include "passes/kernel/schedules/TileSource.h"

using namespace mlir;
using namespace tenon;

/// Returns the tile of a chain: elements in each dimension of its result.
static SmallVector<int64_t> getTile(Operation *link) {
  return llvm::to_vector(link->getAttrOfType<DenseI64ArrayAttr>(kChainTileAttr).asArrayRef());
}

/// Returns the bytes of what is computed between the two loop nests for a tile; none if the tile would not have whole
/// parts of it.
static std::optional<int64_t> getBytesBetween(linalg::LinalgOp root, Operation *link, ArrayRef<int64_t> tile) {
  int64_t bytes = llvm::divideCeil(getElementTypeOrSelf(link->getResult(0)).getIntOrFloatBitWidth(), 8);
  if (auto rows = dyn_cast<tensor::CollapseShapeOp>(link)) {
    ArrayRef<int64_t> image = rows.getSrcType().getShape();
    // The rows of all images are one dimension: no tile has parts of two images.
    if (tile[0] % image[2] != 0 || image[1] % (tile[0] / image[2]) != 0)
      return std::nullopt;
    return tile[0] * image[3] * bytes;
  }
  ArrayRef<int64_t> image = cast<tensor::ExpandShapeOp>(link).getResultType().getShape();
  kernel::ContractOp reader = findContractionOp(root);
  std::optional<int64_t> lines = reader ? countLinesOfTile(reader, tile[1], image[1]) : std::nullopt;
  if (!lines || image[3] % tile[3] != 0)
    return std::nullopt;
  return *lines * image[2] * tile[3] * bytes;
}

/// Chooses other numbers of lines, and of channels where each has a sum of its own.
static SmallVector<int64_t> chooseTile(linalg::LinalgOp root, Operation *link, const ScheduleChoice &choice) {
  const SchedulePolicy policy;
  const ChainPolicy chains;
  ScheduleDraft own;
  own.tile = getTile(link);
  std::vector<NamedProposal> changes;
  auto vary = [&](unsigned dim, int64_t step, int64_t extent, StringRef name) {
    auto estimate = [&](ArrayRef<int64_t> tile) { return tile == ArrayRef(own.tile) ? 1 : policy.chainTileCost; };
    for (ScheduleProposal &proposal : proposeSizes(own, {dim, step, extent}, estimate, policy))
      changes.push_back({name, std::move(proposal)});
  };
  if (auto rows = dyn_cast<tensor::CollapseShapeOp>(link)) {
    ArrayRef<int64_t> image = rows.getSrcType().getShape();
    vary(0, image[2], image[1] * image[2], "tile lines");
  } else {
    ArrayRef<int64_t> image = cast<tensor::ExpandShapeOp>(link).getResultType().getShape();
    vary(1, 1, image[1], "tile lines");
    vary(3, getMachine(root).panelColumns, image[3], "tile channels");
  }
  auto finish = [&](const ScheduleDraft &draft) {
    std::optional<int64_t> bytes = getBytesBetween(root, link, draft.tile);
    return makeTileSchedule(root.getContext(), bytes && *bytes <= chains.maxTileBytes ? draft.tile : own.tile);
  };
  std::vector<ScheduleAlternative> list = listAlternatives(own, std::move(changes), finish, policy);
  return llvm::to_vector(list[choice.choose(list)].schedule.getTile());
}

Tiling tenon::chooseChainTiling(linalg::LinalgOp root, Operation *link, ArrayRef<AffineExpr> dims,
                                const TilePolicy &policy, const ScheduleChoice &choice) {
  if (choice.isOpen())
    link->setAttr(kChainTileAttr, DenseI64ArrayAttr::get(root.getContext(), chooseTile(root, link, choice)));
  SmallVector<int64_t> sizes = getTile(link);
  assert(sizes.size() <= dims.size() && "a chain was planned with the dimensions of its result");
  // A first loop nest of images does some lines at a time.
  if (auto rows = dyn_cast<tensor::CollapseShapeOp>(link)) {
    ArrayRef<int64_t> image = rows.getSrcType().getShape();
    kernel::ContractOp first = findContractionOp(getStage(rows.getSrc()));
    assert(first && image.size() == 4 && image[2] > 0 && sizes[0] % image[2] == 0 &&
           "a chain of images begins with a convolution of whole lines");
    first.setScheduleAttr(
        makeSchedule(first, /*problem=*/nullptr, /*dims=*/{}, {1, sizes[0] / image[2], image[2], image[3]}, policy));
  }
  MLIRContext *context = root.getContext();
  Tiling tiling{SmallVector<int64_t>(root.getNumLoops(), 0), getDimConstant(context, 1)};
  AffineMap map = root.getMatchingIndexingMap(root.getDpsInitOperand(0));
  for (auto [i, size] : llvm::enumerate(sizes)) {
    if (getConstant(dims[i]) && size >= *getConstant(dims[i]))
      continue;
    unsigned loop = map.getDimPosition(i);
    tiling.sizes[loop] = size;
    tiling.count = mulDims(tiling.count, ceilDivDims(dims[i], getDimConstant(context, size)));
    if (dims[i].isMultipleOf(size))
      tiling.even.push_back(loop);
  }
  return tiling;
}
