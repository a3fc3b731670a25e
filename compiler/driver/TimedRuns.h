//===- TimedRuns.h - models that run in turn, to be measured --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_TIMEDRUNS_H
#define TENON_COMPILER_DRIVER_TIMEDRUNS_H

#include "compiler/driver/LaunchClock.h"
#include "compiler/driver/LoadedModel.h"
#include "compiler/profiles/Profile.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <optional>

namespace tenon {

/// Calls `run` repeatedly until `seconds` have passed, and at least a few times. The first call does not count: it
/// touches memory that was never read before. Stops at the first error.
llvm::Error runRounds(double seconds, llvm::function_ref<llvm::Error(bool counts)> run);

/// Binds the inputs, runs the model twice, and returns the nanoseconds of the second run, whose launches `clock` has if
/// it is set. The first run brings back the weights that other models have evicted from the caches since this one had
/// its turn, as if only this model ran.
llvm::Expected<double> runWarm(const LoadedModel &model, InputSet &inputs, LaunchClock *clock = nullptr);

/// Binds the input sets, runs each model with all of them, in turn, and returns the nanoseconds of each round, for each
/// model. A null model stands for the first one.
llvm::Expected<std::vector<std::vector<double>>> runInTurn(llvm::ArrayRef<std::unique_ptr<LoadedModel>> models,
                                                           std::vector<InputSet> &sets, double seconds);

/// Returns the record of a schedule's times for a region in at least one run, with this compiler; `error` was measured
/// against f64. None if the times are implausible.
std::optional<ProfileRecord> makeRecord(const std::string &region, const std::string &schedule,
                                        const Hardware &hardware, int64_t threads, std::vector<double> nanoseconds,
                                        std::optional<double> error);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_TIMEDRUNS_H
