//===- ScheduleTuner.h - schedules of a model that are measured -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_SCHEDULETUNER_H
#define TENON_COMPILER_DRIVER_SCHEDULETUNER_H

#include "compiler/driver/Choices.h"
#include "compiler/driver/Schedules.h"

namespace tenon {

/// What measuring came to for a kernel.
struct TunedKernel {
  std::string kernel, node; ///< its name, and that of the first node that it computes
  size_t launches = 0;
  size_t measured = 0;        ///< schedules
  double own = 0, best = 0;   ///< nanoseconds of the policies' schedule and of the fastest one, in the model
  std::string schedule, what; ///< the fastest one, and in what it differs
};

/// What measuring came to for a model.
struct ScheduleTuning {
  std::vector<TunedKernel> kernels; ///< those that take longest first
  /// Nanoseconds of a run with the policies' schedules and with the fastest ones; none if all kernels keep theirs.
  std::optional<std::pair<double, double>> whole;
  bool isKept = false; ///< the model as a whole is faster, so that the records have these schedules
  /// By which factor estimated ratios are off, as a geometric mean, and after a fit (EstimateFit.h); none if nothing
  /// was measured.
  std::optional<double> estimateError, fittedError;

  std::string toJson() const;
};

/// Measures the schedules of the kernels that have no record: each kernel alone, then the fastest schedules in the
/// whole model, in turn with those of the policies. What makes the model faster is added to the records that
/// `schedules` chooses by. Takes as many seconds as the options say, and the time to compile. Fails where the model
/// cannot be compiled.
llvm::Expected<ScheduleTuning> tuneSchedules(const phases::Graph &graph, const phases::PathChoice &paths,
                                             RecordedSchedules &schedules, const phases::Setup &setup,
                                             uint64_t sourceHash, PhaseRunner &runner);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_SCHEDULETUNER_H
