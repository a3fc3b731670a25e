//===- ChainPolicy.h - when two loop nests become one kernel -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_CHAINPOLICY_H
#define TENON_PASSES_COST_CHAINPOLICY_H

#include <cstdint>

namespace tenon {

/// The coefficients of the cost of two loop nests in one kernel that computes them tile by tile
/// (passes/fusion/Chains.h).
struct ChainPolicy {
  /// Upper bound in bytes for a tile of the intermediate images, which is on the stack (PlaceAllocations).
  double maxTileBytes = 1 << 18;
  /// Fewer tiles do not keep all threads busy.
  int64_t minTiles = 16;
  /// The share of L2 that the intermediate images and the weights may take.
  double cacheShare = 0.5;
  /// Cycles that a tile costs besides its arithmetic: two calls, and register blocks at its end that are not full.
  double tileCycles = 500;
  /// Without a measurement one kernel must save at least this share of the cycles of two kernels, which choose their
  /// tiles and register blocks independently, besides what every form must save (FormPolicy).
  double minGain = 0.02;
  /// Nests with a longer sum need scratch memory for K-blocking, and a chain has no scratch left.
  double maxDepth = 2048;
  /// The number of operations before the second nest: the first one, the reshape, and those in between.
  int64_t maxOpsBefore = 16;
};

} // namespace tenon

#endif // TENON_PASSES_COST_CHAINPOLICY_H
