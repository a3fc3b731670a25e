//===- EstimateFit.cpp - estimates of schedules, fitted to measurements ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/EstimateFit.h"
#include <cassert>
#include <cmath>
#include <numeric>

using namespace tenon;

void EstimateFit::add(llvm::StringRef source, double estimate, double measured) {
  assert(estimate > 0 && measured > 0 && "times are above 0");
  logs[source.str()].push_back(std::log(measured / estimate));
}

/// Returns the mean of at least one logarithm.
static double getMean(llvm::ArrayRef<double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

double EstimateFit::getScale(llvm::StringRef source) const {
  auto it = logs.find(source);
  return it == logs.end() ? 1 : std::exp(getMean(it->second));
}

std::optional<double> EstimateFit::getError(bool isFitted) const {
  double sum = 0;
  size_t count = 0;
  for (const auto &[source, values] : logs) {
    double scale = isFitted ? getMean(values) : 0;
    for (double value : values)
      sum += std::abs(value - scale);
    count += values.size();
  }
  return count ? std::optional(std::exp(sum / double(count))) : std::nullopt;
}
