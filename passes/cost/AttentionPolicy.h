//===- AttentionPolicy.h - how attention is fused and tiled --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_ATTENTIONPOLICY_H
#define TENON_PASSES_COST_ATTENTIONPOLICY_H

#include <cstdint>
#include <optional>

namespace tenon {

/// Decides which contractions become one kernel of attention (passes/fusion/FuseAttention.cpp), and how that is tiled
/// (passes/lower/tenon-to-linalg/Attention.cpp).
struct AttentionPolicy {
  /// With at most this many queries, vectors run along keys and values; with more, along queries. Otherwise fewer than
  /// half of a vector's lanes would be used.
  int64_t fewQueries = 7;
  /// With fewer queries for each key, or fewer tiles of few queries, it is faster to store the scores in memory: the
  /// matmuls then read longer contiguous runs of keys and values, and have more tiles for the threads.
  int64_t minQueries = 2;
  uint64_t minTilesOfFew = 2;
  /// The largest sum of the sizes of a key and of a value: a kernel keeps a tile of queries and results on its stack.
  int64_t maxSizes = 1024;
  /// Queries of a tile if sizes are small.
  int64_t tileQueries = 64;
  /// Elements in scratch for each query of a full tile; with more, a tile has fewer queries to fit the stack.
  int64_t elementsPerQuery = 256;
  /// The largest number of keys that are processed without blocking.
  int64_t maxUnblockedKeys = 256;
  /// Keys of a block, whose scores stay in L1; fewer if whole blocks may be masked or a mask is kept beside the scores.
  int64_t blockKeys = 128, maskedBlockKeys = 64;
  /// The same where factors are rounded to bf16: scores, rounded weights and rounded values stay in L1.
  int64_t bf16BlockKeys = 64;
  /// With sizes of keys and values of at least this, products of bf16 are computed in AMX tiles if the target has such:
  /// a sum of fewer products does not fill a row of a tile.
  int64_t minAmxSize = 32;
  /// Elements of a block of keys that is transposed if there are few queries: 64 KiB in f32, which stay in L2. Smaller
  /// blocks have too few independent sums to hide the latency of their products.
  int64_t transposedElements = 16 * 1024;
  /// Upper bound for the elements of all copies of keys and values that a kernel keeps.
  int64_t maxCopiedElements = 24 * 1024;
  /// The number of masks that a kernel keeps beside the scores.
  int64_t maxMasks = 2;

  /// Splits of the keys for few queries (passes/lower/tenon-to-linalg/SplitKeys.cpp). The keys and values of a split
  /// have about `splitBytes`, so that the overhead of a tile and its partial result is negligible. The last split costs
  /// as much as a whole one, which `maxSplitKeys` limits.
  int64_t splitBytes = 256 << 10;
  int64_t minSplitKeys = 16, maxSplitKeys = 256;
  /// The largest number of queries per key. Up to `maxQueriesAlongSizes` of them, partial sums are transposed instead
  /// of keys, which costs more per query and less per key.
  int64_t maxSplitQueries = 32, maxQueriesAlongSizes = 2;
  /// Upper bound for the elements that a split keeps on the stack: scores and sums of values of all queries.
  int64_t maxSplitElements = 24 * 1024;

  bool isFew(std::optional<int64_t> queries) const { return queries && *queries <= fewQueries; }
  bool fillsAmxTiles(int64_t size, int64_t valueSize) const { return size >= minAmxSize && valueSize >= minAmxSize; }
};

} // namespace tenon

#endif // TENON_PASSES_COST_ATTENTIONPOLICY_H
