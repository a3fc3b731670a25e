//===- EstimatedPlan.h - the plan of the estimates beside that of the records -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Records of single operations vary, and leave out what operations do to their neighbours. The whole model decides
// whether it is faster with the paths that they choose than with those of the estimates, so that tuning makes no model
// slower.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_ESTIMATEDPLAN_H
#define TENON_COMPILER_DRIVER_ESTIMATEDPLAN_H

#include "compiler/driver/PathExplorer.h"

namespace tenon {

/// Runs the model with the paths that estimates alone choose, in turn with those that the records choose, and records
/// the times. Both have the schedules of the records. Measures nothing if these paths are the same, or if that is
/// known. Fails if the model cannot be run.
llvm::Error measureEstimatedPlan(OpenedModel &model, PathExplorer &explorer, const phases::Setup &setup,
                                 PhaseRunner &runner);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_ESTIMATEDPLAN_H
