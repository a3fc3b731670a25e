//===- IntegerGroups.h - factors as integers in groups with scales --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Neighbours along the sum share a scale. tenon.dequantize says what the integers are,
// so that a contraction keeps its meaning for every kernel; that of the path multiplies
// the integers.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_INTEGERGROUPS_H
#define TENON_PASSES_PATHS_INTEGERGROUPS_H

#include "dialects/tenon/Tenon.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/PatternMatch.h"

namespace tenon {

/// How the number of an element of a row is stored.
struct RowIntegers {
  mlir::IntegerType type;
  double largest; ///< magnitude of a number
  int64_t zero;   ///< what is added to a number before it is stored
};

/// Rounds rows `x` to integers in groups of `group` neighbours along the last dimension, which they divide, and returns
/// what tenon.dequantize makes of these. NaN makes its group NaN; infinities make sums infinite or NaN, those of both
/// signs in a group not always NaN. Products with the same rows have the same operations, which CSE merges.
mlir::Value roundToGroups(mlir::RewriterBase &rewriter, mlir::Value x, int64_t group, const RowIntegers &integers);

/// A matrix as integers, and their scales.
struct MatrixIntegers {
  mlir::RankedTensorType type;
  mlir::AsmResourceBlob numbers, scales;
};

/// Returns the shape of the scales of groups along `axis`.
mlir::RankedTensorType getScalesType(mlir::RankedTensorType matrix, int64_t axis, int64_t group);

/// Creates the matrix that `integers` stand for, of which those of a group along `axis` have one scale of f32. They are
/// named after `source`.
mlir::Value createGroups(mlir::RewriterBase &rewriter, WeightOp source, MatrixIntegers integers, int64_t axis,
                         int64_t group);

/// Makes a product read `rows` and `matrix` instead of its operands, and erases what nothing reads any more.
void setFactors(mlir::RewriterBase &rewriter, mlir::OpOperand &rows, mlir::Value newRows, mlir::OpOperand &matrix,
                mlir::Value newMatrix);

} // namespace tenon

#endif // TENON_PASSES_PATHS_INTEGERGROUPS_H
