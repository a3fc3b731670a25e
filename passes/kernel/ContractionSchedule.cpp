//===- ContractionSchedule.cpp - the schedule of a contraction in its tiles ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/ContractionSchedule.h"
#include "passes/Kernel.h"
#include "passes/cost/PackingPolicy.h"
#include "passes/kernel/Contraction.h"
#include "passes/kernel/ScratchLayout.h"
#include "passes/kernel/StrassenTile.h"
#include "passes/kernel/contract/MicroKernel.h"
#include "passes/paths/split/Bf16Terms.h"

using namespace mlir;
using namespace tenon;

/// Returns the number of rows that the micro-kernel of a contraction computes at a time in large tiles.
static int64_t getRowStep(kernel::ContractOp op, const Contraction &contraction, const TilePolicy &policy) {
  const MicroKernelEntry *entry = findMicroKernel(kernel::getSchedule(op).getMicroKernel());
  if (!entry)
    entry = findMicroKernelOfPath(/*path=*/"", contraction);
  return entry && entry->rowStep ? entry->rowStep : policy.rowStep;
}

std::optional<TileProblem> tenon::findContraction(linalg::LinalgOp root, ArrayRef<AffineExpr> dims,
                                                  const SizeHints &hints, const TilePolicy &policy) {
  kernel::ContractOp op = findContractionOp(root);
  if (!op)
    return std::nullopt;
  Contraction contraction = *readContraction(op);
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  TileProblem problem;
  for (AffineExpr dim : dims) {
    problem.extents.push_back(getConstant(dim));
    problem.hints.push_back(hints.get(dim));
  }
  problem.panel = std::max<int64_t>(contraction.panel, 1);
  problem.hasBorder = !contraction.lhs.bounds.empty();
  problem.products = getReductionSize(op, policy);
  problem.rowStep = getRowStep(op, contraction, policy);
  problem.splitsLhs = contraction.terms && contraction.terms->splitsLhs();
  problem.packedRowBytes = getPackedRowBytes(op, contraction);
  problem.halfRowBytes = getStrassenRowBytes(op, contraction);
  if (contraction.terms)
    problem.termRowBytes = op.getStaticLoopRanges()[contraction.terms->loop] * contraction.terms->countLhsTerms() *
                           contraction.terms->getBytes();
  for (auto [i, index] : llvm::enumerate(map.getResults())) {
    unsigned loop = cast<AffineDimExpr>(index).getPosition();
    if (loop == contraction.rowLoop)
      problem.row = i;
    if (loop == contraction.columnLoop)
      problem.column = i;
    else if (contraction.rhs.map.isFunctionOfDim(loop))
      problem.matrices.push_back(i);
  }
  return problem;
}

/// Returns upper bounds for the steps of each loop in a tile of `sizes` of the result.
static SmallVector<int64_t> getTileExtents(kernel::ContractOp op, ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  assert(sizes.size() <= map.getNumResults() && "a size is that of a dimension of the result");
  for (auto [i, size] : llvm::enumerate(sizes))
    extents[map.getDimPosition(i)] = size;
  return extents;
}

/// Returns the bytes of the packed copy of the operand that a tile of `extents` iterations of each loop reads; none if
/// the kernel packs no tiles. Int8 operands are packed, as i16, only for vpmaddwd, unless a path has named another
/// micro-kernel.
static std::optional<int64_t> getTileBytes(kernel::ContractOp op, const Contraction &contraction,
                                           ArrayRef<int64_t> extents) {
  bool staysInt8 = contraction.dot4Loop && (getMachine(op).int8Dot != Int8Dot::pmaddWd ||
                                            kernel::getSchedule(op).getMicroKernel() != kernel::MicroKernel::automatic);
  return staysInt8 ? std::nullopt : getPackedTileBytes(op, contraction, extents);
}

/// Chooses how a tile of `extents` iterations of each loop packs its part of the LHS.
static kernel::Packing choosePacking(kernel::ContractOp op, const Contraction &contraction, ArrayRef<int64_t> extents) {
  if (packsColumns(op, contraction) && extents[contraction.columnLoop] % PackingPolicy().columns != 0)
    return kernel::Packing::none;
  if (contraction.terms && contraction.terms->splitsLhs())
    return kernel::Packing::split;
  std::optional<int64_t> bytes = getTileBytes(op, contraction, extents);
  return bytes && *bytes <= getMaxTileBytes(contraction) ? kernel::Packing::tile : kernel::Packing::none;
}

/// Tiles with packed columns have few columns and more lines, because neighbouring tiles pack the lines between them
/// twice.
static void choosePackedColumns(kernel::ContractOp op, const TileProblem &problem, SmallVector<int64_t> &sizes) {
  if (!packsColumns(op, *readContraction(op)))
    return;
  assert(sizes[problem.column] > 0 && "a tile has a column");
  int64_t columns = std::min<int64_t>(sizes[problem.column], 2 * PackingPolicy().columns),
          more = sizes[problem.column] / columns;
  sizes[problem.column] = columns;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (unsigned i = sizes.size(); i-- > 0;) {
    int64_t extent = ranges[map.getDimPosition(i)];
    if (i == problem.column || i == problem.row || ShapedType::isDynamic(extent) || extent == 0)
      continue;
    // Parts of nearly equal size.
    int64_t wanted = std::min(sizes[i] * more, extent), parts = std::max<int64_t>((extent + wanted / 2) / wanted, 1);
    int64_t size = llvm::divideCeil(extent, parts);
    more = std::max<int64_t>(more * sizes[i] / size, 1);
    sizes[i] = size;
  }
}

