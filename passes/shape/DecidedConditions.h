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

/// Whether all elements of a boolean tensor are true, or all are false, whatever sizes the facts allow; nothing where
/// that is not known. Comparisons of positions are looked at, and what is made of them.
std::optional<bool> decideCondition(const Facts &facts, mlir::Value condition);

/// Puts the operand that is always taken in the place of selections whose condition is decided, such as a causal mask
/// of a single query, and drops decided operands of a logical and or or.
void foldDecidedConditions(const Facts &facts, mlir::func::FuncOp function);

} // namespace tenon

#endif // TENON_PASSES_SHAPE_DECIDEDCONDITIONS_H
