//===- ProductShape.h - how large a sum of products is ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_PRODUCTSHAPE_H
#define TENON_PASSES_COST_PRODUCTSHAPE_H

#include "mlir/IR/Operation.h"
#include "passes/cost/Machine.h"
#include <optional>

namespace tenon {

class SizeHints;

/// A contraction or convolution as a matmul: the rows and columns of its result, and the length of its sums. Dynamic
/// extents have their size hints or a default.
struct ProductShape {
  double rows;         ///< of all dimensions of the result but the last
  double columns;      ///< the last dimension of the result, or the filters
  double neighbours;   ///< rows in a line: the dimension whose steps are the same everywhere in memory
  double depth;        ///< products summed along the innermost summed dimension
  double repetitions;  ///< how often such a sum is continued: taps of a window, other summed dimensions
  double groups = 1;   ///< of a convolution
  double matrices = 1; ///< of a contraction: each multiplies as many of the rows

  double getProducts() const { return rows * columns * depth * repetitions; }
  /// Elements of the operand that rows share.
  double getWeights() const { return columns * depth * repetitions * matrices; }
};

/// The value that estimates assume for a dynamic extent without a size hint.
inline constexpr int64_t kDefaultExtent = 64;

/// Returns an extent; symbols without a size hint have the value kDefaultExtent.
double estimateExtent(const SizeHints &hints, mlir::AffineExpr dim);

std::optional<ProductShape> getProductShape(mlir::Operation *op);

/// The error of f32 sums of some hundred products, relative to the largest element.
inline constexpr double kSumError = 4e-7;

/// Whether a product is of f32 or f64, all of it.
bool isProductOfFloats(mlir::Operation *op);
/// Bytes of an element of the result.
int64_t getElementBytes(mlir::Operation *op);

/// Returns the cycles of a floating-point matmul that reaches `share` of the peak, or reads its weights at full
/// bandwidth, whichever takes longer.
double estimateFloats(mlir::Operation *op, const Machine &machine, double share);

/// The operand that kernels read in panels; null if there is none.
mlir::OpOperand *findPanels(mlir::Operation *op);
/// The operand of an int8 matmul that kernels read in panels interleaved by four (VNNI packing); null if there is none.
mlir::OpOperand *findK4Panels(mlir::Operation *op);

} // namespace tenon

#endif // TENON_PASSES_COST_PRODUCTSHAPE_H
