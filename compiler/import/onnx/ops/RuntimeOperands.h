//===- RuntimeOperands.h - axes, shapes and bounds that data decides ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operator's axes or bounds may be an input of the model. Then they are
// computed with: vectors of 64-bit integers, one element a dimension, of which
// those that extents need are bound to symbols. What follows works on shapes
// over these symbols as on any other.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_OPS_RUNTIMEOPERANDS_H
#define TENON_COMPILER_IMPORT_ONNX_OPS_RUNTIMEOPERANDS_H

#include "compiler/import/onnx/Node.h"

namespace tenon::onnx_import {

/// An integer constant of rank 0.
Value intScalar(Node &n, int64_t value);
/// Element `i` of a vector, of rank 0.
Value elementOf(Node &n, Value vector, int64_t i);
/// A vector of `size` times the same integer.
Value fillVector(Node &n, int64_t value, int64_t size);
/// The extents of a tensor, as a vector.
Value extentsOf(Node &n, Value x);

/// Ends the run with `text` if an element of a boolean vector is false.
void requireAll(Node &n, Value holds, llvm::StringRef text);

/// Returns an operand with axes of `rank` dimensions, as non-negative numbers. Range and uniqueness are checked at run
/// time.
Value axesOperand(Node &n, size_t i, int64_t rank);

/// For a vector of non-negative axes (k) of `rank` dimensions, returns an i64 vector (rank) with 1 at these axes and 0
/// elsewhere.
Value maskOfAxes(Node &n, Value axes, int64_t rank);
/// Returns the vector (rank) with `values[i]` at dimension `axes[i]`, and `otherwise[d]` at all other dimensions d.
Value placeAtAxes(Node &n, Value values, Value axes, Value otherwise);
/// 1 where `condition` holds, as i64.
Value toInt(Node &n, Value condition);

/// The shape to which an input is reshaped so that dimensions 2 * d + 1 are the reduced ones: dimension d of the input
/// becomes [extent, 1] if it is kept and [1, extent] if it is reduced. With `noneAreAll`, an empty list of axes means
/// all dimensions.
struct SplitByAxes {
  Value value;  ///< of twice the rank
  Ints reduced; ///< the odd dimensions
  Dims kept;    ///< the result's shape where reduced dimensions stay, as 1
  Value mask;   ///< 1 at the dimensions that are reduced
};
SplitByAxes splitByAxes(Node &n, Value x, Value axes, bool noneAreAll);

/// Returns the shape (rank - count) without the `count` dimensions at which `mask` is 1.
Dims dropAxes(Node &n, Value extents, Value mask, int64_t count);
/// Returns the shape (rank + count) with a 1 at each of the `axes`.
Dims insertAxes(Node &n, Value extents, Value axes, int64_t count);

/// Reshapes the input to [before, extent, after] around an axis, which is a vector of one element.
Value aroundAxis(Node &n, Value x, Value axis);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_OPS_RUNTIMEOPERANDS_H
