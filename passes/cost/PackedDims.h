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

/// The dimension of a weight that is wanted in panels, and the one of which four neighbours, or eight in a word, are
/// wanted together. With `bits` it is a matrix of f32 whose numbers become such that share words along `wordAxis`.
struct PackedDims {
  int64_t axis;
  std::optional<int64_t> quadAxis = {}, wordAxis = {};
  int64_t columns = kPanelColumns;
  std::optional<int64_t> bits = {};
};

/// What the use of a weight by a product wants; nothing where the weight is read as it is.
std::optional<PackedDims> getPackedDims(mlir::OpOperand &use);

/// Dimensions of a matrix: the one along the columns of the result, and the one that is the other operand's last.
struct MatrixAxes {
  int64_t columns, depth;
};

/// Those of an operand of a product which has panels, or could have, and whose other dimensions lie one after the
/// other.
std::optional<MatrixAxes> getMatrixAxes(mlir::OpOperand &use);

/// What an embedding of numbers of four bits wants whose rows are gathered, and nothing else: rows by
/// themselves.
std::optional<PackedDims> getEmbeddingDims(WeightOp weight);

} // namespace tenon

#endif // TENON_PASSES_COST_PACKEDDIMS_H
