//===- ContractionMatch.h - matrix products among linalg operations -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACTIONMATCH_H
#define TENON_PASSES_KERNEL_CONTRACTIONMATCH_H

#include "passes/kernel/Contraction.h"

namespace tenon {

/// Recognizes contractions of f32, of f64, of reduced-precision types that are promoted to these, of int8 with VNNI
/// packing, and of packed i16 and bf16. Each read refers to its value in the body.
std::optional<Contraction> matchContraction(mlir::linalg::GenericOp op);

/// Matches how `factor`, a value of the body, is dequantized; `rhs` becomes the read of the stored numbers. Of several
/// summed loops, which only a kernel that `sumsWindows` has, numbers follow each other along the last one.
std::optional<Dequantization> matchDequantization(mlir::linalg::GenericOp op, mlir::Value factor, unsigned columnLoop,
                                                  ElementRead &rhs, bool sumsWindows = false);

/// Matches a product of `row`, an i16, or a byte less 128, times a scale, with `factor`, which is dequantized: both
/// values of the body, whose scales are those of groups.
std::optional<Contraction> matchIntegerGroups(mlir::linalg::GenericOp op, unsigned columnLoop, mlir::Value row,
                                              mlir::Value factor);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACTIONMATCH_H
