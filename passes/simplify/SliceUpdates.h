//===- SliceUpdates.h - scatters and gathers over ranges ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_SIMPLIFY_SLICEUPDATES_H
#define TENON_PASSES_SIMPLIFY_SLICEUPDATES_H

#include "dialects/tenon/Facts.h"
#include "mlir/IR/PatternMatch.h"

namespace tenon {

/// Replaces scatters and gathers whose indices are affine in their position, and in range for all sizes that `facts`
/// allow, by slices and concats: their addresses are known, so nothing is checked at run time, and elements are copied
/// in runs. `facts` must outlive the patterns.
void populateSliceUpdates(mlir::RewritePatternSet &patterns, const Facts &facts);

} // namespace tenon

#endif // TENON_PASSES_SIMPLIFY_SLICEUPDATES_H
