//===- ChainCost.h - what it costs to compute a convolution's input beside it //
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_CHAINCOST_H
#define TENON_PASSES_COST_CHAINCOST_H

#include "passes/cost/ChainPolicy.h"
#include "passes/cost/Machine.h"
#include <optional>

namespace tenon {

/// Two convolutions (or products of pixels with a matrix) of which the second alone reads what the first one gives, the
/// images between them. All figures are of all images; of one where their number is open.
struct ChainShape {
  int64_t images;
  int64_t lines, width, channels;               ///< of an image between them
  int64_t resultLines = 0;                      ///< of what the second one gives
  int64_t window = 1, stride = 1, dilation = 1; ///< of the second one, along the lines
  /// Channels that the second one does not mix, a panel of them at a time; 0 where it reads all channels for each of
  /// its own.
  int64_t channelStep = 0;
  /// Whether rows of all images are one dimension of the result, of which tiles that are parts of an image have to be
  /// equal ones.
  bool needsEqualTiles = false;
  int64_t elementBytes = 0;                 ///< between them
  double firstCycles = 0, secondCycles = 0; ///< of arithmetic on a core
  double firstBytes = 0, secondBytes = 0;   ///< read and written, but for the images between them
  double weightBytes = 0;                   ///< of these: what each tile reads
};

/// What a tile of the second one's result has: some lines of an image, of all channels between them or of some.
struct ChainTile {
  int64_t lines, channels;
  double savedCycles; ///< by one kernel instead of two
};

/// The lines between them that a tile reads, which a window may share with another tile's.
int64_t countLinesBetween(const ChainShape &shape, int64_t lines);

/// Tiles for a kernel of both, in which what is between them stays in the cache of a core; none where two kernels are
/// faster.
std::optional<ChainTile> chooseChainTile(const ChainShape &shape, const Machine &machine,
                                         const ChainPolicy &policy = {});

} // namespace tenon

#endif // TENON_PASSES_COST_CHAINCOST_H
