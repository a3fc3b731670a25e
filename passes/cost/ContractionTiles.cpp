//===- ContractionTiles.cpp - how the result of a contraction is tiled ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/ContractionTiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <tuple>

using namespace tenon;
using llvm::alignTo;
using llvm::ArrayRef;
using llvm::divideCeil;
using llvm::SmallVector;

/// Returns a divisor of `extent` that is at most `limit` and not much smaller; `limit` if there is none.
static int64_t findEvenPart(Extent extent, int64_t limit) {
  for (int64_t size = limit; extent && 2 * size > limit; --size)
    if (*extent % size == 0)
      return size;
  return limit;
}

/// The number of elements of the result; none if an extent is dynamic.
static Extent countElements(ArrayRef<Extent> extents) {
  if (llvm::is_contained(extents, Extent(0)))
    return 0;
  int64_t count = 1;
  for (Extent extent : extents) {
    if (!extent)
      return std::nullopt;
    count *= *extent;
  }
  return count;
}

SmallVector<int64_t> tenon::choosePlainTile(const TileProblem &problem, const TilePolicy &policy) {
  SmallVector<int64_t> sizes(problem.extents.size(), 1);
  int64_t elements = 1;
  auto choose = [&](unsigned i, int64_t limit, int64_t step) {
    int64_t extent = problem.hints[i].value_or(limit);
    // Divides the extent evenly, so that the last part is not much smaller than the others.
    int64_t parts = std::max<int64_t>(1, divideCeil(extent, limit));
    sizes[i] = std::max<int64_t>(1, std::min<int64_t>(alignTo(divideCeil(extent, parts), step), extent));
    elements *= sizes[i];
  };
  Extent all = countElements(problem.extents), columns = problem.extents[problem.column];
  int64_t most = policy.maxPlainElements, mostColumns = policy.plainColumns;
  if (all && columns && *all < *columns * 2 * policy.plainRows)
    mostColumns = std::clamp(*columns / policy.fewTiles, policy.lastDimStep, policy.plainColumns);
  else if (all)
    most = std::clamp(*all / policy.fewTiles, policy.minPlainElements, policy.maxPlainElements);
  if (problem.row)
    choose(*problem.row, problem.hasBorder ? policy.borderRows : policy.plainRows, 1);
  int64_t step = policy.lastDimStep;
  choose(problem.column, std::clamp<int64_t>(policy.maxPlainElements / elements / step * step, step, mostColumns),
         step);
  int64_t rows = problem.row ? sizes[*problem.row] : 1,
          work = problem.products * std::max<int64_t>(policy.readingRows / rows, 1);
  for (unsigned i = sizes.size(); i-- > 0;)
    if (i != problem.column && i != problem.row) {
      int64_t limit = std::max<int64_t>(1, std::min(most, policy.maxPlainProducts / work) / elements);
      choose(i, findEvenPart(problem.hints[i], limit), 1);
    }
  return sizes;
}

/// Returns the largest number of columns whose sums fit between K-blocks, if possible a number that divides the extent
/// evenly.
static int64_t chooseKBlockColumns(int64_t extent, int64_t step, const TilePolicy &policy) {
  for (int64_t columns = policy.kBlockColumns; columns >= policy.kBlockColumns / 2; columns -= step)
    if (extent % columns == 0)
      return columns;
  return policy.kBlockColumns;
}

/// Counts tiles along all dimensions but `excluded`; a dynamic dimension counts as one tile.
static int64_t countTiles(ArrayRef<Extent> extents, ArrayRef<int64_t> sizes, std::optional<size_t> excluded = {}) {
  int64_t count = 1;
  for (auto [i, extent] : llvm::enumerate(extents))
    if (i != excluded)
      count *= divideCeil(extent.value_or(sizes[i]), sizes[i]);
  return count;
}

/// Chooses the columns of a tile with terms. A tile splits its first panels before it multiplies anything, and the
/// others while it multiplies; so tiles are as wide as possible while each thread still gets one.
static Extent chooseTermColumns(Extent extent, int64_t otherTiles, int64_t step, const TilePolicy &policy) {
  if (!extent)
    return std::nullopt;
  int64_t columns = *extent / divideCeil(policy.someTiles, std::max<int64_t>(otherTiles, 1));
  return std::clamp<int64_t>(alignTo(columns, step), step, policy.kBlockColumns);
}

