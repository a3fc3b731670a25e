//===- RaiseNormalizations.h - normalisations in parts ---------------*- C++ -*-===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_SIMPLIFY_RAISENORMALIZATIONS_H
#define TENON_PASSES_SIMPLIFY_RAISENORMALIZATIONS_H

#include "mlir/IR/PatternMatch.h"

namespace tenon {

/// What exporters write as a mean of squares, a root and a division along the last dimension becomes the normalisation
/// that it is, of which one kernel is made.
void populateRaiseNormalizations(mlir::RewritePatternSet &patterns);

} // namespace tenon

#endif // TENON_PASSES_SIMPLIFY_RAISENORMALIZATIONS_H
