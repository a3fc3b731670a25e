//===- ScheduleList.h - all schedules that a kernel may take --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_SCHEDULES_SCHEDULELIST_H
#define TENON_PASSES_KERNEL_SCHEDULES_SCHEDULELIST_H

#include "passes/kernel/schedules/ScheduleChooser.h"
#include "passes/kernel/schedules/ScheduleSource.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tenon {

/// A schedule that a kernel may take.
struct ScheduleAlternative {
  ScheduleDraft draft;
  kernel::ScheduleAttr schedule;
  double cost = 1;        ///< estimated time relative to the first one's
  llvm::StringRef source; ///< the name of the source; of pairs, that of the first change
  /// The numbers of the two alternatives whose changes this one combines.
  std::optional<std::pair<size_t, size_t>> parts;
};

/// A change of a schedule, and what it changes, for people.
struct NamedProposal {
  llvm::StringRef source;
  ScheduleProposal proposal;
};

/// Lists the schedule of `own`, those with one of the changes, and pairs of changes from different sources, up to the
/// policy's limit and without duplicates. The order is deterministic: single changes in their order, then pairs in the
/// order of their estimates. `finish` makes a schedule of a draft, and replaces what is not possible by the policy's
/// choice.
std::vector<ScheduleAlternative>
listAlternatives(const ScheduleDraft &own, std::vector<NamedProposal> changes,
                 llvm::function_ref<kernel::ScheduleAttr(const ScheduleDraft &)> finish,
                 const SchedulePolicy &policy = {});

/// Lists the schedules of a contraction: the policy's, which is that of `own`, and those with changes of all sources.
std::vector<ScheduleAlternative> listSchedules(const ScheduleProblem &problem, const ScheduleDraft &own,
                                               llvm::function_ref<kernel::ScheduleAttr(const ScheduleDraft &)> finish,
                                               const SchedulePolicy &policy = {});

/// Makes the schedule of a kernel that has no other choice than that of its tile: elements in each dimension of the
/// result, or a very large number for all of a dynamic one.
kernel::ScheduleAttr makeTileSchedule(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> tile);

/// Prints a schedule in the form under which times are recorded.
std::string printSchedule(kernel::ScheduleAttr schedule);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_SCHEDULES_SCHEDULELIST_H
