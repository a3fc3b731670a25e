//===- ScheduleSearch.h - which schedules of a kernel are measured --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_SCHEDULESEARCH_H
#define TENON_COMPILER_DRIVER_SCHEDULESEARCH_H

#include "passes/kernel/schedules/ScheduleChooser.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tenon {

/// How far a search goes.
struct ScheduleSearchLimits {
  size_t batch = 6;      ///< options that are measured in turn
  size_t maxPairs = 6;   ///< pairs of changes, each of which saves time alone
  size_t finalists = 3;  ///< options that are measured again, longer
  double minGain = 0.02; ///< what saves less is not worth a pair or another measurement
};

/// An option that was measured.
struct MeasuredSchedule {
  size_t place;
  ScheduleTime time;
  double ratio; ///< of its time to that of the first option, which was measured in turn with it
};

/// Measures some options of a kernel in turn; the first one is option 0. Options that cannot be measured have no time.
/// `isFinal` is true for options that are measured for longer.
using ScheduleMeter =
    llvm::function_ref<std::vector<std::optional<ScheduleTime>>(llvm::ArrayRef<size_t> places, bool isFinal)>;

/// Searches for options that are faster than the first one, by successive halving: single changes in the order of their
/// estimates, until `isOver`; then pairs of those that saved time; then the best ones again. Returns the measured
/// options, the smallest ratio first; the last measurement of an option counts. Empty if the first one cannot be
/// measured.
std::vector<MeasuredSchedule> searchSchedules(llvm::ArrayRef<ScheduleOption> options, ScheduleMeter measure,
                                              llvm::function_ref<bool()> isOver,
                                              const ScheduleSearchLimits &limits = {});

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_SCHEDULESEARCH_H
