//===- ContractionTiles.h - how the result of a contraction is tiled ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_CONTRACTIONTILES_H
#define TENON_PASSES_COST_CONTRACTIONTILES_H

#include "passes/cost/TilePolicy.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace tenon {

/// An extent of a dimension; none if it is dynamic.
using Extent = std::optional<int64_t>;

/// The result of a contraction, as far as it matters for its tiles.
struct TileProblem {
  llvm::SmallVector<Extent> extents; ///< of the dimensions of the result
  llvm::SmallVector<Extent> hints;   ///< the same with size hints for dynamic ones
  std::optional<unsigned> row;       ///< the dimension of rows, among these
  unsigned column = 0;               ///< the dimension of columns
  int64_t panel = 1;                 ///< columns of a panel of the RHS; 1 if it has none
  bool hasBorder = false;            ///< true if the first and last rows read a part of the window
  int64_t products = 1;              ///< that an element sums, roughly
  int64_t rowStep = 1;               ///< tiles of many rows have a multiple of so many
  int64_t termRowBytes = 0;          ///< bytes of a row in bf16 terms; 0 if there are no terms
  bool splitsLhs = false;            ///< true if the kernel splits the LHS to these terms
  int64_t packedRowBytes = 0;        ///< bytes of a row that is packed for register blocks; 0 if none is
};

/// The number of elements of each dimension in a tile of a contraction without panels: enough rows and columns that a
/// tile's operands are used again and again, and the rest as far as the policy's elements and products allow; less of a
/// small result, so that there are tiles for all threads. Few rows in all are split by columns, as the contraction
/// before them is, so that threads keep their data.
llvm::SmallVector<int64_t> choosePlainTile(const TileProblem &problem, const TilePolicy &policy = {});

/// The same for a contraction with panels: few panels, which are read from the last-level cache or DRAM once, and many
/// rows, for which each panel is read from L2 again; fewer rows if that makes too few tiles. For dynamic extents many
/// rows do best whatever the hints are: tiles for fewer were slower at that size, too (BERT by 6% at 128).
llvm::SmallVector<int64_t> choosePanelTile(const TileProblem &problem, const TilePolicy &policy = {});

/// The K-block of bf16 terms, in elements; 0 for the whole sum. If the rows of a tile do not fit L2, or columns that
/// are split on load are longer than `maxSplitDepth`, sums are done a K-block at a time. `depth` is the extent of the
/// summed dimension and `step` the number of elements of it that are stored together. `tile` is that of the result.
int64_t chooseTermKBlock(const TileProblem &problem, llvm::ArrayRef<int64_t> tile, int64_t depth, int64_t step,
                         std::optional<int64_t> maxSplitDepth, const TilePolicy &policy = {});

/// True if a tile has several elements of a dimension other than rows and columns.
bool hasOtherDims(const TileProblem &problem, llvm::ArrayRef<int64_t> tile);

/// How a kernel's code depends on the number of rows.
struct RowVersions {
  int64_t lastRows = 0;    ///< rows of the last tile, if their number is static and no multiple of a tile's
  int64_t rowVersions = 0; ///< each number of rows up to this one has code of its own
  bool manyRows = false;   ///< the number of rows is dynamic and never small
};

/// Chooses them for tiles of `tileRows` rows. `divisor` divides a dynamic number of rows, on which `dynamicSymbols`
/// symbols have an influence. `isNear` if the RHS fits L2, so that it may be read again.
RowVersions chooseRowVersions(Extent rows, int64_t tileRows, int64_t divisor, int64_t dynamicSymbols, bool isNear,
                              const TilePolicy &policy = {});

} // namespace tenon

#endif // TENON_PASSES_COST_CONTRACTIONTILES_H
