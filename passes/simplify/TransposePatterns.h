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

/// A transpose that keeps the order of all dimensions but those of 1 becomes a reshape.
void populateTransposePatterns(mlir::RewritePatternSet &patterns);

} // namespace tenon

#endif // TENON_PASSES_SIMPLIFY_TRANSPOSEPATTERNS_H
