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

/// The extent of an index of an operand of attention.
mlir::AffineExpr getExtent(mlir::Value tensor, llvm::ArrayRef<int64_t> indices, int64_t index);
mlir::AffineExpr getNumQueries(AttentionOp op);
/// The indices of the scores but for those of queries and keys, and their extents.
std::pair<llvm::SmallVector<int64_t>, Dims> getOuter(AttentionOp op);

/// Writes the part of a kernel that the place of its queries in vectors does not change.
class AttentionWriter : protected BlockWriter {
public:
  using BlockWriter::hasFailed;

protected:
  // What is carried from one block of keys to the next: of each query the largest score, the sum of the exponentials,
  // and the sums of values.
  enum Carried { largest, sum, mixed };
  /// Takes a block of keys into what is carried.
  using AddKeys = llvm::function_ref<Values(const Span &block, Values carried)>;
  /// A tensor that the body reads an element of for each score.
  struct Read {
    mlir::Value value;
    llvm::SmallVector<mlir::AffineExpr> at;
  };

  AttentionWriter(LineWriter &w, KernelScope &scope, AttentionOp op, mlir::ValueRange outer);

  /// All keys, in blocks of `length`, or where tests tell those that count from the others, one kind of them.
  Values passKeys(const Span &tile, int64_t length, Values carried, AddKeys add);
  /// Rows and columns of an operand: as they lie in memory where they are of the right type, else a copy.
  Matrix readMatrix(mlir::Value value, llvm::ArrayRef<int64_t> indices, int64_t rowIndex, const Span &rows,
                    int64_t columnIndex, int64_t columns);
  /// Whether keys or values are no numbers as the kernel computes with, and are thus copied.
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
  /// What the body reads from outside for a score; nothing where there are too many ways to tell.
  std::optional<llvm::SmallVector<Read>> findReads();
  /// What the body makes of a score. `masked` are elements of masks, as they are stored.
  mlir::Value emitScore(const Span &tile, mlir::Value scalar,
                        llvm::ArrayRef<std::pair<mlir::Value, mlir::Value>> masked, mlir::Value query, mlir::Value key);
  /// The larger one of two numbers, of which the first is none that is not a number; so is the result. The weight of a
  /// score that is not a number is none either, which is how one reaches the result.
  mlir::Value larger(mlir::Value number, mlir::Value other);
  /// The sums of values over those of the exponentials, which `mapOfSums` finds for an element of the former.
  mlir::Value divide(Values carried, mlir::AffineMap mapOfSums);
  /// Results of a tile, [query][value] or the other way round, where the result of the operation has them.
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

/// Writes the attention of a few queries, whose keys and values run along the vectors (FewQueries.cpp): the result with
/// those of one place of the loops around.
mlir::Value writeFewQueries(LineWriter &w, KernelScope &scope, AttentionOp op, mlir::ValueRange outer,
                            mlir::Value result, bool &hasFailed);

} // namespace tenon

#endif // TENON_PASSES_LOWER_TENON_TO_LINALG_ATTENTIONWRITER_H
