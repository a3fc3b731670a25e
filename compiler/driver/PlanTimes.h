//===- PlanTimes.h - what whole models take --------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How long a run takes with the paths that were chosen within a tolerance says what that is worth.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_PLANTIMES_H
#define TENON_COMPILER_DRIVER_PLANTIMES_H

#include "compiler/driver/Choices.h"

namespace tenon {

/// Looks up the time of a run with the chosen paths, for each target. With --tune, a run without a record is measured,
/// as is a run with the paths for the default tolerance if a larger one was requested. A model without generated inputs
/// has no times.
llvm::Error statePlans(const phases::Graph &graph, const phases::PathChoice &paths, const Choice &choice,
                       ErrorMeter *meter, const phases::Setup &setup, uint64_t sourceHash, PhaseRunner &runner);

/// Returns [{"target": "host", "tolerance": 1e-3, "nanoseconds": 5, "error": 3.1e-4}, ...] for the plan records that
/// were looked up; the artifact's own one comes first for each target.
nlohmann::json describePlans(const RecordedTimes &times, const Choice &choice, const phases::Setup &setup);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_PLANTIMES_H
