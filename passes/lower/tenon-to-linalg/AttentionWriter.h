//===- AttentionWriter.h - what kernels of attention have in common -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile is a block of queries. Blocks of keys pass by: their scores, the sums
// of the exponentials so far, and the weighted sums of the values, which are
// scaled down when a larger score comes along. (Milakov and Gimelshein, Online
// normalizer calculation for softmax, https://arxiv.org/abs/1805.02867; Dao and
// others, FlashAttention, https://arxiv.org/abs/2205.14135.)
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_LOWER_TENON_TO_LINALG_ATTENTIONWRITER_H
#define TENON_PASSES_LOWER_TENON_TO_LINALG_ATTENTIONWRITER_H

#include "passes/cost/AttentionPolicy.h"
#include "passes/lower/tenon-to-linalg/Blocks.h"
#include "passes/lower/tenon-to-linalg/MaskedKeyBlocks.h"
#include <optional>

namespace tenon {

/// Returns the extent of an index of an attention operand.
mlir::AffineExpr getExtent(mlir::Value tensor, llvm::ArrayRef<int64_t> indices, int64_t index);
mlir::AffineExpr getNumQueries(AttentionOp op);
/// Returns the indices of the scores other than those of queries and keys, and their extents.
std::pair<llvm::SmallVector<int64_t>, Dims> getOuter(AttentionOp op);

/// Writes the part of an attention kernel that does not depend on whether vectors run along queries or keys.
class AttentionWriter : protected BlockWriter {
public:
  using BlockWriter::hasFailed;

protected:
  // The state that is carried from one block of keys to the next: for each query the largest score, the sum of the
  // exponentials, and the weighted sums of values.
  enum Carried { largest, sum, mixed };
  /// Takes a block of keys into what is carried.
  using AddKeys = llvm::function_ref<Values(const Span &block, Values carried)>;
  /// A tensor that the body reads an element of for each score.
  struct Read {
    mlir::Value value;
    llvm::SmallVector<mlir::AffineExpr> at;
  };

  AttentionWriter(LineWriter &w, KernelScope &scope, AttentionOp op, mlir::ValueRange outer);

  /// Passes over all keys in blocks of `length`, or, if tests distinguish masked keys, over one of the two kinds.
  Values passKeys(const Span &tile, int64_t length, Values carried, AddKeys add);
  /// Reads a matrix of an operand: in place if it has the right type, otherwise as a copy.
  Matrix readMatrix(mlir::Value value, llvm::ArrayRef<int64_t> indices, int64_t rowIndex, const Span &rows,
                    int64_t columnIndex, int64_t columns);
  /// Reads a matrix of an operand as pairs of bf16, of neighbouring rows or of neighbouring columns (`pairUp`).
  Matrix readPairs(mlir::Value value, llvm::ArrayRef<int64_t> indices, int64_t rowIndex, const Span &rows,
                   int64_t columnIndex, int64_t columns, bool areOfRows,
                   std::optional<int64_t> numPairs = std::nullopt);
  /// True if keys or values have a type that the kernel does not compute with, so that they are copied.
  bool copiesKeys();
  /// The indices at which a tensor of extents `dims` is read: loops for its outer dimensions, then for rows and
  /// columns.
  llvm::SmallVector<mlir::AffineExpr> placeIndices(llvm::ArrayRef<mlir::AffineExpr> dims,
                                                   llvm::ArrayRef<int64_t> indices, int64_t rowIndex,
                                                   int64_t columnIndex);
  llvm::SmallVector<mlir::AffineExpr> placeIndices(mlir::Value value, llvm::ArrayRef<int64_t> indices, int64_t rowIndex,
                                                   int64_t columnIndex) {
    return placeIndices(getDims(value), indices, rowIndex, columnIndex);
  }
  llvm::SmallVector<mlir::AffineExpr> placeScores() {
    return placeIndices(op.getScores(), op.getScoreDims(), queryIndex, keyIndex);
  }
  /// Returns the tensors that the body reads for a score; none if the body is too large to analyse.
  std::optional<llvm::SmallVector<Read>> findReads();
  /// Emits the result of the body for a score. `masked` are elements of masks, as they are stored.
  mlir::Value emitScore(const Span &tile, mlir::Value scalar,
                        llvm::ArrayRef<std::pair<mlir::Value, mlir::Value>> masked, mlir::Value query, mlir::Value key);
  /// Emits the larger of two numbers, the first of which is not NaN; neither is the result. A NaN score reaches the
  /// result through its weight, which is NaN, too.
  mlir::Value larger(mlir::Value number, mlir::Value other);
  /// Divides the sums of values by those of the exponentials; `mapOfSums` maps an element of the former to its divisor.
  mlir::Value divide(Values carried, mlir::AffineMap mapOfSums);
  /// Stores the results of a tile, [query][value] or transposed, in the result of the operation.
  mlir::Value store(const Span &tile, mlir::Value rows, bool isTransposed, mlir::Value result);

  AttentionOp op;
  llvm::SmallVector<int64_t> outerIndices; ///< of the scores, but those of queries and keys
  int64_t queryIndex, keyIndex;
  mlir::AffineExpr numQueries, numKeys;
  int64_t size, valueSize;
  double lowest;
  llvm::SmallVector<LiveTest> tests;
  AttentionPolicy policy;

private:
  bool collectReads(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> at, int64_t &steps,
                    llvm::SmallVectorImpl<Read> &reads);
  Values passLiveKeys(const Span &tile, int64_t length, Values carried, mlir::Value again, AddKeys add);
  mlir::Value isLive(const Span &tile, const Span &block);
  mlir::Value hasDeadQuery(mlir::Value largest);
};

/// Writes attention for a few queries, where vectors run along keys and values (FewQueries.cpp), for one iteration of
/// the outer loops.
mlir::Value writeFewQueries(LineWriter &w, KernelScope &scope, AttentionOp op, mlir::ValueRange outer,
                            mlir::Value result, bool &hasFailed);

} // namespace tenon

#endif // TENON_PASSES_LOWER_TENON_TO_LINALG_ATTENTIONWRITER_H
