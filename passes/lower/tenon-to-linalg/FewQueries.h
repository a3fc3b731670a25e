//===- FewQueries.h - attention of so few queries that keys take the time -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The queries of one new token, which are those of the heads that share keys,
// would fill a small part of the vectors. Keys and values run along them:
//
//     scores[query][key]   = sum of queries[query][size] * keys[size][key]
//     result[query][value] += exp(scores[query][key] - largest[query]) * values[key][value]
//
// Keys are transposed a block at a time, which stays in L2; values are read as
// they lie in memory. Each key and value is read once for all queries.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_LOWER_TENON_TO_LINALG_FEWQUERIES_H
#define TENON_PASSES_LOWER_TENON_TO_LINALG_FEWQUERIES_H

#include "passes/lower/tenon-to-linalg/AttentionWriter.h"

namespace tenon {

/// The number of keys that are compared and summed in parallel; a multiple of every target's vector length.
inline constexpr int64_t kKeyLanes = 16; // math: vectors have 4 to 16 elements

/// Writes the attention of one place of the loops around.
class FewQueriesWriter : public AttentionWriter {
public:
  FewQueriesWriter(LineWriter &w, KernelScope &scope, AttentionOp op, mlir::ValueRange outer);
  mlir::Value write(mlir::Value result);

protected:
  /// Reads the keys of a block as [size][key]; padding is left undefined.
  mlir::Value readKeys(const Span &block);
  /// The values of a block as [key][value].
  mlir::Value readValues(const Span &block);
  /// Applies the body to the scores of a block, with -inf for padding. Returns these and the largest score per lane.
  Values changeScores(const Span &block, mlir::Value scores);
  /// Reduces the largest scores per lane to one per query, which is at least the lowest finite number.
  mlir::Value joinLargest(mlir::Value ofLanes);
  /// Returns exp(score - largest), and `sums`, one per lane, with these added.
  Values takeExponentials(mlir::Value scores, mlir::Value largest, mlir::Value sums);
  /// Reduces the sums per lane to one per query.
  mlir::Value joinSums(mlir::Value ofLanes);

  int64_t count; ///< of the queries
  Span tile;     ///< all of them
  Matrix queries;

private:
  int64_t getBlockLength();
  Values startSums();
  Values addKeys(const Span &block, Values carried);
  mlir::Value maskScores(const Span &block, mlir::Value scores);
  Values scaleDown(mlir::Value blockLargest, Values carried);
  Values forLanes(mlir::ValueRange inputs, llvm::ArrayRef<mlir::AffineMap> maps, mlir::Value scores,
                  mlir::Value ofLanes, Body body);

  bool readsMemory; ///< in the body, at the place of a score
};

} // namespace tenon

#endif // TENON_PASSES_LOWER_TENON_TO_LINALG_FEWQUERIES_H
