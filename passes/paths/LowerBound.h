//===- LowerBound.h - what no element of a tensor is below ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_LOWERBOUND_H
#define TENON_PASSES_PATHS_LOWERBOUND_H

#include "mlir/IR/Value.h"

namespace tenon {

/// Returns a number that no finite element of a tensor of floats is below, but for rounding, whatever the inputs of the
/// model are: 0 after a ReLU, -0.28 after a SiLU. Minus infinity if the operations that compute it tell none.
double findLowerBound(mlir::Value value);

} // namespace tenon

#endif // TENON_PASSES_PATHS_LOWERBOUND_H
