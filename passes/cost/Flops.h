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

/// Counts the floating-point operations of an operation of the tenon dialect by the usual convention: two for each
/// product that is summed, however it is computed (a Winograd convolution counts as a direct one); one for each element
/// of other results; one for each element that a reduction reads; none for data movement. The count is an expression
/// over symbols.
mlir::AffineExpr countFlops(mlir::Operation *op);

} // namespace tenon

#endif // TENON_PASSES_COST_FLOPS_H
