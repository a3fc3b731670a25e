//===- Statistics.h - what a list of times comes to ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_STATISTICS_H
#define TENON_TOOLS_TENON_RUN_STATISTICS_H

#include <cstddef>
#include <vector>

namespace tenon::run {

/// Order statistics and moments of a sample, in the unit of the sample.
struct Statistics {
  size_t count = 0;
  double min = 0, median = 0, mean = 0, p90 = 0, p99 = 0, max = 0;
  double deviation = 0;          ///< sample standard deviation; 0 of one value
  double interquartileRange = 0; ///< third less first quartile
};

/// `sample` must not be empty. Percentiles are nearest ranks: the smallest value that at least p % of the sample do not
/// exceed. The median of an even number of values is the mean of the middle two.
Statistics computeStatistics(std::vector<double> sample);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_STATISTICS_H
