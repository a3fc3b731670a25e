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

/// Convolutions of f16 and bf16 become such of f32, between casts: sums were carried in f32 before, and are rounded as
/// they were. Layouts, panels and Winograd's form are made for f32.
void populateWidenedConvolutions(mlir::RewritePatternSet &patterns);

} // namespace tenon

#endif // TENON_PASSES_SIMPLIFY_WIDENCONVOLUTIONS_H
