//===- SensitivityTuner.cpp - measure what regions' errors do to outputs ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/SensitivityTuner.h"
#include "compiler/driver/LoadedModel.h"
#include "compiler/driver/PlanRecords.h"

using namespace tenon;
using namespace tenon::phases;

namespace {
/// The path of one region in an otherwise exact plan.
struct MeasuredSensitivity {
  PathPin pin;
  PlanMeasurement measurement;
};
} // namespace

/// Measures, for each region of the chosen forms, its cheapest path if that needs an error budget.
static llvm::Expected<std::vector<MeasuredSensitivity>> measureAll(PathExplorer &explorer) {
  std::vector<MeasuredSensitivity> all;
  std::vector<size_t> exact = explorer.getChosenForms();
  size_t numForms = explorer.getNumForms();
  for (auto [i, decision] : llvm::enumerate(explorer.getDecisions()))
    if (i >= numForms && exact[i] != kNoOption)
      exact[i] = llvm::find_if(decision.alternatives, [](const auto &it) { return it.largestError == 0; }) -
                 decision.alternatives.begin();
  for (auto [i, decision] : llvm::enumerate(explorer.getDecisions())) {
    const PathAlternative &cheapest = decision.alternatives.front();
    if (i < numForms || exact[i] == kNoOption || cheapest.largestError == 0 || exact[i] == decision.alternatives.size())
      continue;
    std::vector<size_t> options = exact;
    options[i] = 0;
    llvm::Expected<std::optional<PlanMeasurement>> measured = explorer.check(options);
    if (!measured)
      return measured.takeError();
    if (*measured && (*measured)->error)
      all.push_back({{decision.fingerprint, cheapest.path, /*isForced=*/true}, **measured});
  }
  return all;
}

llvm::Expected<std::optional<Choice>> tenon::chooseBySensitivity(OpenedModel &model, const Choice &choice,
                                                                 const Setup &setup, PhaseRunner &runner) {
  llvm::Expected<std::unique_ptr<PathExplorer>> explorer = PathExplorer::create(model, setup, runner);
  if (!explorer)
    return explorer.takeError();
  if (llvm::Error error = (*explorer)->prepare(choice))
    return error;
  llvm::Expected<std::vector<MeasuredSensitivity>> measured = measureAll(**explorer);
  if (!measured)
    return measured.takeError();
  auto sensitivities = std::make_shared<Sensitivities>();
  for (const MeasuredSensitivity &one : *measured)
    (*sensitivities)[one.pin.where] = {one.pin.path, *one.measurement.error};
  PathChoice paths = model.paths;
  paths.number = choice.number + 1;
  useSensitivities(paths, std::move(sensitivities), setup.options.tolerance);
  llvm::Expected<Choice> own =
      lowerWithinTolerance(model.graph, paths, model.meter.get(), setup, model.sourceHash, runner);
  if (!own)
    return own.takeError();
  std::string schedule = nameChosenPlan(*own->selection, (*explorer)->getTarget(), setup.options.tolerance);
  llvm::Expected<PlanMeasurement> times =
      (*explorer)->measure(*own, schedule, setup.tuning->getShare(TuningPhase::sensitivities));
  if (!times)
    return times.takeError();
  if (times->ratio >= 1)
    return std::nullopt;
  // A record needs a time: that of the plan which was chosen.
  for (const MeasuredSensitivity &one : *measured)
    if (llvm::Error error = (*explorer)->record(nameSensitivity(one.pin), {times->nanoseconds}, one.measurement.error))
      return error;
  return std::move(*own);
}
