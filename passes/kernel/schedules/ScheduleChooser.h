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

/// A kernel, as what its schedules take is recorded under.
struct KernelRegion {
  std::string target; ///< name of the enclosing module: the target that it is compiled for
  std::string text;   ///< canonical (KernelRegion.h)
};

/// A schedule that a kernel may take.
struct ScheduleOption {
  std::string schedule;   ///< its text
  double cost;            ///< estimated time relative to the first one's
  llvm::StringRef source; ///< what it differs in from the first one, for people
  /// The places of two options whose changes it has both of; none if it has a single change.
  std::optional<std::pair<size_t, size_t>> parts;
};

/// Chooses among the schedules of kernels. Several threads may use it.
class ScheduleChooser {
public:
  virtual ~ScheduleChooser() = default;
  /// The place of the option that a kernel takes. The first one is that of the policies.
  virtual size_t choose(const KernelRegion &region, llvm::StringRef kernel, llvm::ArrayRef<ScheduleOption> options) = 0;
};

/// What real runs say of a schedule, in nanoseconds.
struct ScheduleTime {
  double min, median;
};

/// The place of the schedule that is taken: the fastest that was measured if both figures say that it saves more than
/// the share `minGain` of the first one's time; else the first one, as where that was not measured.
size_t pickFastest(llvm::ArrayRef<std::optional<ScheduleTime>> times, double minGain);

/// `tenon-tile-kernels` in which `chooser`, which may be null, chooses among the schedules of kernels whose region is
/// known.
std::unique_ptr<mlir::Pass> createTileKernels(std::shared_ptr<ScheduleChooser> chooser);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_SCHEDULES_SCHEDULECHOOSER_H
