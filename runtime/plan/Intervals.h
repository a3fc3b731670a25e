//===- Intervals.h - what sizes can come to ------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_PLAN_INTERVALS_H
#define TENON_RUNTIME_PLAN_INTERVALS_H

#include "runtime/plan/Plan.h"

#include <cstdint>
#include <vector>

namespace tenon::rt {

/// All values from `min` to `max`. The extreme integers represent unbounded ends.
struct Interval {
  int64_t min = INT64_MIN, max = INT64_MAX;

  bool isBounded() const { return max != INT64_MAX; }
};

/// Returns bounds for each expression from those of the symbols. They are valid, but not tight if a symbol occurs more
/// than once.
std::vector<Interval> boundExprs(const Plan &plan, const std::vector<Interval> &symbols);

/// The ranges that the plan gives its symbols.
std::vector<Interval> rangesOf(const Plan &plan);

} // namespace tenon::rt

#endif // TENON_RUNTIME_PLAN_INTERVALS_H
