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

/// The properties of a contraction's result that its tiles depend on.
struct TileProblem {
  llvm::SmallVector<Extent> extents;    ///< of the dimensions of the result
  llvm::SmallVector<Extent> hints;      ///< the same with size hints for dynamic ones
  std::optional<unsigned> row;          ///< the dimension of rows, among these
  unsigned column = 0;                  ///< the dimension of columns
  llvm::SmallVector<unsigned> matrices; ///< those with an RHS for each index, which no two of its rows share
  int64_t panel = 1;                    ///< columns of a panel of the RHS; 1 if it has none
  bool hasBorder = false;               ///< true if the first and last rows read a part of the window
  int64_t products = 1;                 ///< that an element sums, roughly
  int64_t rowStep = 1;                  ///< tiles of many rows have a multiple of so many
  int64_t termRowBytes = 0;             ///< bytes of a row in terms of bf16 or int8; 0 if it has none
  bool splitsLhs = false;               ///< true if the kernel splits the LHS to these terms
  int64_t packedRowBytes = 0;           ///< bytes of a row that is packed for register blocks; 0 if none is
  int64_t halfRowBytes = 0;             ///< bytes of the sums of the halves of a row; 0 if it has none
};

/// Chooses the tile of a contraction without panels, as a number of elements for each dimension: enough rows and
/// columns that a tile reuses its operands, and the other dimensions as far as the policy's limits for elements and
/// products allow. A small result is split further, so that all threads have tiles. A result of few rows is split by
/// columns, like the contraction before it, so that threads read data from their own caches.
llvm::SmallVector<int64_t> choosePlainTile(const TileProblem &problem, const TilePolicy &policy = {});

/// Chooses the tile of a contraction with panels: few panels, each of which is read from the last-level cache or DRAM
/// once, and many rows, since each panel is read from L2 again for each block of rows; fewer rows if there would be too
/// few tiles. Dynamic extents get many rows whatever the hints are, because tiles for fewer rows were slower at the
/// hinted size, too.
llvm::SmallVector<int64_t> choosePanelTile(const TileProblem &problem, const TilePolicy &policy = {});

/// The K-block of terms, in elements; 0 for the whole sum. If the rows of a tile do not fit L2, or columns that
/// are split on load are longer than `maxSplitDepth`, the sums are computed one K-block at a time. `depth` is the
/// extent of the summed dimension and `step` the number of elements of it that are stored together. `tile` is that of
/// the result.
int64_t chooseTermKBlock(const TileProblem &problem, llvm::ArrayRef<int64_t> tile, int64_t depth, int64_t step,
                         std::optional<int64_t> maxSplitDepth, const TilePolicy &policy = {});

/// True if a tile has several elements of a dimension other than rows and columns.
bool hasOtherDims(const TileProblem &problem, llvm::ArrayRef<int64_t> tile);

/// The versions of a kernel's code for different numbers of rows.
struct RowVersions {
  int64_t lastRows = 0;    ///< rows of the last tile, if their number is static and no multiple of a tile's
  int64_t rowVersions = 0; ///< each number of rows up to this one has code of its own
  bool manyRows = false;   ///< the number of rows is dynamic and never small
};

/// Chooses the versions for tiles of `tileRows` rows. `divisor` divides a dynamic number of rows, which depends on
/// `dynamicSymbols` symbols. `isNear` is true if the RHS fits L2 and may be read again.
RowVersions chooseRowVersions(Extent rows, int64_t tileRows, int64_t divisor, int64_t dynamicSymbols, bool isNear,
                              const TilePolicy &policy = {});

} // namespace tenon

#endif // TENON_PASSES_COST_CONTRACTIONTILES_H
