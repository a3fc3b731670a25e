//===- IndexChecks.h - checks of indices before the loops that use them ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gathers and scatters clamp each index, so that no loop reads or writes outside
// of a tensor. That an index was in range to begin with is checked apart, at the
// start of the kernel: a loop finds the smallest and the largest element of the
// index tensor, which vectorises, and the loops that move data have no branch.
// Each call checks the share of the indices that falls to its tiles.
//
// No index clamps into an empty dimension. Where one may be empty every call
// checks that first, so that no tile of it runs.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_LOWER_TENON_TO_LINALG_INDEXCHECKS_H
#define TENON_PASSES_LOWER_TENON_TO_LINALG_INDEXCHECKS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/lower/tenon-to-linalg/ElementEmitter.h"

namespace tenon {

/// Emits kernel.check_indices for all operations of `kernel`, which is in value semantics, at the builder's insertion
/// point.
mlir::LogicalResult emitIndexChecks(mlir::OpBuilder &builder, KernelScope &scope, mlir::func::FuncOp kernel);

} // namespace tenon

#endif // TENON_PASSES_LOWER_TENON_TO_LINALG_INDEXCHECKS_H
