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

/// Finds the symbols' values. `dims` has the shapes of all inputs end to end, as Plan::dims has: the caller
/// has checked ranks, and that no dimension is negative. `rows` has two values for each state, of its symbols `live`
/// and `slot`, which come before any dimension. A symbol that neither binds gets 0. `values` has a place for each
/// symbol.
Status bindSymbols(const Plan &plan, const int64_t *dims, const int64_t *rows, int64_t *values);

/// Compares the inputs' shapes with what the plan's expressions come to.
Status checkShapes(const Plan &plan, const int64_t *dims, const int64_t *symbols, const int64_t *exprs);

/// The failure of a check: why, and the values of the symbols that it depends on, with the inputs that gave them.
/// `node` is null where the check belongs to the binding of sizes.
Status requirementFails(const Plan &plan, const Check &check, const int64_t *symbols, const char *node);

/// Whether a program takes the shapes: whether bindSymbols and checkShapes would end well.
bool fitsShapes(const Plan &plan, const int64_t *dims, const int64_t *rows);

/// Fails where `value` lies outside of the symbol's range. `where` says what it was read from.
Status checkRange(const Symbol &symbol, int64_t value, const char *where);

} // namespace tenon::rt

#endif // TENON_RUNTIME_PLAN_SYMBOLS_H
