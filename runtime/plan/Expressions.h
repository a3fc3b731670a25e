//===- Expressions.h - evaluation of a plan's size expressions -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_PLAN_EXPRESSIONS_H
#define TENON_RUNTIME_PLAN_EXPRESSIONS_H

#include "runtime/base/Status.h"
#include "runtime/plan/Plan.h"

#include <cstddef>

namespace tenon::rt {

/// Flags for the symbols that have a value yet, and for the expressions that therefore have one.
struct Known {
  const uint8_t *symbols;
  uint8_t *exprs;
};

/// Applies an operation to two values. Returns false if the result overflows 64 bits or is undefined.
bool applyExprOp(ExprOp op, int64_t a, int64_t b, int64_t *result);

/// Evaluates expressions [begin, end) into `values`, which has one element for each expression of the plan; those
/// before `begin` must be evaluated. All arithmetic is checked: a failure names the expression and the symbols. With
/// `known`, an expression that depends on an unbound symbol evaluates to 0; without it, all symbols must be bound.
Status evaluate(const Plan &plan, const int64_t *symbols, uint32_t begin, uint32_t end, int64_t *values,
                const Known *known = nullptr);

/// Prints expression `expr` as text, such as "ceildiv(N, 2) * 4"; truncated with "..." if it exceeds `capacity` bytes.
void printExpr(const Plan &plan, uint32_t expr, char *text, size_t capacity);

} // namespace tenon::rt

#endif // TENON_RUNTIME_PLAN_EXPRESSIONS_H
