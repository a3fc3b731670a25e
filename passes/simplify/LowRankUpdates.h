//===- LowRankUpdates.h - adapters become part of the matrix ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_SIMPLIFY_LOWRANKUPDATES_H
#define TENON_PASSES_SIMPLIFY_LOWRANKUPDATES_H

#include "mlir/IR/PatternMatch.h"

namespace tenon {

/// Adds the pattern x W + s (x A) B -> x (W + s A B) for constant matrices and a constant s: an adapter (LoRA, Hu and
/// others, https://arxiv.org/abs/2106.09685) becomes part of the matrix that it changes.
void populateLowRankUpdates(mlir::RewritePatternSet &patterns);

} // namespace tenon

#endif // TENON_PASSES_SIMPLIFY_LOWRANKUPDATES_H
