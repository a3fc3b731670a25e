//===- TuningBudget.cpp - the seconds that a compilation measures for ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/TuningBudget.h"
#include <algorithm>
#include <iterator>
#include <numeric>

using namespace tenon;

/// What phases get of the seconds, if all of them have something to measure. Schedules have the most candidates.
static constexpr double kWeights[] = {0.3, 0.35, 0.05, 0.15, 0.05, 0.1}; // policy: in the order of TuningPhase
static_assert(std::size(kWeights) == static_cast<size_t>(TuningPhase::plans) + 1, "each phase has a weight");

double TuningBudget::getShare(TuningPhase phase) const {
  const double *own = std::begin(kWeights) + static_cast<size_t>(phase);
  return std::max(total - spent, 0.0) * *own / std::accumulate(own, std::end(kWeights), 0.0);
}
