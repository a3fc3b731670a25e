//===- Symbols.cpp - the values that the inputs' shapes give to symbols ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/Symbols.h"

#include "runtime/plan/Expressions.h"

#include <cassert>
#include <cstdio>
#include <vector>

namespace tenon::rt {

Status checkRange(const Symbol &symbol, int64_t value, const char *where) {
  if (value >= symbol.min && value <= symbol.max)
    return {};
  if (symbol.max == INT64_MAX)
    return Status::make(TENON_INVALID, "symbol '%s' is %lld in '%s', expected at least %lld", symbol.name,
                        (long long)value, where, (long long)symbol.min);
  return Status::make(TENON_INVALID, "symbol '%s' is %lld in '%s', expected %lld to %lld", symbol.name,
                      (long long)value, where, (long long)symbol.min, (long long)symbol.max);
}

/// Returns the name of what binds a symbol: a state, or the first input that has it as a dimension. Null if there is
/// none.
static const char *binderOf(const Plan &plan, int64_t symbol) {
  for (const State &state : plan.states)
    if (state.live == symbol || state.slot == symbol)
      return state.name;
  for (const Tensor &input : plan.inputs)
    for (uint32_t d = 0; d < input.dims.count; ++d) {
      const Expr &expr = plan.exprs[plan.dims[input.dims.begin + d]];
      if (expr.op == ExprOp::symbol && expr.a == symbol)
        return input.name;
    }
  return nullptr;
}

namespace {
/// Prints the symbols that an expression depends on: "N is 4 in 'ids', M is 8".
struct SymbolList {
  char text[512];

  SymbolList(const Plan &plan, uint32_t expr, const int64_t *values);
};
} // namespace

SymbolList::SymbolList(const Plan &plan, uint32_t expr, const int64_t *values) {
  assert(expr < plan.exprs.size() && "an expression is one of the plan");
  // Expressions name earlier ones only, so one walk backwards finds all of them.
  std::vector<bool> isUsed(expr + 1), isNamed(plan.symbols.size());
  isUsed[expr] = true;
  size_t length = 0;
  text[0] = 0;
  for (uint32_t i = expr + 1; i-- > 0;) {
    const Expr &part = plan.exprs[i];
    if (!isUsed[i] || part.op == ExprOp::constant)
      continue;
    if (part.op != ExprOp::symbol) {
      isUsed[part.a] = isUsed[part.b] = true;
      continue;
    }
    if (isNamed[part.a])
      continue;
    isNamed[part.a] = true;
    const char *binder = binderOf(plan, part.a);
    int added = snprintf(text + length, sizeof text - length, "%s%s is %lld%s%s%s", length ? ", " : "",
                         plan.symbols[part.a].name, (long long)values[part.a], binder ? " in '" : "",
                         binder ? binder : "", binder ? "'" : "");
    length += size_t(added);
    if (length >= sizeof text)
      return;
  }
}

Status requirementFails(const Plan &plan, const Check &check, const int64_t *symbols, const char *node) {
  SymbolList list(plan, check.expr, symbols);
  const char *separator = *list.text ? "; " : "";
  if (node)
    return Status::make(TENON_INVALID, "node '%s': %s%s%s", node, check.text, separator, list.text);
  return Status::make(TENON_INVALID, "the inputs' sizes do not fit the model: %s%s%s", check.text, separator,
                      list.text);
}

/// Dimensions and rows are non-negative, so this means "unbound".
static constexpr int64_t kOpen = -1;

/// The first occurrence binds a symbol, and later ones must agree.
static Status bindSymbol(const Plan &plan, uint32_t symbol, int64_t value, const char *where, int64_t *values) {
  if (values[symbol] == kOpen) {
    TENON_TRY(checkRange(plan.symbols[symbol], value, where));
    values[symbol] = value;
  } else if (values[symbol] != value) {
    return Status::make(TENON_INVALID, "symbol '%s' is %lld in '%s' and %lld in '%s'", plan.symbols[symbol].name,
                        (long long)values[symbol], binderOf(plan, symbol), (long long)value, where);
  }
  return {};
}

Status bindSymbols(const Plan &plan, const int64_t *dims, const int64_t *rows, int64_t *values) {
  for (size_t i = 0; i < plan.symbols.size(); ++i)
    values[i] = plan.symbols[i].isEarly() ? kOpen : 0;
  for (size_t i = 0; i < plan.states.size(); ++i) {
    const State &state = plan.states[i];
    for (uint32_t k = 0; k < 2; ++k) {
      uint32_t symbol = k ? state.slot : state.live;
      if (symbol == kNoExpr)
        continue;
      TENON_TRY(bindSymbol(plan, symbol, rows[2 * i + k], state.name, values));
    }
  }
  for (const Tensor &input : plan.inputs)
    for (uint32_t d = 0; d < input.dims.count; ++d) {
      const Expr &expr = plan.exprs[plan.dims[input.dims.begin + d]];
      if (expr.op != ExprOp::symbol)
        continue;
      TENON_TRY(bindSymbol(plan, uint32_t(expr.a), dims[input.dims.begin + d], input.name, values));
    }
  return {};
}

Status checkShapes(const Plan &plan, const int64_t *dims, const int64_t *symbols, const int64_t *exprs) {
  for (const Tensor &input : plan.inputs)
    for (uint32_t d = 0; d < input.dims.count; ++d) {
      uint32_t expr = plan.dims[input.dims.begin + d];
      int64_t dim = dims[input.dims.begin + d];
      if (dim == exprs[expr])
        continue;
      if (plan.exprs[expr].op == ExprOp::constant)
        return Status::make(TENON_INVALID, "dimension %u of input '%s' is %lld, expected %lld", d, input.name,
                            (long long)dim, (long long)exprs[expr]);
      char text[64];
      printExpr(plan, expr, text, sizeof text);
      return Status::make(TENON_INVALID, "dimension %u of input '%s' is %lld, expected %s, which is %lld: %s", d,
                          input.name, (long long)dim, text, (long long)exprs[expr],
                          SymbolList(plan, expr, symbols).text);
    }
  return {};
}

/// True if each static dimension has its value; this rejects most programs that do not match.
static bool fitsConstants(const Plan &plan, const int64_t *dims) {
  for (const Tensor &input : plan.inputs)
    for (uint32_t d = input.dims.begin; d < input.dims.begin + input.dims.count; ++d)
      if (plan.exprs[plan.dims[d]].op == ExprOp::constant && plan.exprs[plan.dims[d]].a != dims[d])
        return false;
  return true;
}

bool fitsShapes(const Plan &plan, const int64_t *dims, const int64_t *rows) {
  if (!fitsConstants(plan, dims))
    return false;
  std::vector<int64_t> symbols(plan.symbols.size()), exprs(plan.exprs.size());
  if (bindSymbols(plan, dims, rows, symbols.data()).failed())
    return false;
  std::vector<uint8_t> symbolKnown(symbols.size()), exprKnown(exprs.size());
  for (size_t i = 0; i < symbols.size(); ++i)
    symbolKnown[i] = plan.symbols[i].isEarly();
  Known known{symbolKnown.data(), exprKnown.data()};
  return !evaluate(plan, symbols.data(), 0, uint32_t(exprs.size()), exprs.data(), &known).failed() &&
         !checkShapes(plan, dims, symbols.data(), exprs.data()).failed();
}

} // namespace tenon::rt
