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

/// A reshape, slice, transpose or gather of a constant that is cast from f16 or bf16 comes before the cast: the
/// products and lookups behind it then read halves, and what is moved at compile time stays small.
void populateHoistCasts(mlir::RewritePatternSet &patterns);

} // namespace tenon

#endif // TENON_PASSES_SIMPLIFY_HOISTCASTS_H
