//===- WinogradPolicy.h - how a Winograd convolution is tiled ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_WINOGRADPOLICY_H
#define TENON_PASSES_COST_WINOGRADPOLICY_H

#include "passes/cost/PathPolicy.h"
#include <cstdint>

namespace tenon {

/// The coefficients of the cost model of a Winograd convolution, and the limits of its tiles
/// (passes/paths/winograd/Schedule.h). Cycles are per point of a square and vector.
struct WinogradPolicy {
  /// Input and output transforms: most cycles are spent on intermediate results that exceed L1.
  double inputCycles = 8, outputCycles = 5;
  /// The output transform of sums of integers, which also converts them.
  double int8OutputCycles = 8;
  /// To find the largest element of a point of a square, and to round it to i16.
  double roundCycles = 3;
  /// A factor for int8 products that need a separate addition (vpmaddwd).
  double pmaddWdFactor = 1.25;
  /// A matmul of fewer rows waits for its sums.
  double minRows = 4;
  /// The share of the peak between register blocks, and the share of the shorter of loads and products that does not
  /// overlap with the longer one.
  double share = 0.92, exposedShare = 0.15;
  /// The share of L2 that the transformed input and the products of a tile may take.
  double cacheShare = 0.5;
  /// Squares of a tile if its transformed input fits L2, and if it does not: weights are larger then, and a tile reads
  /// them once.
  int64_t maxSquares = 64, maxSquaresBeyondL2 = 16;
  /// The same for products in AMX tiles, of which a block has two tiles of rows.
  int64_t maxAmxSquaresBeyondL2 = 32;
  /// AMX: products of squares take what other products take; cycles from one product to the next one that adds to the
  /// same sums.
  PathPolicy products = {};
  double amxLatency = 52;
  /// Upper bound in bytes for what a tile keeps in the scratch of a thread, where a measurement asks for another tile.
  int64_t maxScratchBytes = 8 << 20;
};

} // namespace tenon

#endif // TENON_PASSES_COST_WINOGRADPOLICY_H
