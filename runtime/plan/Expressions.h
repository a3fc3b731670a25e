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

/// Which symbols have a value yet, and which expressions therefore have one; a flag for each.
struct Known {
  const uint8_t *symbols;
  uint8_t *exprs;
};

/// Applies an operation on two values. False where the result does not fit 64 bits, or there is none.
bool applyExprOp(ExprOp op, int64_t a, int64_t b, int64_t *result);

/// Evaluates expressions [begin, end) into `values`, one slot for each expression of the plan; those before
/// `begin` have theirs already. All arithmetic is checked: a failure names the expression and the symbols.
/// With `known`, an expression that depends on a symbol without a value comes to 0; without it, all have one.
Status evaluate(const Plan &plan, const int64_t *symbols, uint32_t begin, uint32_t end, int64_t *values,
                const Known *known = nullptr);

/// Writes expression `expr` as text, "ceildiv(N, 2) * 4"; cut with "..." where `capacity` bytes do not do.
void printExpr(const Plan &plan, uint32_t expr, char *text, size_t capacity);

} // namespace tenon::rt

#endif // TENON_RUNTIME_PLAN_EXPRESSIONS_H
