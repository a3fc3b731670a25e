//===- SplitProduct.h - products of floats split into bf16 terms ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_SPLITPRODUCT_H
#define TENON_PASSES_PATHS_SPLITPRODUCT_H

#include "dialects/tenon/Tenon.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/cost/PackedDims.h"
#include "passes/cost/ProductShape.h"
#include "passes/paths/split/Bf16Terms.h"

namespace tenon {

/// How the factors of a product become bf16 terms.
struct TermSplit {
  int64_t matrixTerms; ///< one for a matrix of bf16 and more for one of f32
  bool rounds = false; ///< each factor, of f32 or bf16, is rounded to one term

  bool operator==(const TermSplit &) const = default;
};

/// A matmul with a constant matrix of f32 or bf16 whose factors can be split into bf16 terms.
struct SplitProduct {
  mlir::OpOperand *matrix, *rows;
  WeightOp weight;
  MatrixAxes axes;
  int64_t rowTerms, matrixTerms;

  /// Terms that together have all bits of an f32.
  static constexpr int64_t kAllTerms = 3; // math: 3 * 8 bits of mantissa

  /// True if kernels split the matrix as they read it, because the terms in scratch fit L2.
  bool isSplitWhenRead() const;
  int64_t getMatrixBytes() const { return isSplitWhenRead() ? sizeof(float) : matrixTerms * sizeof(uint16_t); }
  /// True if kernels also split the rows as they read them, since stored terms take 1.5 times the memory of f32.
  bool areRowsSplitWhenRead() const;
  int64_t countProducts() const { return matrixTerms == 1 ? rowTerms : countTermProducts(matrixTerms); }
};

/// Matches `op` as a matmul whose factors can be split; nullopt if it is none.
std::optional<SplitProduct> findSplitProduct(mlir::Operation *op, TermSplit split);

/// The root mean square of the relative error of rounding to bf16 for mantissas distributed by Benford's law: half an
/// ulp divided by the square root of three, times the root mean square of the inverse of a mantissa.
inline constexpr double kBf16RoundingError = 0.00390625 * 0.425; // math: 2^-8, and the root of 3 / (8 ln 2) / 3

/// Returns the error of a matmul whose factors are rounded to bf16, relative to the largest element of the result: the
/// matrix contributes its actual error, the rows that of arbitrary numbers.
double measureRoundingError(const SplitProduct &product);
/// Returns that error for a nonzero matrix that is exact in bf16, to which only the rows contribute.
double getLeastRoundingError();

/// The AMX tiles of sums of a product of terms, and the steps that each sums.
struct AmxSums {
  double tiles, steps;
};

/// Counts these for terms of which `neighbours` fill 32 bits. None for a single row, which has no loop that AMX tiles
/// could be loaded along, and for empty sums.
std::optional<AmxSums> countAmxSums(const ProductShape &shape, int64_t neighbours);

/// How a matrix, or a filter, whose columns and depth are `axes` is packed to terms: other dimensions are outer ones.
TermPacking getTermPacking(mlir::RankedTensorType matrix, const MatrixAxes &axes, int64_t numTerms, int64_t neighbours);
/// The shape of its panels: the input of tenon.unpack_terms.
llvm::SmallVector<int64_t> getPanelShape(mlir::RankedTensorType matrix, const MatrixAxes &axes,
                                         const TermPacking &packing);

/// Calls `body` for parts of a packing that threads share: with the packing of some of its panels and the number of
/// their first column.
void forPanels(mlir::MLIRContext *context, const TermPacking &packing,
               llvm::function_ref<void(const TermPacking &part, int64_t firstColumn)> body);

/// True if a convolution with 1x1 windows skips pixels, which then need not be split.
bool skipsPixels(ConvolveOp op);

/// convolve(x) with 1x1 windows, strides and maybe padding -> convolve(slice(pad(x))), so that skipped pixels are not
/// split or rounded.
void takeSteps(mlir::RewriterBase &rewriter, ConvolveOp op);

/// matmul(x, w) -> matmul(merge_terms(split_terms(x)), unpack_terms(w))
mlir::Operation *rewriteSplitProduct(mlir::Operation *op, TermSplit split, mlir::RewriterBase &rewriter);

} // namespace tenon

#endif // TENON_PASSES_PATHS_SPLITPRODUCT_H
