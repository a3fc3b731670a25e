//===- Interval.h - a closed interval of integers ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TENON_INTERVAL_H
#define TENON_DIALECTS_TENON_INTERVAL_H

#include <cstdint>

namespace tenon {

/// All values from `min` to `max`; the extreme values of int64_t mean that there is no bound. Extents are never
/// negative.
struct Interval {
  int64_t min = 0, max = INT64_MAX;

  static Interval all() { return {INT64_MIN, INT64_MAX}; }
  static Interval of(int64_t value) { return {value, value}; }
  bool isSingleton() const { return min == max; }
  bool operator==(const Interval &other) const { return min == other.min && max == other.max; }
};

/// Returns an interval that contains every result of the operation on values of the operands.
Interval addIntervals(Interval a, Interval b);
Interval mulIntervals(Interval a, Interval b);
/// For divisors above 0; any value otherwise.
Interval floorDivIntervals(Interval a, Interval b);
Interval ceilDivIntervals(Interval a, Interval b);
Interval modIntervals(Interval a, Interval b);
Interval intersect(Interval a, Interval b);

} // namespace tenon

#endif // TENON_DIALECTS_TENON_INTERVAL_H
