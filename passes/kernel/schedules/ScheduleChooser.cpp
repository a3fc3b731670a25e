//===- ScheduleChooser.cpp - who chooses among the schedules of a kernel --===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/schedules/ScheduleChooser.h"

#include <cassert>

using namespace tenon;

size_t tenon::pickFastest(llvm::ArrayRef<std::optional<ScheduleTime>> times, double minGain) {
  if (times.empty() || !times.front())
    return 0;
  assert(minGain >= 0 && minGain < 1 && "a gain is a part of the time");
  const ScheduleTime &own = *times.front();
  size_t best = 0;
  for (size_t i = 1; i < times.size(); ++i)
    if (times[i] && times[i]->min < own.min * (1 - minGain) && times[i]->median < own.median * (1 - minGain) &&
        times[i]->min < times[best]->min)
      best = i;
  return best;
}
