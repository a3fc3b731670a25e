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
  /// Nanoseconds of a run with the policies' schedules and with the fastest ones; none if all kernels keep the
  /// policies' schedules.
  std::optional<std::pair<double, double>> whole;
  bool isKept = false; ///< the model as a whole is faster, so that the records have these schedules
  /// The factors by which estimated ratios are off, as geometric means, before and after the fit (EstimateFit.h); none
  /// if nothing was measured.
  std::optional<double> estimateError, fittedError;

  /// `seconds`: what all phases of tuning have measured for.
  std::string toJson(double seconds) const;
};

/// Tunes the schedules of the kernels without a record: measures each kernel alone, then the fastest schedules in the
/// whole model, in turn with those of the policies. Schedules that make the model faster are added to the records that
/// `schedules` chooses by. Takes its share of the budget, plus the time to compile. Fails if the model cannot be
/// compiled.
llvm::Expected<ScheduleTuning> tuneSchedules(const phases::Graph &graph, const phases::PathChoice &paths,
                                             RecordedSchedules &schedules, const phases::Setup &setup,
                                             uint64_t sourceHash, PhaseRunner &runner);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_SCHEDULETUNER_H
