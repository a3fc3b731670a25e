//===- Work.cpp - how much arithmetic and memory traffic a launch is -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/Work.h"

#include "runtime/plan/Expressions.h"

namespace tenon::rt {

std::optional<Work> getWork(const Plan &plan, const Instruction &instruction, const int64_t *exprs,
                            const uint8_t *exprKnown) {
  if (instruction.op != fmt::Opcode::launch)
    return std::nullopt;
  const Kernel &kernel = plan.kernels[instruction.a];
  if (kernel.work.count == 0)
    return kernel.bytes ? std::optional(Work{kernel.flops, kernel.bytes}) : std::nullopt;
  if (!exprs)
    return std::nullopt;
  const Expr *work = plan.workExprs.data() + kernel.work.begin;
  std::vector<int64_t> values(kernel.work.count);
  for (uint32_t i = 0; i < kernel.work.count; ++i) {
    const Expr &expr = work[i];
    if (expr.op == ExprOp::constant) {
      values[i] = expr.a;
    } else if (expr.op == ExprOp::symbol) {
      if (uint64_t(expr.a) >= instruction.exprs.count)
        return std::nullopt;
      uint32_t size = plan.sizes[instruction.exprs.begin + expr.a];
      if (!exprKnown[size])
        return std::nullopt;
      values[i] = exprs[size];
    } else if (!applyExprOp(expr.op, values[expr.a], values[expr.b], &values[i])) {
      return std::nullopt;
    }
  }
  int64_t flops = values[kernel.workFlops], bytes = values[kernel.workBytes];
  return flops >= 0 && bytes >= 0 ? std::optional(Work{uint64_t(flops), uint64_t(bytes)}) : std::nullopt;
}

} // namespace tenon::rt
