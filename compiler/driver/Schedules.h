//===- Schedules.h - schedules of kernels, by records or by test ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_SCHEDULES_H
#define TENON_COMPILER_DRIVER_SCHEDULES_H

#include "compiler/driver/RecordedTimes.h"
#include "passes/kernel/schedules/ScheduleChooser.h"

namespace tenon {

/// Takes the schedules that the records say are the fastest, and the policies' where they say nothing.
class RecordedSchedules : public ScheduleChooser {
public:
  explicit RecordedSchedules(std::shared_ptr<RecordedTimes> times) : times(std::move(times)) {}
  size_t choose(const KernelRegion &region, llvm::StringRef kernel, llvm::ArrayRef<ScheduleOption> options) override;

  /// From here on, kernels take these schedules, by the text of their region, and the policies' where there is none.
  void force(std::map<std::string, std::string> schedules);
  /// From here on, the records decide again.
  void endForce();

  /// A kernel, and the schedule that it has taken.
  struct Taken {
    std::string kernel, region, schedule;
  };
  /// What kernels of a target have taken since the last call.
  std::vector<Taken> list(llvm::StringRef target);

private:
  std::shared_ptr<RecordedTimes> times;
  std::mutex mutex;
  std::optional<std::map<std::string, std::string>> forced;
  std::vector<std::pair<std::string, Taken>> taken; ///< with their targets
};

/// Who chooses the schedules of a compilation: records, if there are any, or else a number for tests
/// (TENON_TEST_SCHEDULE), from which and the region schedules follow, so that some numbers together take each
/// alternative. Null: the policies alone.
std::shared_ptr<ScheduleChooser> makeSchedules(std::shared_ptr<RecordedTimes> times);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_SCHEDULES_H
