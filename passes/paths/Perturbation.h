//===- Perturbation.h - results that are off by as much as a path is --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_PERTURBATION_H
#define TENON_PASSES_PATHS_PERTURBATION_H

#include "mlir/IR/PatternMatch.h"

namespace tenon {

/// Simulates the error of a path on a machine that cannot compute it: adds to each element of a floating-point result a
/// number between -`error` and `error` times the largest element. The numbers are the same in each run. Returns the
/// sum, which replaces the result in all uses.
mlir::Value perturbResult(mlir::Operation *op, double error, mlir::RewriterBase &rewriter);

/// Rounds an f32 tensor to bf16 for all of its users.
void roundToBf16(mlir::Value value, mlir::RewriterBase &rewriter);

} // namespace tenon

#endif // TENON_PASSES_PATHS_PERTURBATION_H
