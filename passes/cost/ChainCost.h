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

/// Two convolutions, or matmuls of pixels with a matrix, where only the second one reads the result of the first one:
/// the intermediate images. All figures cover all images; they cover one image if the number of images is dynamic.
struct ChainShape {
  int64_t images;
  int64_t lines, width, channels;               ///< of an image between them
  int64_t resultLines = 0;                      ///< of what the second one gives
  int64_t window = 1, stride = 1, dilation = 1; ///< of the second one, along the lines
  /// The step in which the channels can be split: the panel width if each output channel of the second nest reads only
  /// its own channel (depthwise); 0 if each output channel reads all of them.
  int64_t channelStep = 0;
  /// True if the rows of all images are one dimension of the result: then all tiles that cover a part of an image must
  /// have the same size.
  bool needsEqualTiles = false;
  int64_t elementBytes = 0;                 ///< between them
  double firstCycles = 0, secondCycles = 0; ///< of arithmetic on a core
  double firstBytes = 0, secondBytes = 0;   ///< read and written, but for the images between them
  double weightBytes = 0;                   ///< of these: what each tile reads
};

/// The tile of the second nest's result: a number of lines of one image, and all or some of the intermediate channels.
struct ChainTile {
  int64_t lines, channels;
  double cycles, separateCycles; ///< of one kernel, and of two
};

/// Returns the number of intermediate lines that a tile reads; neighbouring tiles share some of them if the window is
/// larger than the stride.
int64_t countLinesBetween(const ChainShape &shape, int64_t lines);

/// Chooses the best tiles for one kernel that computes both nests and keeps the intermediate lines in a core's cache;
/// none if the cache does not hold them, or if there are too few tiles for the threads.
std::optional<ChainTile> chooseChainTile(const ChainShape &shape, const Machine &machine,
                                         const ChainPolicy &policy = {});

} // namespace tenon

#endif // TENON_PASSES_COST_CHAINCOST_H
