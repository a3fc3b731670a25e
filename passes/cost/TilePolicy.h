//===- TilePolicy.h - how large the tiles of kernels are ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_TILEPOLICY_H
#define TENON_PASSES_COST_TILEPOLICY_H

#include <cstdint>

namespace tenon {

/// Decides how the results of kernels are tiled (passes/kernel/TileKernels.cpp). Sizes are numbers of result elements
/// unless stated otherwise; the quantity to measure is the time of a kernel on all threads.
struct TilePolicy {
  //===--- The number of tiles ---===//

  /// With fewer than `fewTiles` tiles the load is unbalanced; with fewer than `someTiles` some threads are idle. With
  /// fewer than `minTiles`, a thread would wait for another one longer than it takes to read all rows again for each
  /// panel.
  int64_t fewTiles = 16, someTiles = 8, minTiles = 4;

  //===--- Kernels without a contraction ---===//

  /// An element of a reduction counts as many units of work as it reduces elements, but at most `maxReduced` if these
  /// are not contiguous; tiles of contiguous reductions have at least `minReductions` elements. A dynamic extent counts
  /// as `dynamicReduced`.
  int64_t maxReduced = 64, minReductions = 4, dynamicReduced = 64;
  /// A function such as exp counts as `functionElements` elements that are moved or added. Tiles with functions have at
  /// least `minFunctionElements`, because a cache line that two threads write moves between their caches.
  int64_t functionElements = 4, minFunctionElements = 1024;
  /// The last dimension is split into multiples of this many elements: two cache lines of f32.
  int64_t lastDimStep = 32;
  /// Rows of up to so many elements, along which a body branches, are whole: from their first element on they are loops
  /// for the parts (SplitLoops.cpp), in place of a test for each element.
  int64_t maxWholeRow = 1 << 16;
  /// The extent that is assumed for a dynamic dimension without a size hint.
  int64_t dynamicExtent = 64;

  //===--- Contractions without panels ---===//

  /// Rows and columns of a tile: operands of this size are reused from L2. Rows with a border stay in one tile up to
  /// `borderRows`, so that the kernel knows statically where the border is.
  int64_t plainRows = 56, borderRows = 512, plainColumns = 192;
  /// Bounds for the elements and products of a tile. Tiles of a small result have at least `minPlainElements`.
  int64_t maxPlainElements = 16384, minPlainElements = 1024, maxPlainProducts = 1 << 19;

  //===--- Contractions with panels ---===//

  /// Rows of a tile, each block of which reads each panel from L2 again, and a bound for the elements of a tile.
  int64_t packedRows = 512, maxPackedElements = 1 << 15;
  /// Tiles of many rows have a multiple of this many rows, which is about the height of a register block of AVX-512.
  int64_t rowStep = 14;
  /// Columns of a tile are a multiple of `columnStep` and at most 8 times that.
  int64_t columnStep = 64;
  /// Products of a tile, and of a tile of terms in AMX tiles, whose products are faster.
  int64_t packedProducts = 1 << 19, termProducts = 1 << 22;
  /// Reading the RHS takes as long as the products of this many rows.
  int64_t readingRows = 8;
  /// Tiles of at least twice `fewRows` rows are halved if there are few tiles; of `twoBlocks` rows and more, which are
  /// two register blocks, if there are fewer than `minTiles`.
  int64_t fewRows = 56, twoBlocks = 28;
  /// With one row the kernel is bound by memory bandwidth: this many columns per tile keep the hardware prefetcher
  /// streaming.
  int64_t singleRowColumns = 128;

  /// Upper bound in bytes for the rows of a tile that are packed for register blocks (PackingPolicy).
  int64_t maxPackedRowsBytes = 1 << 20;

  //===--- Products of halves ---===//

  /// Upper bound in bytes for the sums of the halves of the rows of a tile, each of which is read once for two panels.
  /// Tiles of at least twice `fewHalvedRows` rows are halved if there are few tiles: halves of panels are summed for
  /// each tile of rows again.
  int64_t maxHalfRowsBytes = 2 << 20, fewHalvedRows = 32;

  //===--- Long sums in parts (split-K) ---===//

  /// The largest number of parts, and the fewest products of a part, which take several times as long as a launch.
  int64_t maxReductionParts = 64, minPartProducts = 1 << 17;
  /// Elements of the operands for each element of the partial results, at least.
  double minReadsPerPartial = 16;

  //===--- terms of bf16 or int8 in AMX tiles ---===//

  /// Upper bounds in bytes for the terms of the rows of a tile, without and with K-blocks: they stay in L2, from
  /// which they are loaded for each pair of panels.
  int64_t maxTermBytes = 1 << 20, maxKBlockTermBytes = 3 << 18;
  /// Sums have K-blocks if the terms of so many rows exceed `maxTermBytes`.
  int64_t leastTermRows = 128;
  /// Upper bounds for the rows and columns of a tile with K-blocks, whose sums are stored between them. A tile splits
  /// all that it multiplies: its rows again for other columns, and its columns for other rows.
  int64_t kBlockRows = 256, kBlockColumns = 192;
  /// Upper bound in bytes for the terms of rows that the kernel splits to its scratch for all columns.
  int64_t maxSplitTermBytes = 1 << 19;
  /// Tiles span all columns, so that rows are split once, if there are at most `maxWideColumns` of them, the summed
  /// dimension is at most `maxWideDepth`, and there are at least `minWideRows` rows for some tiles.
  int64_t maxWideColumns = 256, maxWideDepth = 1024, minWideRows = 512;

  //===--- Dynamic rows ---===//

  /// Up to this number, each number of rows has a version of the code if the RHS is larger than L2.
  int64_t maxRowVersions = 5;
  /// A dynamic number of rows that is a multiple of this one is never small.
  int64_t manyRows = 128;
};

} // namespace tenon

#endif // TENON_PASSES_COST_TILEPOLICY_H
