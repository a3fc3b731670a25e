//===- FloatWeight.h - floats that paths may quantize ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_FLOATWEIGHT_H
#define TENON_PASSES_PATHS_FLOATWEIGHT_H

#include "dialects/tenon/Tenon.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/cost/PathPolicy.h"
#include "passes/cost/ProductShape.h"

namespace tenon {

/// Returns the weight of floats whose elements an operation reads at `operand`, as they are stored or cast; null if
/// there is none whose bytes are known, or if not all of its readers satisfy `isProduct`. A lookup, for example, would
/// need the floats beside what they are quantized to.
WeightOp findFloatWeight(mlir::OpOperand &operand, llvm::function_ref<bool(mlir::Operation *)> isProduct);

/// Erases `op`, and what it alone reads, if nothing reads it; `op` may be null.
void eraseUnread(mlir::RewriterBase &rewriter, mlir::Operation *op);

/// True if the result of a product with a constant matrix has the dimensions of `rows`, the other operand, but for the
/// last, in their order, and then the columns: what each row is scaled by broadcasts against the result.
bool keepsRows(ContractOp op, mlir::OpOperand &rows);

/// Estimates the number of elements of the rows of a product in their dimensions from `first` on.
double estimateElements(mlir::OpOperand &rows, int64_t first);

/// Returns the number of elements of the rows, or images, of a product that are rounded: of images, with those of the
/// border, and without pixels that no window has.
double countRoundedElements(mlir::Operation *op, const ProductShape &shape);

/// Returns the cycles to round one of these elements: `cycles`, or more where images have so few channels that vectors
/// cannot be filled with those of a pixel.
double getRoundingCycles(mlir::Operation *op, double cycles, const PathPolicy &policy);

/// Returns images with the same elements as `images`, [batch, ...], in the order of memory: what is transposed may
/// never be stored.
mlir::Value skipTransposes(mlir::Value images);

} // namespace tenon

#endif // TENON_PASSES_PATHS_FLOATWEIGHT_H