/// Makes tiles smaller if there are too few to balance the threads. Rows are split first: with tiles of columns, a
/// thread reads data that another one wrote to its cache; with tiles of rows, it mostly reads its own. A dynamic number
/// of rows may be one tile.
static void splitFewTiles(SmallVector<int64_t> &sizes, const TileProblem &problem, int64_t columnStep, int64_t fewRows,
                          const TilePolicy &policy) {
  ArrayRef<Extent> extents = problem.extents;
  int64_t &rows = sizes[*problem.row], &columns = sizes[problem.column];
  auto halve = [](int64_t size, int64_t step) -> int64_t { return alignTo(divideCeil(size, 2), step); };
  while (countTiles(extents, sizes) < policy.fewTiles && rows >= 2 * fewRows)
    rows = halve(rows, problem.halfRowBytes ? 2 : 1);
  if (problem.termRowBytes || !extents[*problem.row])
    return;
  while (countTiles(extents, sizes) < policy.fewTiles && columns >= 2 * columnStep)
    columns = halve(columns, columnStep);
  if (countTiles(extents, sizes) >= policy.minTiles)
    return;
  columns = std::min(columns, problem.panel);
  if (rows >= policy.twoBlocks)
    rows = halve(rows, 1);
}

/// True if a tile spans all columns: the LHS is split to bf16 terms in the kernel, there are few columns, the terms of
/// some rows fit in scratch, and there are rows for some tiles.
static bool isWide(const TileProblem &problem, const TilePolicy &policy) {
  int64_t rows = 1;
  for (auto [i, extent] : llvm::enumerate(problem.extents))
    rows *= i == problem.column ? 1 : extent.value_or(1);
  Extent columns = problem.extents[problem.column];
  return problem.splitsLhs && columns && *columns <= policy.maxWideColumns && problem.products <= policy.maxWideDepth &&
         rows >= policy.minWideRows;
}

namespace {
/// Chooses a tile of a contraction with panels, dimension by dimension.
class PanelTile {
public:
  PanelTile(const TileProblem &problem, const TilePolicy &policy);
  SmallVector<int64_t> choose();

private:
  bool isMatrix(unsigned dim) const { return llvm::is_contained(problem.matrices, dim); }
  void chooseRows(unsigned dim);
  void chooseMatrices(unsigned dim);
  int64_t chooseColumns();

  const TileProblem &problem;
  const TilePolicy &policy;
  const bool hasKBlocks; ///< true if the terms of some rows do not fit L2
  const bool spansColumns;
  SmallVector<int64_t> sizes;
  int64_t maxRows, rows = 1; ///< rows of all dimensions but those of columns and matrices
  int64_t columnStep, products, fewRows;
};
} // namespace

PanelTile::PanelTile(const TileProblem &problem, const TilePolicy &policy)
    : problem(problem), policy(policy), hasKBlocks(problem.termRowBytes * policy.leastTermRows > policy.maxTermBytes),
      spansColumns(isWide(problem, policy)), sizes(problem.extents.size(), 1), maxRows(policy.packedRows),
      columnStep(policy.columnStep), products(policy.packedProducts), fewRows(policy.fewRows) {
  if (spansColumns)
    maxRows = policy.maxPackedElements / std::max<int64_t>(problem.extents[problem.column].value_or(1), 1);
  if (problem.packedRowBytes)
    maxRows = std::clamp<int64_t>(policy.maxPackedRowsBytes / problem.packedRowBytes, 1, maxRows);
  if (problem.halfRowBytes) {
    maxRows = std::clamp<int64_t>(policy.maxHalfRowsBytes / problem.halfRowBytes, 2, maxRows);
    columnStep = std::max(columnStep, 2 * problem.panel);
    fewRows = policy.fewHalvedRows;
  }
  if (!problem.termRowBytes)
    return;
  int64_t termBytes = spansColumns ? policy.maxSplitTermBytes : policy.maxTermBytes;
  maxRows = hasKBlocks ? policy.kBlockRows : std::min(termBytes / problem.termRowBytes, maxRows);
  columnStep = 2 * problem.panel;
  products = policy.termProducts;
  fewRows = spansColumns ? problem.rowStep : policy.leastTermRows;
}

void PanelTile::chooseRows(unsigned dim) {
  int64_t extent = problem.extents[dim].value_or(maxRows), limit = std::max<int64_t>(maxRows / rows, 1);
  int64_t parts = std::max<int64_t>(1, divideCeil(extent, limit));
  sizes[dim] = std::max<int64_t>(1, divideCeil(extent, parts));
  if (dim == problem.row && parts > 1 && !problem.packedRowBytes)
    sizes[dim] = std::min(alignTo(sizes[dim], problem.halfRowBytes ? 2 : problem.rowStep), uint64_t(extent));
  rows *= sizes[dim];
}

/// Several matrices, even parts of all, are a tile only where one has too little work and there are enough tiles: they
/// share nothing.
void PanelTile::chooseMatrices(unsigned dim) {
  int64_t work = problem.products;
  for (int64_t size : sizes)
    work *= size;
  Extent extent = problem.extents[dim];
  int64_t limit = std::min(products / std::max<int64_t>(work, 1), countTiles(problem.extents, sizes) / policy.fewTiles);
  sizes[dim] = std::max<int64_t>(findEvenPart(extent, std::min(limit, extent.value_or(1))), 1);
}

