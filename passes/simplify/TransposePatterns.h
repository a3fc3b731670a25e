//===- TransposePatterns.h - transposes that move nothing -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_SIMPLIFY_TRANSPOSEPATTERNS_H
#define TENON_PASSES_SIMPLIFY_TRANSPOSEPATTERNS_H

namespace mlir {
class RewritePatternSet;
}

namespace tenon {

/// Replaces a transpose that only moves dimensions of 1 by a reshape.
void populateTransposePatterns(mlir::RewritePatternSet &patterns);

} // namespace tenon

#endif // TENON_PASSES_SIMPLIFY_TRANSPOSEPATTERNS_H
