//===- FormTuner.cpp - measure the forms of a model's graph -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/FormTuner.h"
#include "compiler/driver/PlanRecords.h"

using namespace tenon;
using namespace tenon::phases;

namespace {
/// A form that a region has not taken.
struct OtherForm {
  size_t decision, form;
  double added; ///< cycles, by estimate
};
} // namespace

/// Lists what is not chosen, the forms that cost least by estimate first.
static std::vector<OtherForm> listOtherForms(llvm::ArrayRef<PathDecision> decisions, llvm::ArrayRef<size_t> chosen) {
  std::vector<OtherForm> others;
  for (auto [i, decision] : llvm::enumerate(decisions))
    for (auto [form, alternative] : llvm::enumerate(decision.alternatives))
      if (form != chosen[i])
        others.push_back({i, form, alternative.cycles - decision.alternatives[chosen[i]].cycles});
  llvm::stable_sort(others, [](const OtherForm &a, const OtherForm &b) { return a.added < b.added; });
  return others;
}

/// Returns the options with another form of one region.
static std::vector<size_t> withForm(std::vector<size_t> options, size_t decision, size_t form) {
  options[decision] = form;
  return options;
}

llvm::Error tenon::tuneForms(PathExplorer &explorer, const Setup &setup, PhaseRunner &runner) {
  llvm::ArrayRef<PathDecision> decisions = explorer.getDecisions().take_front(explorer.getNumForms());
  std::vector<size_t> options = explorer.getChosenForms();
  std::vector<OtherForm> others = listOtherForms(decisions, options);
  if (others.empty())
    return llvm::Error::success();
  if (llvm::Error error = explorer.prepare())
    return error;
  runner.announce("timing forms");
  constexpr double kMinSeconds = 0.5; // policy: fewer forms are measured rather than in less time
  const TuningBudget &budget = *setup.tuning;
  double share = budget.getShare(TuningPhase::forms), end = budget.getSpent() + share;
  double seconds = std::max(share / static_cast<double>(others.size()), kMinSeconds), best = 1;
  for (auto [i, other] : llvm::enumerate(others)) {
    // One is measured however little time there is.
    if (i > 0 && budget.getSpent() >= end)
      break;
    std::optional<ExploredPlan> plan = explorer.findPlan(withForm(options, other.decision, other.form));
    if (!plan)
      continue;
    llvm::Expected<std::optional<PlanMeasurement>> tried = explorer.measure(plan->options, seconds, /*resumes=*/true);
    if (!tried)
      return tried.takeError();
    if (!*tried)
      continue;
    const PlanMeasurement &measured = **tried;
    bool isExact = !measured.error || *measured.error <= setup.options.tolerance;
    if (isExact && measured.ratio < (1 - kPlanNoise) * best) {
      best = measured.ratio;
      options = plan->options;
    }
  }
  return llvm::Error::success();
}
