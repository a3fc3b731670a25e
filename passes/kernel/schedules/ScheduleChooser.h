//===- ScheduleChooser.h - who chooses among the schedules of a kernel ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_SCHEDULES_SCHEDULECHOOSER_H
#define TENON_PASSES_KERNEL_SCHEDULES_SCHEDULECHOOSER_H

#include "mlir/Support/LLVM.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class Pass;
}

namespace tenon {

/// The key of a kernel under which the times of its schedules are recorded.
struct KernelRegion {
  std::string target; ///< name of the enclosing module: the target that it is compiled for
  std::string text;   ///< canonical (KernelRegion.h)
};

/// A schedule that a kernel may take.
struct ScheduleOption {
  std::string schedule;   ///< its text
  double cost;            ///< estimated time relative to the first one's
  llvm::StringRef source; ///< what it differs in from the first one, for people
  /// The numbers of the two options whose changes this option combines; none if it has a single change.
  std::optional<std::pair<size_t, size_t>> parts;
};

/// Chooses among the schedules of kernels. It is thread-safe.
class ScheduleChooser {
public:
  virtual ~ScheduleChooser() = default;
  /// Returns the number of the option that a kernel takes. The first one is that of the policies.
  virtual size_t choose(const KernelRegion &region, llvm::StringRef kernel, llvm::ArrayRef<ScheduleOption> options) = 0;
};

/// What real runs say of a schedule, in nanoseconds.
struct ScheduleTime {
  double min, median;
};

/// Returns the number of the fastest measured schedule if both figures say that it saves more than the share `minGain`
/// of the first one's time; otherwise, or if the first one was not measured, returns the first one.
size_t pickFastest(llvm::ArrayRef<std::optional<ScheduleTime>> times, double minGain);

/// Creates `tenon-tile-kernels`, in which `chooser`, which may be null, chooses among the schedules of kernels that
/// have a region.
std::unique_ptr<mlir::Pass> createTileKernels(std::shared_ptr<ScheduleChooser> chooser);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_SCHEDULES_SCHEDULECHOOSER_H
