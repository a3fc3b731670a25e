//===- KernelStages.h - the loop nests of a kernel on tensors ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_KERNELSTAGES_H
#define TENON_PASSES_KERNEL_KERNELSTAGES_H

#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/cost/TilePolicy.h"

namespace tenon {

/// Returns a stage of a kernel, which is a loop nest on tensors; null for any other operation.
mlir::linalg::LinalgOp getStage(mlir::Operation *op);
mlir::linalg::LinalgOp getStage(mlir::Value result);

/// Returns the stage whose result `op` updates in place, or reads element by element to write its own.
mlir::Operation *getStageBefore(mlir::linalg::LinalgOp op);

/// Returns the contraction whose result is that of `root` or the input of its epilogue; null for none.
kernel::ContractOp findContractionOp(mlir::linalg::LinalgOp root);
/// Returns the Winograd convolution whose result is that of `root` or the input of its epilogue; null for none.
kernel::WinogradOp findWinograd(mlir::Operation *root);

/// True if a stage reduces over an empty range; no slices can be extracted from it.
bool reducesNothing(mlir::linalg::LinalgOp op);
/// Estimates how many elements are reduced to one element of the stages that `op` depends on.
int64_t getReductionSize(mlir::linalg::LinalgOp op, const TilePolicy &policy);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_KERNELSTAGES_H
