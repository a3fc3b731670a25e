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
/// passes/kernel/TransposeTiles.cpp). A unit is a run of elements that stay contiguous; the quantity to measure is
/// bytes per second.
struct TransposePolicy {
  //===--- Tiles ---===//

  /// Upper bound for the elements of a unit, the dimensions that stay contiguous.
  int64_t maxUnitElements = 64;
  /// Columns and rows of a tile for 32-bit elements; a tile with dynamic extents has 1/`dynamicShare` of them.
  int64_t columns = 64, rows = 128, dynamicShare = 4;

  //===--- Loops ---===//

  /// A short loop is merged with the next one until both have this many vectors.
  int64_t manyVectors = 8;

  //===--- Blocks ---===//

  /// Blocks of fewer rows cost more than single units.
  int64_t minRows = 4;
  /// Shuffles of units of fewer bits cost least within lanes of 128 bits.
  int64_t wideBits = 32;
  /// Strides in bytes at which L1 holds some tens of rows' lines, or only a few.
  int64_t someConflicts = 512, manyConflicts = 4096;
  /// Rows that are packed to scratch: L1 holds a line of each beside the lines that are written. A row has `rowBytes`,
  /// and `padBytes` follow it so that rows do not map to the same sets of L1.
  int64_t packedRows = 128, rowBytes = 256, padBytes = 64;
  /// Runs of fewer bytes are packed along two loops.
  int64_t shortRunBytes = 256;
  /// Runs that blocks which are packed wait for.
  int64_t longRunBytes = 512;

  //===--- Runs and permutations ---===//

  /// Runs of up to this many bytes are moved by unrolled vectors, longer ones by a loop.
  int64_t maxRunBytes = 256;
  /// Vectors longer than this many bits cross cache lines too often to gain anything.
  int64_t maxLongerBits = 128;
  /// The largest number of vectors that a permutation reads: each output vector takes one shuffle less. Narrow units
  /// are permuted within lanes, by one instruction for each vector.
  int64_t maxPermutedVectors = 4, maxNarrowVectors = 7;
};

} // namespace tenon

#endif // TENON_PASSES_COST_TRANSPOSEPOLICY_H
