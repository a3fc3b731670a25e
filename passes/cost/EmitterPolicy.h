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
/// (passes/kernel/contract). The quantity to measure is the time of one kernel on one thread.
struct EmitterPolicy {
  //===--- Register blocks ---===//

  /// Ways of an L1 set that the rows of the LHS leave free for the lines of the RHS.
  int64_t otherWays = 2;
  /// Cycles to load a cache line from L2, for a panel that exceeds L1.
  double lineCycles = 3;
  /// A dynamic number of rows is split into blocks of a few heights, which differ by 1/`heightParts` of the largest
  /// one.
  int64_t heightParts = 8;
  /// Upper bound for the blocks at a border that get code of their own.
  int64_t maxBorderBlocks = 8;
  /// With more taps, a depthwise convolution reads its input from more streams than L1 and its prefetcher can track.
  int64_t maxOrderedTaps = 9;
  /// Chains of dependent operations that the epilogue of int8 sums interleaves.
  size_t int8EpilogueChains = 4;

  //===--- Unrolling ---===//

  /// The innermost loop is unrolled until an iteration has `minLoopProducts` products, by a factor of at most
  /// `maxUnrolledSteps`.
  int64_t minLoopProducts = 48, maxUnrolledSteps = 8;

  //===--- K-blocks ---===//

  /// Sums over more bytes of a row are split into K-blocks of about `kBlockBytes`, so that the TLB covers the pages of
  /// a panel and of a block of rows.
  int64_t maxUnblockedBytes = 8192, kBlockBytes = 6144;
  /// Upper bound in bytes for the sums that are stored between K-blocks: a tile of 512 dynamic rows and 64 columns,
  /// which may be rounded up to whole blocks. A kernel has twice as much on its stack (StackPolicy).
  int64_t maxSumBytes = 136 * 1024;
  /// Products of halves: the largest K-block, of which a sum of halves of two panels stays in L2 while it is
  /// multiplied.
  int64_t maxHalfKBlock = 512;

  //===--- Prefetching ---===//

  /// The number of register blocks that are expected to share the prefetches of a panel if the number of rows is
  /// dynamic: fewer blocks prefetch only a part of the panel, more blocks prefetch some lines again.
  int64_t dynamicBlocks = 4;
  /// The prefetch distance to L1, in bytes, of an RHS that is read once; a shorter distance does not hide the latency
  /// of DRAM.
  int64_t streamBytesAhead = 4096;
  /// The prefetch distance to L2, in bytes, of panels that are split to bf16 terms meanwhile: hardware streams them,
  /// too.
  int64_t splitBytesAhead = 1024;
  /// The same for quantized weights.
  int64_t quantizedBytesAhead = 2048;
};

} // namespace tenon

#endif // TENON_PASSES_COST_EMITTERPOLICY_H
