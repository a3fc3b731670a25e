//===- Expressions.cpp - evaluation of a plan's size expressions ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/Expressions.h"

#include <cassert>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace tenon::rt {

/// Floor division. Returns false for a division by zero and for INT64_MIN / -1.
static bool floorDivide(int64_t a, int64_t b, int64_t *result) {
  if (b == 0 || (a == INT64_MIN && b == -1))
    return false;
  int64_t quotient = a / b;
  *result = quotient - (a % b != 0 && (a < 0) != (b < 0));
  return true;
}

static bool ceilDivide(int64_t a, int64_t b, int64_t *result) {
  if (b == 0 || (a == INT64_MIN && b == -1))
    return false;
  int64_t quotient = a / b;
  *result = quotient + (a % b != 0 && (a < 0) == (b < 0));
  return true;
}

static bool modulo(int64_t a, int64_t b, int64_t *result) {
  if (b == 0)
    return false;
  if (b == -1) {
    *result = 0;
    return true;
  }
  int64_t remainder = a % b;
  *result = remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
  return true;
}

static bool alignUp(int64_t a, int64_t b, int64_t *result) {
  int64_t count;
  return b > 0 && ceilDivide(a, b, &count) && !__builtin_mul_overflow(count, b, result);
}

bool applyExprOp(ExprOp op, int64_t a, int64_t b, int64_t *result) {
  switch (op) {
  case ExprOp::add:
    return !__builtin_add_overflow(a, b, result);
  case ExprOp::sub:
    return !__builtin_sub_overflow(a, b, result);
  case ExprOp::mul:
    return !__builtin_mul_overflow(a, b, result);
  case ExprOp::floordiv:
    return floorDivide(a, b, result);
  case ExprOp::ceildiv:
    return ceilDivide(a, b, result);
  case ExprOp::mod:
    return modulo(a, b, result);
  case ExprOp::min:
    *result = a < b ? a : b;
    return true;
  case ExprOp::max:
    *result = a > b ? a : b;
    return true;
  case ExprOp::align:
    return alignUp(a, b, result);
  default:
    return false;
  }
}

static bool evaluateOne(const Expr &expr, const int64_t *symbols, const int64_t *values, int64_t *result) {
  switch (expr.op) {
  case ExprOp::constant:
    *result = expr.a;
    return true;
  case ExprOp::symbol:
    *result = symbols[expr.a];
    return true;
  default:
    return applyExprOp(expr.op, values[expr.a], values[expr.b], result);
  }
}

namespace {
/// Text that stops growing when its memory is full.
struct Writer {
  char *text;
  size_t capacity, length = 0;
  bool full = false;

  void add(const char *part) {
    size_t size = strlen(part);
    if (full || size >= capacity - length) {
      full = true;
      return;
    }
    memcpy(text + length, part, size);
    length += size;
  }
};
} // namespace

static const char *infix(ExprOp op) {
  switch (op) {
  case ExprOp::add:
    return " + ";
  case ExprOp::sub:
    return " - ";
  case ExprOp::mul:
    return " * ";
  default:
    return nullptr;
  }
}

static const char *functionName(ExprOp op) {
  switch (op) {
  case ExprOp::floordiv:
    return "floordiv(";
  case ExprOp::ceildiv:
    return "ceildiv(";
  case ExprOp::mod:
    return "mod(";
  case ExprOp::min:
    return "min(";
  case ExprOp::max:
    return "max(";
  default:
    return "align(";
  }
}

/// Each level writes at least one byte before it recurses, so the capacity bounds the depth and the time, although a
/// table of expressions can represent a tree of exponential size.
static void write(const Plan &plan, uint32_t index, Writer &out) {
  if (out.full)
    return;
  const Expr &expr = plan.exprs[index];
  if (expr.op == ExprOp::constant) {
    char number[32];
    snprintf(number, sizeof number, "%" PRId64, expr.a);
    out.add(number);
  } else if (expr.op == ExprOp::symbol) {
    out.add(plan.symbols[expr.a].name);
  } else if (const char *sign = infix(expr.op)) {
    out.add("(");
    write(plan, expr.a, out);
    out.add(sign);
    write(plan, expr.b, out);
    out.add(")");
  } else {
    out.add(functionName(expr.op));
    write(plan, expr.a, out);
    out.add(", ");
    write(plan, expr.b, out);
    out.add(")");
  }
}

void printExpr(const Plan &plan, uint32_t expr, char *text, size_t capacity) {
  assert(expr < plan.exprs.size() && capacity > 4 && "there is room for the dots that stand for the rest");
  Writer out{text, capacity};
  write(plan, expr, out);
  if (out.full) {
    size_t keep = out.length < capacity - 4 ? out.length : capacity - 4;
    memcpy(text + keep, "...", 4);
    return;
  }
  text[out.length] = 0;
  // The outermost parentheses say nothing.
  if (infix(plan.exprs[expr].op)) {
    memmove(text, text + 1, out.length - 2);
    text[out.length - 2] = 0;
  }
}

/// Notes whether an expression has a value.
static bool updateKnown(const Expr &expr, uint32_t index, const Known &known) {
  bool result = true;
  if (expr.op == ExprOp::symbol)
    result = known.symbols[expr.a];
  else if (expr.op != ExprOp::constant)
    result = known.exprs[expr.a] && known.exprs[expr.b];
  known.exprs[index] = result;
  return result;
}

Status evaluate(const Plan &plan, const int64_t *symbols, uint32_t begin, uint32_t end, int64_t *values,
                const Known *known) {
  assert(begin <= end && end <= plan.exprs.size() && "expressions that are evaluated are those of the plan");
  for (uint32_t i = begin; i < end; ++i) {
    if (known && !updateKnown(plan.exprs[i], i, *known)) {
      values[i] = 0;
      continue;
    }
    if (evaluateOne(plan.exprs[i], symbols, values, &values[i])) [[likely]]
      continue;
    char text[128];
    printExpr(plan, i, text, sizeof text);
    char sizes[256] = "";
    size_t length = 0;
    for (size_t s = 0; s < plan.symbols.size() && length + 1 < sizeof sizes; ++s) {
      int added = snprintf(sizes + length, sizeof sizes - length, "%s'%s' = %" PRId64, s ? ", " : " with ",
                           plan.symbols[s].name, symbols[s]);
      length += size_t(added);
    }
    return Status::make(TENON_INVALID, "size %s overflows or divides by zero%s; bind smaller inputs", text, sizes);
  }
  return {};
}

} // namespace tenon::rt
