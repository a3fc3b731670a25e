//===- Flops.h - how much arithmetic an operation is ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_FLOPS_H
#define TENON_PASSES_COST_FLOPS_H

#include "mlir/IR/AffineExpr.h"

namespace mlir {
class Operation;
}

namespace tenon {

/// How many floating-point operations an operation of the tenon dialect is, as people count them: a multiplication and
/// an addition for each product that is summed, however it is computed (a Winograd convolution counts as what it
/// replaces), one for each element of other results, and one for each element that a reduction reads. Moving elements
/// is none. An expression of the symbols.
mlir::AffineExpr countFlops(mlir::Operation *op);

} // namespace tenon

#endif // TENON_PASSES_COST_FLOPS_H
