//===- Interval.cpp - interval arithmetic on extents -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Interval.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cassert>

using namespace tenon;

static bool isOpen(int64_t end) { return end == INT64_MIN || end == INT64_MAX; }

/// Ends that are too large for a number are open.
static int64_t addEnds(int64_t a, int64_t b) {
  if (isOpen(a) || isOpen(b))
    return isOpen(a) ? a : b;
  int64_t sum;
  if (llvm::AddOverflow(a, b, sum))
    return a < 0 ? INT64_MIN : INT64_MAX;
  return sum;
}

/// No bound times 0 is 0: the bound is some number.
static int64_t mulEnds(int64_t a, int64_t b) {
  if (a == 0 || b == 0)
    return 0;
  int64_t product;
  if (isOpen(a) || isOpen(b) || llvm::MulOverflow(a, b, product))
    return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
  return product;
}

static int64_t divEnds(int64_t a, int64_t b, bool up) {
  assert(b > 0 && "an interval of divisors begins above 0");
  if (isOpen(a))
    return a;
  if (isOpen(b))
    return up ? (a > 0) : -(a < 0);
  return up ? llvm::divideCeilSigned(a, b) : llvm::divideFloorSigned(a, b);
}

Interval tenon::addIntervals(Interval a, Interval b) { return {addEnds(a.min, b.min), addEnds(a.max, b.max)}; }

Interval tenon::mulIntervals(Interval a, Interval b) {
  auto [min, max] =
      std::minmax({mulEnds(a.min, b.min), mulEnds(a.min, b.max), mulEnds(a.max, b.min), mulEnds(a.max, b.max)});
  return {min, max};
}

/// Each end is divided by the divisor that yields the widest interval.
static Interval divIntervals(Interval a, Interval b, bool up) {
  if (b.min <= 0)
    return Interval::all();
  return {divEnds(a.min, a.min < 0 ? b.min : b.max, up), divEnds(a.max, a.max < 0 ? b.max : b.min, up)};
}

Interval tenon::floorDivIntervals(Interval a, Interval b) { return divIntervals(a, b, false); }
Interval tenon::ceilDivIntervals(Interval a, Interval b) { return divIntervals(a, b, true); }

Interval tenon::modIntervals(Interval a, Interval b) {
  if (b.min <= 0)
    return Interval::all();
  if (a.min >= 0 && a.max < b.min)
    return a;
  int64_t max = isOpen(b.max) ? b.max : b.max - 1;
  return {0, a.min >= 0 ? std::min(a.max, max) : max};
}

Interval tenon::intersect(Interval a, Interval b) { return {std::max(a.min, b.min), std::min(a.max, b.max)}; }
