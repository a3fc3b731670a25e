//===- Range.h - between which values an extent lies ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TENON_RANGE_H
#define TENON_DIALECTS_TENON_RANGE_H

#include <cstdint>

namespace tenon {

/// All values from `min` to `max`; the ends of int64_t stand for no bound. Extents are never negative.
struct Range {
  int64_t min = 0, max = INT64_MAX;

  static Range all() { return {INT64_MIN, INT64_MAX}; }
  static Range of(int64_t value) { return {value, value}; }
  bool isOne() const { return min == max; }
  bool operator==(const Range &other) const { return min == other.min && max == other.max; }
};

/// Every value that the operation has on values of the operands, and maybe more.
Range addRanges(Range a, Range b);
Range mulRanges(Range a, Range b);
/// For divisors above 0; any value otherwise.
Range floorDivRanges(Range a, Range b);
Range ceilDivRanges(Range a, Range b);
Range modRanges(Range a, Range b);
Range intersect(Range a, Range b);

} // namespace tenon

#endif // TENON_DIALECTS_TENON_RANGE_H
