//===- PackedDims.h - which weights are read in panels ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_PACKEDDIMS_H
#define TENON_PASSES_COST_PACKEDDIMS_H

#include "dialects/tenon/Tenon.h"
#include "passes/cost/PanelPacking.h"

namespace tenon {

/// Fewer columns than these are not worth a panel.
inline constexpr int64_t kFewColumns = 4;

/// How a weight is packed: the dimension that is split into panels, and the one along which groups of four are
/// interleaved (`k4Axis`) or small integers share an i32 (`packedI32Axis`). With `bits`, an f32 matrix is stored as
/// fixed-point numbers, packed along `packedI32Axis`.
struct PackedDims {
  int64_t axis;
  std::optional<int64_t> k4Axis = {}, packedI32Axis = {};
  int64_t columns = kPanelColumns;
  std::optional<int64_t> bits = {};
};

/// The packing that a matmul or convolution requests for its weight; nothing if it reads the weight as it is.
std::optional<PackedDims> getPackedDims(mlir::OpOperand &use);

/// The dimensions of a matrix operand: the columns of the result, and the summed one, which is the last of the other
/// operand.
struct MatrixAxes {
  int64_t columns, depth;
};

/// The axes of an operand that is packed into panels, or could be, and whose other dimensions are contiguous; nothing
/// for other operands.
std::optional<MatrixAxes> getMatrixAxes(mlir::OpOperand &use);

/// The packing of a 4-bit embedding that only gathers read: each row by itself.
std::optional<PackedDims> getEmbeddingDims(WeightOp weight);

} // namespace tenon

#endif // TENON_PASSES_COST_PACKEDDIMS_H
