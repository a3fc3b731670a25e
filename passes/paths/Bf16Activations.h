//===- Bf16Activations.h - activations that are stored as bf16 ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A path that rounds the rows of a product leaves a cast. Where only products read the
// activation, the kernel that computes it stores bf16. Where others read it as f32, a
// kernel of its own casts it, unless these read the rounded numbers, too: a residual
// connection, for example.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_BF16ACTIVATIONS_H
#define TENON_PASSES_PATHS_BF16ACTIVATIONS_H

#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/cost/Machine.h"

namespace tenon {

/// An activation that is cast to bf16 for products, and that elementwise operations read as f32.
struct Bf16Activation {
  CastOp rounding;
  double savedCycles; ///< of all cores together, if those read the rounded numbers
};

/// Lists the activations of a function for which the estimate predicts a gain.
llvm::SmallVector<Bf16Activation> listBf16Activations(mlir::func::FuncOp function, const Machine &machine);

/// Makes all operations read the rounded numbers.
void storeAsBf16(const Bf16Activation &activation, mlir::RewriterBase &rewriter);

} // namespace tenon

#endif // TENON_PASSES_PATHS_BF16ACTIVATIONS_H
