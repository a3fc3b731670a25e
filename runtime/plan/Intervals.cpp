//===- Intervals.cpp - what sizes can come to ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/Intervals.h"

#include <algorithm>
#include <cassert>

namespace tenon::rt {

static bool isInfinite(int64_t value) { return value == INT64_MIN || value == INT64_MAX; }

/// Saturating sums and products; a saturated value stays saturated.
static int64_t addEnds(int64_t a, int64_t b) {
  int64_t sum;
  if (isInfinite(a))
    return a;
  if (isInfinite(b))
    return b;
  return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static int64_t mulEnds(int64_t a, int64_t b) {
  int64_t product;
  bool isNegative = (a < 0) != (b < 0);
  if (a == 0 || b == 0)
    return 0;
  if (isInfinite(a) || isInfinite(b) || __builtin_mul_overflow(a, b, &product))
    return isNegative ? INT64_MIN : INT64_MAX;
  return product;
}

static int64_t negateEnd(int64_t a) { return a == INT64_MIN ? INT64_MAX : a == INT64_MAX ? INT64_MIN : -a; }

static Interval mulIntervals(Interval a, Interval b) {
  auto [min, max] =
      std::minmax({mulEnds(a.min, b.min), mulEnds(a.min, b.max), mulEnds(a.max, b.min), mulEnds(a.max, b.max)});
  return {min, max};
}

/// Divides a bound by a positive constant, rounding down or up.
static int64_t divideEnd(int64_t a, int64_t divisor, bool up) {
  assert(divisor > 0 && "the ends of a quotient change places where the divisor is negative");
  if (isInfinite(a))
    return a;
  int64_t quotient = a / divisor, rest = a % divisor;
  return quotient + (up && rest > 0) - (!up && rest < 0);
}

static Interval boundOne(ExprOp op, Interval a, Interval b) {
  assert(a.min <= a.max && b.min <= b.max && "an interval has a number");
  bool byConstant = b.min == b.max && b.min > 0 && !isInfinite(b.min);
  switch (op) {
  case ExprOp::add:
    return {addEnds(a.min, b.min), addEnds(a.max, b.max)};
  case ExprOp::sub:
    return {addEnds(a.min, negateEnd(b.max)), addEnds(a.max, negateEnd(b.min))};
  case ExprOp::mul:
    return mulIntervals(a, b);
  case ExprOp::min:
    return {std::min(a.min, b.min), std::min(a.max, b.max)};
  case ExprOp::max:
    return {std::max(a.min, b.min), std::max(a.max, b.max)};
  case ExprOp::floordiv:
  case ExprOp::ceildiv: {
    bool up = op == ExprOp::ceildiv;
    return byConstant ? Interval{divideEnd(a.min, b.min, up), divideEnd(a.max, b.min, up)} : Interval();
  }
  case ExprOp::mod:
    return byConstant ? Interval{0, b.min - 1} : Interval();
  case ExprOp::align:
    if (!byConstant)
      return {};
    return {mulEnds(divideEnd(a.min, b.min, true), b.min), mulEnds(divideEnd(a.max, b.min, true), b.min)};
  default:
    return {};
  }
}

std::vector<Interval> boundExprs(const Plan &plan, const std::vector<Interval> &symbols) {
  assert(symbols.size() == plan.symbols.size() && "a symbol has a range");
  std::vector<Interval> bounds;
  bounds.reserve(plan.exprs.size());
  for (const Expr &expr : plan.exprs) {
    if (expr.op == ExprOp::constant)
      bounds.push_back({expr.a, expr.a});
    else if (expr.op == ExprOp::symbol)
      bounds.push_back(symbols[size_t(expr.a)]);
    else
      bounds.push_back(boundOne(expr.op, bounds[size_t(expr.a)], bounds[size_t(expr.b)]));
  }
  return bounds;
}

std::vector<Interval> rangesOf(const Plan &plan) {
  std::vector<Interval> ranges;
  for (const Symbol &symbol : plan.symbols)
    ranges.push_back({symbol.min, symbol.max});
  return ranges;
}

} // namespace tenon::rt
