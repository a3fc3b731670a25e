//===- Symbols.h - the values that the inputs' shapes give to symbols ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_PLAN_SYMBOLS_H
#define TENON_RUNTIME_PLAN_SYMBOLS_H

#include "runtime/base/Status.h"
#include "runtime/plan/Plan.h"

namespace tenon::rt {

/// Computes the symbols' values. `dims` has the concatenated shapes of all inputs, like Plan::dims: the caller has
/// checked ranks, and that no dimension is negative. `rows` has two values for each state, of its symbols `live` and
/// `slot`, which take precedence over dimensions. A symbol that is bound by neither gets 0. `values` has an element for
/// each symbol.
Status bindSymbols(const Plan &plan, const int64_t *dims, const int64_t *rows, int64_t *values);

/// Compares the inputs' shapes with the values of the plan's expressions.
Status checkShapes(const Plan &plan, const int64_t *dims, const int64_t *symbols, const int64_t *exprs);

/// Returns the failure of a check: the reason, and the values of the symbols that it depends on, with the inputs that
/// bound them. `node` is null if the check belongs to the binding of sizes.
Status requirementFails(const Plan &plan, const Check &check, const int64_t *symbols, const char *node);

/// True if a program accepts the shapes, that is, if bindSymbols and checkShapes would succeed.
bool fitsShapes(const Plan &plan, const int64_t *dims, const int64_t *rows);

/// Fails if `value` is outside the symbol's range. `where` names its origin.
Status checkRange(const Symbol &symbol, int64_t value, const char *where);

} // namespace tenon::rt

#endif // TENON_RUNTIME_PLAN_SYMBOLS_H
