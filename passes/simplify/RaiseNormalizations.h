//===- RaiseNormalizations.h - normalisations in parts ---------------*- C++ -*-===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_SIMPLIFY_RAISENORMALIZATIONS_H
#define TENON_PASSES_SIMPLIFY_RAISENORMALIZATIONS_H

#include "mlir/IR/PatternMatch.h"
#include "passes/cost/ReductionPolicy.h"

namespace tenon {

/// Adds patterns that raise a normalization which an exporter has decomposed (a mean of squares, a square root and a
/// division along the last dimension) to `layer_norm` or `rms_norm`, which one kernel computes.
void populateRaiseNormalizations(mlir::RewritePatternSet &patterns, const ReductionPolicy &policy = {});

} // namespace tenon

#endif // TENON_PASSES_SIMPLIFY_RAISENORMALIZATIONS_H
