//===- Blocks.h - parts of tensors as matrices ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_LOWER_TENON_TO_LINALG_BLOCKS_H
#define TENON_PASSES_LOWER_TENON_TO_LINALG_BLOCKS_H

#include "dialects/kernel/KernelDialect.h"
#include "passes/lower/tenon-to-linalg/LineLoops.h"
#include <optional>

namespace tenon {

/// Some of the indices of a dimension.
struct Span {
  mlir::Value first;
  int64_t most;             ///< that there is room for
  mlir::OpFoldResult count; ///< how many there are
};

/// A matrix in memory, which may be stored transposed.
struct Matrix {
  mlir::Value tensor;
  bool isTransposed;
};

/// Writes linalg operations on slices of tensors, inside loops over their outer dimensions. The indices of an operand
/// are expressions over the loops around, a row, and a column.
class BlockWriter {
public:
  using Values = LineWriter::Values;
  using Body = llvm::function_ref<Values(mlir::ValueRange)>;

  /// `outer` are the induction variables of the loops around; memory that is allocated here has the type `type`.
  BlockWriter(LineWriter &w, KernelScope &scope, mlir::ValueRange outer, mlir::Type type)
      : w(w), scope(scope), outer(outer), type(type) {}

  /// True if some element has no scalar form, which was reported.
  bool hasFailed = false;

protected:
  /// Creates a linalg.generic; the loops that an output lacks are reductions.
  Values forEach(unsigned numLoops, mlir::ValueRange inputs, llvm::ArrayRef<mlir::AffineMap> maps,
                 mlir::ValueRange outputs, Body body);
  mlir::Value empty(llvm::ArrayRef<int64_t> extents, mlir::Type elementType);
  mlir::Value empty(llvm::ArrayRef<int64_t> extents) { return empty(extents, type); }
  mlir::Value fill(mlir::Value tensor, double number);
  mlir::Value constant(double number);
  /// A map to some of the loops.
  mlir::AffineMap map(unsigned numLoops, llvm::ArrayRef<unsigned> loops);
  mlir::AffineExpr dim(int64_t i) { return w.b.getAffineDimExpr(i); }
  mlir::Value extent(mlir::AffineExpr dim) { return scope.materializeDim(w.b, w.loc, dim); }
  Span all(int64_t count) { return {w.index(0), count, w.b.getIndexAttr(count)}; }

  /// The first rows and columns of a matrix.
  mlir::Value cut(mlir::Value matrix, mlir::OpFoldResult rows, mlir::OpFoldResult columns);
  /// Returns the tensor in memory that has the elements of a value, and their indices; none if they are computed.
  std::optional<ElementSource> findTensor(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> at);
  /// Returns the slice of a tensor at indices `at`, which covers two of its dimensions; null if it is not one.
  Matrix slice(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> at, const Span &rows, const Span &columns);
  /// The same for any value, read in place; null if it is not in memory.
  Matrix readInPlace(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> at, const Span &rows, const Span &columns);
  /// The same in memory of its own.
  mlir::Value copy(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> at, const Span &rows, int64_t columns);
  /// Returns `target`, a row for each column of the matrix, filled with the transposed matrix.
  mlir::Value transpose(const Matrix &matrix, mlir::OpFoldResult rows, mlir::OpFoldResult columns, mlir::Value target);
  /// Adds products to `out`: those of the rows of a matrix with `vectors`, or those of its columns.
  mlir::Value multiply(const Matrix &matrix, bool isOfColumns, mlir::Value vectors, mlir::Value out);
  /// Returns pairs of neighbouring elements, rounded to bf16 (dialects/kernel/Bf16Pairs.h), in memory of their own:
  /// those of neighbouring rows, or of neighbouring columns. The last one of an odd number is paired with zero. If
  /// there shall be more pairs than that, zeros follow.
  Matrix pairUp(const Matrix &matrix, const Span &rows, const Span &columns, bool areOfRows,
                std::optional<int64_t> numPairs = std::nullopt);
  /// Adds products to `out` as `multiply` does, for matrices of pairs along the summed dimension, with a micro-kernel
  /// if operands and target allow it.
  mlir::Value multiplyPairs(const Matrix &matrix, bool isOfColumns, mlir::Value vectors, mlir::Value out,
                            kernel::MicroKernel microKernel = kernel::MicroKernel::automatic);
  /// Fills a tensor of pairs with zeros.
  mlir::Value fillPairs(mlir::Value tensor);

private:
  Values contract(const Matrix &matrix, bool isOfColumns, mlir::Value vectors, mlir::Value out, Body body);

protected:
  LineWriter &w;
  KernelScope &scope;
  llvm::SmallVector<mlir::Value> outer;
  mlir::Type type;
};

} // namespace tenon

#endif // TENON_PASSES_LOWER_TENON_TO_LINALG_BLOCKS_H
