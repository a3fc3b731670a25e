//===- Symbols.cpp - the values that the inputs' shapes give to symbols ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/Symbols.h"

#include "runtime/core/Expressions.h"

namespace tenon::rt {

Status checkRange(const Symbol &symbol, int64_t value, const char *where) {
  if (value >= symbol.min && value <= symbol.max)
    return {};
  if (symbol.max == INT64_MAX)
    return Status::make(TENON_INVALID, "symbol '%s' is %lld in '%s', and must be at least %lld", symbol.name,
                        (long long)value, where, (long long)symbol.min);
  return Status::make(TENON_INVALID, "symbol '%s' is %lld in '%s', and must be from %lld to %lld",
                      symbol.name, (long long)value, where, (long long)symbol.min, (long long)symbol.max);
}

/// The input that binds a symbol: the first that has it as a dimension.
static const char *binderOf(const Plan &plan, int64_t symbol) {
  for (const Tensor &input : plan.inputs)
    for (uint32_t d = 0; d < input.dims.count; ++d) {
      const Expr &expr = plan.exprs[plan.dims[input.dims.begin + d]];
      if (expr.op == ExprOp::symbol && expr.a == symbol)
        return input.name;
    }
  return "?";
}

Status bindSymbols(const Plan &plan, const int64_t *dims, int64_t *values) {
  // Dimensions are not negative, so this stands for "not bound yet".
  constexpr int64_t open = -1;
  for (size_t i = 0; i < plan.symbols.size(); ++i)
    values[i] = plan.symbols[i].fromInput ? open : 0;
  for (const Tensor &input : plan.inputs)
    for (uint32_t d = 0; d < input.dims.count; ++d) {
      const Expr &expr = plan.exprs[plan.dims[input.dims.begin + d]];
      if (expr.op != ExprOp::symbol)
        continue;
      int64_t dim = dims[input.dims.begin + d];
      if (values[expr.a] == open) {
        TENON_TRY(checkRange(plan.symbols[expr.a], dim, input.name));
        values[expr.a] = dim;
      } else if (values[expr.a] != dim) {
        return Status::make(TENON_INVALID, "symbol '%s' is %lld in '%s' and %lld in '%s'",
                            plan.symbols[expr.a].name, (long long)values[expr.a], binderOf(plan, expr.a),
                            (long long)dim, input.name);
      }
    }
  return {};
}

Status checkShapes(const Plan &plan, const int64_t *dims, const int64_t *exprs) {
  for (const Tensor &input : plan.inputs)
    for (uint32_t d = 0; d < input.dims.count; ++d) {
      uint32_t expr = plan.dims[input.dims.begin + d];
      int64_t dim = dims[input.dims.begin + d];
      if (dim == exprs[expr])
        continue;
      if (plan.exprs[expr].op == ExprOp::constant)
        return Status::make(TENON_INVALID, "dimension %u of input '%s' is %lld, and must be %lld", d,
                            input.name, (long long)dim, (long long)exprs[expr]);
      char text[64];
      printExpr(plan, expr, text, sizeof text);
      return Status::make(TENON_INVALID, "dimension %u of input '%s' is %lld, and must be %s, which is %lld",
                          d, input.name, (long long)dim, text, (long long)exprs[expr]);
    }
  return {};
}

} // namespace tenon::rt
