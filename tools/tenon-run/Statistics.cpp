//===- Statistics.cpp - what a list of times comes to ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace tenon::run {

/// The value of nearest rank in a sorted sample.
static double getPercentile(const std::vector<double> &sorted, size_t percent) {
  assert(percent <= 100 && !sorted.empty() && "a percentile is one of the values");
  size_t rank = (sorted.size() * percent + 99) / 100;
  return sorted[std::max<size_t>(rank, 1) - 1];
}

Statistics computeStatistics(std::vector<double> sample) {
  assert(!sample.empty() && "statistics need a value at least");
  std::sort(sample.begin(), sample.end());
  Statistics s;
  s.count = sample.size();
  s.min = sample.front();
  s.max = sample.back();
  size_t middle = s.count / 2;
  s.median = s.count % 2 ? sample[middle] : (sample[middle - 1] + sample[middle]) / 2;
  s.p90 = getPercentile(sample, 90);
  s.p99 = getPercentile(sample, 99);
  s.interquartileRange = getPercentile(sample, 75) - getPercentile(sample, 25);
  double sum = 0, squares = 0;
  for (double value : sample)
    sum += value;
  s.mean = sum / double(s.count);
  // The variance is computed in a second pass, because the sum of squares minus the square of the sum would suffer from
  // cancellation.
  for (double value : sample)
    squares += (value - s.mean) * (value - s.mean);
  s.deviation = s.count > 1 ? std::sqrt(squares / double(s.count - 1)) : 0;
  return s;
}

} // namespace tenon::run
