//===- WidenConvolutions.h - convolutions of halves in f32 -------*- C++ -*-===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_SIMPLIFY_WIDENCONVOLUTIONS_H
#define TENON_PASSES_SIMPLIFY_WIDENCONVOLUTIONS_H

#include "mlir/IR/PatternMatch.h"

namespace tenon {

/// Replaces convolutions of f16 and bf16 by f32 convolutions between casts. Sums were accumulated in f32 before, so
/// rounding does not change. Layouts, panels and Winograd transforms are implemented for f32.
void populateWidenedConvolutions(mlir::RewritePatternSet &patterns);

} // namespace tenon

#endif // TENON_PASSES_SIMPLIFY_WIDENCONVOLUTIONS_H
