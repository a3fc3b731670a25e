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

/// Adds to the result of an operation, a tensor of floats, what a path of that error may add: to each element a number
/// between -`error` and `error` times the largest element, the same ones in each run. They take the place of a path's
/// own errors where a machine cannot compute the path. Returns the sum, which is read instead of the result.
mlir::Value perturbResult(mlir::Operation *op, double error, mlir::RewriterBase &rewriter);

/// Makes everything that reads a tensor of f32 read it rounded to bf16.
void roundToBf16(mlir::Value value, mlir::RewriterBase &rewriter);

} // namespace tenon

#endif // TENON_PASSES_PATHS_PERTURBATION_H
