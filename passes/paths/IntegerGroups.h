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
#include "passes/cost/PackedDims.h"
#include "passes/precision/GroupQuantizer.h"

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

/// A matrix as integers of which `group` neighbours along `axis` have one scale of f32, and what it is off by.
struct QuantizedMatrix {
  /// Allocates integers of `bits` bits for the elements of `floats`, and their scales.
  QuantizedMatrix(mlir::RankedTensorType floats, unsigned bits, int64_t axis, int64_t group);

  mlir::RankedTensorType type, scalesType;
  mlir::AsmResourceBlob numbers, scales;
  int64_t axis, group;
  QuantizationError error;
};

/// Returns the elements of a constant matrix of floats whose bytes are known, or of a filter at the first element of
/// its window: its columns are the rows of the result.
FloatMatrix getFloatMatrix(WeightOp weight, const MatrixAxes &axes);

/// Returns the error of a product of rows that are off by `ofRows` of their root mean square with such a matrix;
/// infinite if that has elements that are not finite, or too large.
double getRoundingError(double ofRows, const QuantizationError &ofMatrix);

/// Creates what the integers of a matrix stand for. They are named after `source`.
mlir::Value createGroups(mlir::RewriterBase &rewriter, WeightOp source, QuantizedMatrix matrix);

/// Makes a product read `rows` and `matrix` instead of its operands, and erases what nothing reads any more.
void setFactors(mlir::RewriterBase &rewriter, mlir::OpOperand &rows, mlir::Value newRows, mlir::OpOperand &matrix,
                mlir::Value newMatrix);

} // namespace tenon

#endif // TENON_PASSES_PATHS_INTEGERGROUPS_H
