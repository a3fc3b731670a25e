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

/// Chooses the fastest recorded schedules, and the policies' schedules for kernels without a record.
class RecordedSchedules : public ScheduleChooser {
public:
  explicit RecordedSchedules(std::shared_ptr<RecordedTimes> times) : times(std::move(times)) {}
  size_t choose(const KernelRegion &region, llvm::StringRef kernel, llvm::ArrayRef<ScheduleOption> options) override;

  /// From now on, kernels take these schedules, by the text of their region; other kernels take the policies'.
  void force(std::map<std::string, std::string> schedules);
  /// From here on, the records decide again.
  void endForce();

  /// A kernel, and the schedule that it has taken.
  struct Taken {
    std::string kernel, region, schedule;
  };
  /// Lists the schedules that kernels of a target have taken since the last call.
  std::vector<Taken> list(llvm::StringRef target);

private:
  std::shared_ptr<RecordedTimes> times;
  std::mutex mutex;
  std::optional<std::map<std::string, std::string>> forced;
  std::vector<std::pair<std::string, Taken>> taken; ///< with their targets
};

/// Returns the chooser for a compilation: from records, if there are any; otherwise from a number for tests
/// (TENON_TEST_SCHEDULE), which together with the region determines the schedule, so that a few numbers cover each
/// alternative. Null means that the policies decide.
std::shared_ptr<ScheduleChooser> makeSchedules(std::shared_ptr<RecordedTimes> times);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_SCHEDULES_H
