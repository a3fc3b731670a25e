//===- TimedRuns.h - models that run in turn, to be measured --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_TIMEDRUNS_H
#define TENON_COMPILER_DRIVER_TIMEDRUNS_H

#include "compiler/driver/LoadedModel.h"
#include "compiler/profiles/Profile.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <optional>

namespace tenon {

/// Calls `run` for round after round until so many seconds are over, and for some rounds at least. The first ones,
/// which warm caches up, do not count. Stops at the first error.
llvm::Error runRounds(double seconds, llvm::function_ref<llvm::Error(bool counts)> run);

/// Binds the input sets, runs each model with all of them, in turn, and returns the nanoseconds of each round, for each
/// model. One that is null is the same as the first.
llvm::Expected<std::vector<std::vector<double>>> runInTurn(llvm::ArrayRef<std::unique_ptr<LoadedModel>> models,
                                                           std::vector<InputSet> &sets, double seconds);

/// The record of what a schedule took for a region in some runs, one or more, with this compiler; `error` was measured
/// against f64. Nothing where that cannot be right.
std::optional<ProfileRecord> makeRecord(const std::string &region, const std::string &schedule,
                                        const Hardware &hardware, int64_t threads, std::vector<double> nanoseconds,
                                        std::optional<double> error);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_TIMEDRUNS_H
