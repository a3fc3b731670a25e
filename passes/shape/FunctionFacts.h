//===- FunctionFacts.h - what a function says of its symbols --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_SHAPE_FUNCTIONFACTS_H
#define TENON_PASSES_SHAPE_FUNCTIONFACTS_H

#include "dialects/tenon/Facts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tenon {

/// The symbols that dimensions of arguments bind, in order; those of states are not among them.
llvm::SetVector<mlir::AffineExpr> getInputSymbols(mlir::func::FuncOp function);

/// The symbols that the states of the function's module bind when a run begins, with what they range over.
llvm::MapVector<mlir::AffineExpr, Interval> getStateSymbols(mlir::func::FuncOp function);

/// The facts of a public function that hold for any sizes: the ranges of its inputs' symbols, and the ranges and
/// bounds of those that data decides. What `tenon.requires` says is not among them.
Facts collectFacts(mlir::func::FuncOp function);

} // namespace tenon

#endif // TENON_PASSES_SHAPE_FUNCTIONFACTS_H
