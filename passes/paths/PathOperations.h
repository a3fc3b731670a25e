//===- PathOperations.h - the operations that paths are for ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_PATHOPERATIONS_H
#define TENON_PASSES_PATHS_PATHOPERATIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/cost/Machine.h"

namespace tenon {

/// Lists the operations of the tenon dialect in a function, including nested ones, in the order in which PathSelection
/// counts them.
llvm::SmallVector<mlir::Operation *> listPathOperations(mlir::func::FuncOp function);

/// Returns the machine for the estimates of these operations, with the bytes of the function's weights.
Machine getPathMachine(mlir::func::FuncOp function);

} // namespace tenon

#endif // TENON_PASSES_PATHS_PATHOPERATIONS_H
