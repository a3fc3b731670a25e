//===- PackedDims.h - which weights are read in panels ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_LAYOUT_PACKEDDIMS_H
#define TENON_PASSES_LAYOUT_PACKEDDIMS_H

#include "dialects/tenon/Tenon.h"

namespace tenon {

/// The dimension of a weight that is wanted in panels, and the one of which four neighbours are wanted together.
struct PackedDims {
  int64_t axis;
  std::optional<int64_t> quadAxis = {};
};

/// What the use of a weight by a product wants; nothing where the weight is read as it is.
std::optional<PackedDims> getPackedDims(mlir::OpOperand &use);

} // namespace tenon

#endif // TENON_PASSES_LAYOUT_PACKEDDIMS_H
