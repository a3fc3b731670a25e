//===- HoistCasts.h - weights of halves are moved as such --------*- C++ -*-===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_SIMPLIFY_HOISTCASTS_H
#define TENON_PASSES_SIMPLIFY_HOISTCASTS_H

namespace mlir {
class RewritePatternSet;
}

namespace tenon {

/// Moves reshapes, slices, transposes and gathers of a constant before its cast from f16 or bf16: matmuls and lookups
/// then read the narrow type, and what is moved at compile time stays small.
void populateHoistCasts(mlir::RewritePatternSet &patterns);

} // namespace tenon

#endif // TENON_PASSES_SIMPLIFY_HOISTCASTS_H
