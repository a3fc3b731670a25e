//===- FormTuner.cpp - measure the forms of a model's graph -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/FormTuner.h"
#include "compiler/driver/PathExplorer.h"
#include "compiler/driver/PlanRecords.h"

using namespace tenon;
using namespace tenon::phases;

/// Returns the options with another form of one region.
static std::vector<size_t> withForm(std::vector<size_t> options, size_t decision, size_t form) {
  options[decision] = form;
  return options;
}

llvm::Error tenon::tuneForms(OpenedModel &model, const Setup &setup, PhaseRunner &runner) {
  llvm::Expected<std::unique_ptr<PathExplorer>> created = PathExplorer::create(model, setup, runner);
  if (!created)
    return created.takeError();
  PathExplorer &explorer = **created;
  llvm::ArrayRef<PathDecision> decisions = explorer.getDecisions().take_front(explorer.getNumForms());
  size_t numPlans = 0;
  for (const PathDecision &decision : decisions)
    numPlans += decision.alternatives.size() - 1;
  if (numPlans == 0)
    return llvm::Error::success();
  if (llvm::Error error = explorer.prepare())
    return error;
  runner.announce("timing forms");
  double seconds = std::max(setup.options.tuneSeconds / static_cast<double>(numPlans), 1.0), best = 1;
  std::vector<size_t> options = explorer.getChosenForms();
  for (auto [i, decision] : llvm::enumerate(decisions))
    for (size_t form = 0, own = options[i]; form < decision.alternatives.size(); ++form) {
      std::optional<ExploredPlan> plan = form == own ? std::nullopt : explorer.findPlan(withForm(options, i, form));
      if (!plan)
        continue;
      llvm::Expected<PlanMeasurement> measured = explorer.measure(plan->options, seconds, /*resumes=*/true);
      if (!measured)
        return measured.takeError();
      bool isExact = !measured->error || *measured->error <= setup.options.tolerance;
      if (isExact && measured->ratio < (1 - kPlanNoise) * best) {
        best = measured->ratio;
        options = plan->options;
      }
    }
  return llvm::Error::success();
}
