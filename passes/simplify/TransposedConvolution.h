//===- TransposedConvolution.h - without the zeros between pixels -*- C++ -*-===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_SIMPLIFY_TRANSPOSEDCONVOLUTION_H
#define TENON_PASSES_SIMPLIFY_TRANSPOSEDCONVOLUTION_H

#include "mlir/IR/PatternMatch.h"

namespace tenon {

/// Replaces convolutions of an input with zeros between its pixels, that is, transposed convolutions, by convolutions
/// of the pixels themselves.
void populateTransposedConvolutions(mlir::RewritePatternSet &patterns);

} // namespace tenon

#endif // TENON_PASSES_SIMPLIFY_TRANSPOSEDCONVOLUTION_H
