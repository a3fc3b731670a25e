//===- TransposePolicy.h - how kernels transpose --------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_TRANSPOSEPOLICY_H
#define TENON_PASSES_COST_TRANSPOSEPOLICY_H

#include <cstdint>

namespace tenon {

/// Decides on the tiles of kernels that transpose, and on how they move a tile (passes/kernel/transposes,
/// passes/kernel/TransposeTiles.cpp). A unit is what stays together; what would be measured is bytes per second.
struct TransposePolicy {
  //===--- Tiles ---===//

  /// Dimensions that stay together are a unit up to so many elements.
  int64_t maxUnitElements = 64;
  /// Columns of a tile for elements of 32 bits, and rows; a tile with dynamic extents has that share of them.
  int64_t columns = 64, rows = 128, dynamicShare = 4;

  //===--- Loops ---===//

  /// A short loop is continued by the next one until they have so many vectors together.
  int64_t manyVectors = 8;

  //===--- Blocks ---===//

  /// Blocks of fewer rows cost more than single units.
  int64_t minRows = 4;
  /// Shuffles of units of fewer bits cost least within lanes of 128 bits.
  int64_t wideBits = 32;
  /// Strides in bytes between rows of which L1 holds some tens of lines, or a few.
  int64_t someConflicts = 512, manyConflicts = 4096;
  /// Rows that are packed to scratch: L1 holds a line of each, between those that are written. A row has `rowBytes`,
  /// and `padBytes` follow it so that rows do not share sets of L1.
  int64_t packedRows = 128, rowBytes = 256, padBytes = 64;
  /// Runs of fewer bytes are packed along two loops.
  int64_t shortRunBytes = 256;
  /// Runs that blocks which are packed wait for.
  int64_t longRunBytes = 512;

  //===--- Runs and permutations ---===//

  /// Bytes that are moved in unrolled vectors; more are worth a loop.
  int64_t maxRunBytes = 256;
  /// Longer vectors, in bits, cross cache lines too often to gain from it.
  int64_t maxLongerBits = 128;
  /// Vectors that a permutation reads: each vector of the output takes a shuffle for all but one of them. Narrow units
  /// are permuted within lanes, one instruction for each vector.
  int64_t maxPermutedVectors = 4, maxNarrowVectors = 7;
};

} // namespace tenon

#endif // TENON_PASSES_COST_TRANSPOSEPOLICY_H
