//===- OpenedModel.h - what choices of paths begin with ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_OPENEDMODEL_H
#define TENON_COMPILER_DRIVER_OPENEDMODEL_H

#include "compiler/driver/ErrorMeter.h"
#include "compiler/driver/Phases.h"

namespace tenon {

struct OpenedModel {
  uint64_t sourceHash = 0;
  std::unique_ptr<ErrorMeter> meter; ///< null if the output is no artifact
  phases::PathChoice paths;          ///< the first choice, by the user's demands and the records of real runs
  phases::Graph graph;
  std::shared_ptr<WeightPrecision> weights;  ///< null where --weights asked for no formats
  std::unique_ptr<ErrorMeter> originalMeter; ///< compares with the model's own weights; null if nobody asks for that
};

/// Simplifies a model, and opens the records by which its paths are chosen; `setup` receives those of schedules.
llvm::Expected<OpenedModel> openModel(phases::Imported imported, phases::Setup &setup, PhaseRunner &runner);

/// Returns the choice that goes by estimates alone.
phases::PathChoice chooseByEstimates(const OpenedModel &model, const phases::Setup &setup);

/// The choice of a plan that records of whole models prefer.
struct AdoptedPlan {
  phases::PathChoice paths;
  std::string schedule; ///< of its record
  bool isByEstimates;   ///< otherwise the record gives the path of each region
};

/// Returns the choice that takes the plan which records of whole models say is the fastest one within the tolerance;
/// none if there is no such plan, or if the user demands paths.
std::optional<AdoptedPlan> adoptFasterPlan(const OpenedModel &model, const phases::Setup &setup);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_OPENEDMODEL_H