/// Makes tiles smaller if one reads more than fits the scratch of a thread: first fewer lines of pixels, then fewer
/// rows.
static void splitPromotedTiles(kernel::ContractOp op, const TileProblem &problem, SmallVector<int64_t> &sizes) {
  Contraction contraction = *readContraction(op);
  auto isTooLarge = [&] {
    std::optional<int64_t> bytes = getTileBytes(op, contraction, getTileExtents(op, sizes));
    return bytes && *bytes > getMaxTileBytes(contraction);
  };
  auto cut = [&](unsigned i) {
    while (sizes[i] > 1 && isTooLarge())
      sizes[i] = llvm::divideCeil(sizes[i], 2);
  };
  for (unsigned i = 0; i < sizes.size(); ++i)
    if (i != problem.column && i != problem.row)
      cut(i);
  if (problem.row)
    cut(*problem.row);
}

SmallVector<int64_t> tenon::chooseContractionTile(kernel::ContractOp op, const TileProblem &problem,
                                                  const TilePolicy &policy) {
  SmallVector<int64_t> tile = problem.panel > 1 ? choosePanelTile(problem, policy) : choosePlainTile(problem, policy);
  choosePackedColumns(op, problem, tile);
  if (!problem.packedRowBytes)
    splitPromotedTiles(op, problem, tile);
  return tile;
}

/// Chooses the versions of a contraction's code by number of rows; `sizes` are upper bounds for a tile in each
/// dimension of the result.
static RowVersions chooseRows(kernel::ContractOp op, const TileProblem &problem, ArrayRef<AffineExpr> dims,
                              ArrayRef<int64_t> sizes, const TilePolicy &policy) {
  if (!problem.row)
    return {};
  AffineExpr rows = dims[*problem.row];
  Extent columns = problem.extents[problem.column];
  bool isNear = columns && *columns * problem.products * int64_t(sizeof(float)) <= getMachine(op).l2Bytes;
  int64_t dynamicSymbols = 0;
  rows.walk([&](AffineExpr expr) { dynamicSymbols += isa<AffineDimExpr, AffineSymbolExpr>(expr); });
  return chooseRowVersions(problem.extents[*problem.row], sizes[*problem.row], rows.getLargestKnownDivisor(),
                           dynamicSymbols, isNear, policy);
}

/// Returns the K-block of terms that are summed in one loop; 0 for the whole sum.
static int64_t chooseKBlock(kernel::ContractOp op, const Contraction &contraction, const TileProblem &problem,
                            ArrayRef<int64_t> sizes, const TilePolicy &policy) {
  if (!contraction.terms || op.getNumReductionLoops() != 1)
    return 0;
  std::optional<int64_t> maxSplitDepth;
  if (contraction.terms->splitsRhs())
    maxSplitDepth = kMaxSplitDepth;
  return chooseTermKBlock(problem, sizes, op.getStaticLoopRanges()[contraction.terms->loop], contraction.terms->step,
                          maxSplitDepth, policy);
}

/// True if the rows of a tile, of `rowBytes` each, are few enough to be packed.
static bool canPackRows(const TileProblem &problem, ArrayRef<int64_t> sizes, int64_t rowBytes,
                        const TilePolicy &policy) {
  return problem.row && rowBytes && sizes[*problem.row] <= policy.maxPackedRowsBytes / rowBytes &&
         !hasOtherDims(problem, sizes);
}

kernel::ScheduleAttr tenon::makeSchedule(kernel::ContractOp op, const TileProblem *problem, ArrayRef<AffineExpr> dims,
                                         ArrayRef<int64_t> sizes, const TilePolicy &policy,
                                         const ScheduleDraft &draft) {
  Contraction contraction = *readContraction(op);
  kernel::ScheduleFields fields;
  fields.microKernel = kernel::getSchedule(op).getMicroKernel();
  fields.tile = getTileExtents(op, sizes);
  bool packsRows = problem && canPackRows(*problem, sizes, problem->packedRowBytes, policy);
  if (draft.packing)
    packsRows = problem && draft.packing == kernel::Packing::rows &&
                canPackRows(*problem, sizes, getPackableRowBytes(op, contraction), policy);
  if (problem && (problem->panel > 1 || problem->packedRowBytes || packsRows)) {
    RowVersions rows = chooseRows(op, *problem, dims, sizes, policy);
    fields.lastRows = rows.lastRows;
    fields.rowVersions = rows.rowVersions;
    fields.manyRows = rows.manyRows;
  }
  fields.packing = packsRows ? kernel::Packing::rows : choosePacking(op, contraction, fields.tile);
  if (draft.packing == kernel::Packing::none && fields.packing == kernel::Packing::tile)
    fields.packing = kernel::Packing::none;
  fields.kBlock = contraction.terms && problem ? chooseKBlock(op, contraction, *problem, sizes, policy) : draft.kBlock;
  draft.setFields(fields);
  for (int64_t &extent : fields.tile)
    if (extent == std::numeric_limits<int64_t>::max())
      extent = ShapedType::kDynamic;
  return kernel::ScheduleAttr::get(op.getContext(), fields);
}
