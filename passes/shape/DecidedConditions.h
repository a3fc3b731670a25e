//===- DecidedConditions.h - conditions that hold for all elements, or none -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_SHAPE_DECIDEDCONDITIONS_H
#define TENON_PASSES_SHAPE_DECIDEDCONDITIONS_H

#include "dialects/tenon/Facts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon {

/// Returns true if all elements of a boolean tensor are true, false if all are false, for all sizes that the facts
/// allow; none if this is not known. It analyses comparisons of positions, and logical operations on them.
std::optional<bool> decideCondition(const Facts &facts, mlir::Value condition);

/// Replaces selections whose condition is decided, such as a causal mask of a single query, by the selected operand,
/// and drops decided operands of a logical and or or.
void foldDecidedConditions(const Facts &facts, mlir::func::FuncOp function);

} // namespace tenon

#endif // TENON_PASSES_SHAPE_DECIDEDCONDITIONS_H