int64_t PanelTile::chooseColumns() {
  Extent extent = problem.extents[problem.column];
  // With one row the kernel is bound by memory bandwidth, and several panels per tile keep the hardware prefetcher
  // streaming; unless these are few tiles, each of which reads for long, so that threads share them unevenly.
  int64_t minColumns = 1;
  bool isUneven = extent && int64_t(divideCeil(*extent, policy.singleRowColumns)) < policy.someTiles;
  if (rows == 1 && !problem.termRowBytes && !isUneven)
    std::tie(minColumns, columnStep) = std::pair(policy.singleRowColumns, problem.panel);
  // A tile has enough work to amortize its start, but there are enough tiles for all threads.
  int64_t work = std::max(rows, policy.readingRows) * problem.products;
  int64_t columns = alignTo(std::clamp<int64_t>(products / work, minColumns, 8 * policy.columnStep), columnStep);
  if (spansColumns)
    columns = std::max<int64_t>(extent.value_or(0), 1);
  else if (problem.termRowBytes)
    columns = chooseTermColumns(extent, countTiles(problem.extents, sizes, problem.column), columnStep, policy)
                  .value_or(columns);
  columns = std::min(columns, std::max(policy.maxPackedElements / rows / columnStep * columnStep, columnStep));
  if (hasKBlocks)
    return chooseKBlockColumns(extent.value_or(policy.kBlockColumns), columnStep, policy);
  if (!extent || *extent <= 0)
    return columns;
  // Parts of equal size, as far as panels allow.
  int64_t parts = divideCeil(*extent, columns);
  return alignTo(divideCeil(*extent, parts), columnStep);
}

SmallVector<int64_t> PanelTile::choose() {
  if (problem.row)
    chooseRows(*problem.row);
  for (unsigned dim = sizes.size(); dim-- > 0;)
    if (dim != problem.column && dim != problem.row && !isMatrix(dim))
      chooseRows(dim);
  int64_t columns = chooseColumns();
  sizes[problem.column] = std::min<int64_t>(columns, problem.extents[problem.column].value_or(columns));
  if (problem.row && sizes[*problem.row] > 1 && !hasKBlocks)
    splitFewTiles(sizes, problem, columnStep, fewRows, policy);
  for (unsigned dim = sizes.size(); dim-- > 0;)
    if (isMatrix(dim))
      chooseMatrices(dim);
  return sizes;
}

SmallVector<int64_t> tenon::choosePanelTile(const TileProblem &problem, const TilePolicy &policy) {
  return PanelTile(problem, policy).choose();
}

bool tenon::hasOtherDims(const TileProblem &problem, ArrayRef<int64_t> tile) {
  return llvm::any_of(llvm::enumerate(tile), [&](auto size) {
    return size.index() != problem.row && size.index() != problem.column && size.value() != 1;
  });
}

int64_t tenon::chooseTermKBlock(const TileProblem &problem, ArrayRef<int64_t> tile, int64_t depth, int64_t step,
                                std::optional<int64_t> maxSplitDepth, const TilePolicy &policy) {
  if (!problem.row || hasOtherDims(problem, tile))
    return 0;
  int64_t rows = tile[*problem.row];
  if (rows > policy.kBlockRows || tile[problem.column] > policy.kBlockColumns)
    return 0;
  int64_t stepBytes = problem.termRowBytes / depth * step;
  int64_t steps = divideCeil(depth, step), most = steps;
  if (rows * steps * stepBytes > policy.maxTermBytes)
    most = policy.maxKBlockTermBytes / (rows * stepBytes);
  if (maxSplitDepth && depth > *maxSplitDepth)
    most = std::min(most, *maxSplitDepth / step);
  return most < steps ? std::max<int64_t>(most, 1) * step : 0;
}

RowVersions tenon::chooseRowVersions(Extent rows, int64_t tileRows, int64_t divisor, int64_t dynamicSymbols,
                                     bool isNear, const TilePolicy &policy) {
  RowVersions versions;
  if (rows) {
    versions.lastRows = tileRows > 0 ? *rows % tileRows : 0;
    return versions;
  }
  // A weight that fits in L2 may be re-read, but M = 1 is bound by FMA latency. If several extents are dynamic, their
  // product is seldom as small as 2 to 5 rows.
  if (divisor >= policy.manyRows)
    versions.manyRows = true;
  else if (divisor <= policy.maxRowVersions)
    versions.rowVersions = isNear || dynamicSymbols > 1 ? 1 : policy.maxRowVersions;
  return versions;
}
