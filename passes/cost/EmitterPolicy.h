//===- EmitterPolicy.h - how the loops of a contraction are emitted -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_EMITTERPOLICY_H
#define TENON_PASSES_COST_EMITTERPOLICY_H

#include <cstddef>
#include <cstdint>

namespace tenon {

/// Decides on the register blocks, K-blocks, unrolling and prefetching of a contraction's loops
/// (passes/kernel/contract). What would be measured is the time of one kernel on one thread.
struct EmitterPolicy {
  //===--- Register blocks ---===//

  /// Ways of a set of L1 that rows of the LHS leave to the lines of the RHS.
  int64_t otherWays = 2;
  /// Cycles to load a cache line of a panel, which is too long for L1, from L2.
  double lineCycles = 3;
  /// Dynamic rows are divided into blocks of a few heights, which differ by this share of the largest one.
  int64_t heightParts = 8;
  /// Code for each block at a border is emitted for at most so many blocks.
  int64_t maxBorderBlocks = 8;
  /// A depthwise convolution of more taps reads its input from more runs of memory than L1 and its prefetcher track.
  int64_t maxOrderedTaps = 9;
  /// Chains of dependent operations that the epilogue of int8 sums interleaves.
  size_t int8EpilogueChains = 4;

  //===--- Unrolling ---===//

  /// The innermost loop is unrolled until an iteration has so many products, and at most so many times.
  int64_t minLoopProducts = 48, maxUnrolledSteps = 8;

  //===--- K-blocks ---===//

  /// Sums of more bytes of a row are done in K-blocks of about `kBlockBytes`, so that the pages of a panel and of a
  /// block of rows fit the TLB.
  int64_t maxUnblockedBytes = 8192, kBlockBytes = 6144;
  /// Upper bound in bytes for the sums that are stored between K-blocks: a tile of 512 dynamic rows and 64 columns,
  /// which whole blocks may reach beyond. A kernel has twice as much on its stack (StackPolicy).
  int64_t maxSumBytes = 136 * 1024;

  //===--- Prefetching ---===//

  /// The register blocks that are expected to share the prefetches of a panel if the number of rows is dynamic: fewer
  /// blocks prefetch only a part of it, more prefetch some lines again. (BERT with 20 tokens takes 1.2 times as long
  /// with 8, and the same with 128.)
  int64_t dynamicBlocks = 4;
  /// The distance in bytes at which an RHS that is read once is prefetched to L1; a shorter one is too short if it
  /// comes from DRAM.
  int64_t streamBytesAhead = 4096;
  /// The same for quantized weights.
  int64_t quantizedBytesAhead = 2048;
};

} // namespace tenon

#endif // TENON_PASSES_COST_EMITTERPOLICY_H
