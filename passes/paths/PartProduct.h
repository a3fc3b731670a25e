//===- PartProduct.h - products of floats in parts -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_PARTPRODUCT_H
#define TENON_PASSES_PATHS_PARTPRODUCT_H

#include "dialects/tenon/Tenon.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/cost/PackedDims.h"
#include "passes/paths/parts/FloatParts.h"

namespace tenon {

/// A product of rows with a matrix of f32, or of bf16 as such, whose factors can become parts.
struct PartProduct {
  mlir::OpOperand *matrix, *rows;
  WeightOp weight;
  MatrixAxes axes;
  int64_t rowParts, matrixParts;

  /// Whether kernels cut the elements of the matrix: where what they keep of it stays in the second cache.
  bool isCutWhenRead() const;
  int64_t getMatrixBytes() const { return isCutWhenRead() ? sizeof(float) : matrixParts * sizeof(uint16_t); }
  /// Whether they cut the rows, too: parts take half as much memory again as rows do.
  bool areRowsCutWhenRead() const;
  int64_t countProducts() const { return matrixParts == 1 ? rowParts : countPartProducts(matrixParts); }
};

/// The product that `op` is with `numParts` parts of its matrix: one for a matrix of bf16 alone, more for those of f32.
std::optional<PartProduct> findPartProduct(mlir::Operation *op, int64_t numParts);

/// Whether a convolution reads single pixels, of which only some: no others need to become parts.
bool skipsPixels(ConvolveOp op);

/// product(x, w) -> product(from_parts(to_parts(x)), unpack_parts(w))
mlir::Operation *takePartProduct(mlir::Operation *op, int64_t numParts, mlir::RewriterBase &rewriter);

} // namespace tenon

#endif // TENON_PASSES_PATHS_PARTPRODUCT_H
