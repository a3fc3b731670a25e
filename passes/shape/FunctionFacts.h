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

/// Returns the symbols that dimensions of arguments bind, in order, without those of states.
llvm::SetVector<mlir::AffineExpr> getInputSymbols(mlir::func::FuncOp function);

/// Returns the symbols that the states of a function's sequences bind when a run begins, with their ranges.
llvm::MapVector<mlir::AffineExpr, Interval> getStateSymbols(mlir::func::FuncOp function);

/// Returns the facts of a public function that hold for all sizes: the ranges of its inputs' symbols, and the ranges
/// and bounds of data-dependent ones. The requirements in `tenon.requires` are not included.
Facts collectFacts(mlir::func::FuncOp function);

} // namespace tenon

#endif // TENON_PASSES_SHAPE_FUNCTIONFACTS_H
