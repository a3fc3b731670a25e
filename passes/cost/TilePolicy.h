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

/// Decides how the results of kernels are tiled (passes/kernel/TileKernels.cpp). Sizes are numbers of elements of the
/// result unless they say otherwise; what would be measured is the time of kernels on all threads.
struct TilePolicy {
  //===--- The number of tiles ---===//

  /// Fewer tiles are shared unevenly by threads; with fewer than `someTiles`, some threads have none. Of fewer than
  /// `minTiles`, one thread would wait for another longer than it takes to read all rows again for each panel.
  int64_t fewTiles = 16, someTiles = 8, minTiles = 4;

  //===--- Kernels without a contraction ---===//

  /// An element of a reduction is as much work as the elements that it reduces, but counts as at most `maxReduced` if
  /// these are no neighbours in memory; tiles of reductions along memory have at least `minReductions`. A dynamic
  /// extent counts as `dynamicReduced`.
  int64_t maxReduced = 64, minReductions = 4, dynamicReduced = 64;
  /// A function such as exp takes as long as so many elements that are moved or added. Cache lines that two threads
  /// write move between their caches, so tiles with functions have at least `minFunctionElements`.
  int64_t functionElements = 4, minFunctionElements = 1024;
  /// Parts of the last dimension are a multiple of so many elements: two cache lines of f32.
  int64_t lastDimStep = 32;
  /// The extent that is assumed for a dynamic dimension without a size hint.
  int64_t dynamicExtent = 64;

  //===--- Contractions without panels ---===//

  /// Rows and columns of a tile: operands of so many are used again from L2. Rows with a border stay together up to
  /// `borderRows`, so that the kernel knows where the border is.
  int64_t plainRows = 56, borderRows = 512, plainColumns = 192;
  /// Bounds for the elements and products of a tile. A small result has tiles of at least `minPlainElements`.
  int64_t maxPlainElements = 16384, minPlainElements = 1024, maxPlainProducts = 1 << 19;

  //===--- Contractions with panels ---===//

  /// Rows of a tile, for which each panel is read from L2 again, and a bound for the elements of a tile.
  int64_t packedRows = 512, maxPackedElements = 1 << 15;
  /// Tiles of many rows have a multiple of so many rows: about as many as a register block of AVX-512.
  int64_t rowStep = 14;
  /// Columns of a tile are a multiple of `columnStep` and at most 8 times that.
  int64_t columnStep = 64;
  /// Products of a tile, and of one of bf16 terms in AMX tiles, whose products are faster.
  int64_t packedProducts = 1 << 19, termProducts = 1 << 22;
  /// Reading the RHS takes as long as the products of so many rows.
  int64_t readingRows = 8;
  /// Tiles of at least twice `fewRows` rows are halved if there are few tiles; of `twoBlocks` rows and more, which are
  /// two register blocks, if there are fewer than `minTiles`.
  int64_t fewRows = 56, twoBlocks = 28;
  /// With one row the kernel is bound by memory bandwidth: so many columns per tile keep the hardware prefetcher
  /// streaming.
  int64_t singleRowColumns = 128;

  /// Upper bound in bytes for the rows of a tile that are packed for register blocks (PackingPolicy).
  int64_t maxPackedRowsBytes = 1 << 20;

  //===--- bf16 terms in AMX tiles ---===//

  /// Upper bounds in bytes for the bf16 terms of the rows of a tile, without and with K-blocks: they stay in L2, from
  /// which they are loaded for each pair of panels.
  int64_t maxTermBytes = 1 << 20, maxKBlockTermBytes = 3 << 18;
  /// Upper bounds for the rows and columns of a tile with K-blocks, whose sums are stored between them.
  int64_t kBlockRows = 128, kBlockColumns = 192;
  /// Upper bound in bytes for the terms of rows that the kernel splits to its scratch for all columns at once.
  int64_t maxSplitTermBytes = 1 << 19;
  /// Tiles span all columns, so that rows are split once, if there are at most `maxWideColumns` of them, the summed
  /// dimension is at most `maxWideDepth`, and there are at least `minWideRows` rows for some tiles.
  int64_t maxWideColumns = 256, maxWideDepth = 1024, minWideRows = 512;

  //===--- Dynamic rows ---===//

  /// Each number of rows up to this one has code of its own if the RHS is larger than L2.
  int64_t maxRowVersions = 5;
  /// A dynamic number of rows that is a multiple of this one is never small.
  int64_t manyRows = 128;
};

} // namespace tenon

#endif // TENON_PASSES_COST_TILEPOLICY_H
