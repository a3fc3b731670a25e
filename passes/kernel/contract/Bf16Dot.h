//===- Bf16Dot.h - sums of pairs of products of bf16 ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_BF16DOT_H
#define TENON_PASSES_KERNEL_CONTRACT_BF16DOT_H

#include "passes/kernel/contract/EmitterPart.h"

namespace tenon {

/// Whether vdpbf16ps can sum the contraction: both operands are one bf16 term.
bool fitsBf16Dot(const ContractionProblem &problem);

/// Adds all products of `rows` rows of a block of `vectors` vectors to `sums`, which are those of all rows of the
/// block. What is stored beyond the depth is zero in both operands.
llvm::SmallVector<mlir::Value> emitBf16Dot(LoopBuilder &nest, const ContractionProblem &problem, int64_t vectors,
                                           mlir::ArrayRef<int64_t> rows, mlir::ValueRange sums);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_BF16DOT_H
