//===- PlanTimes.cpp - what whole models take ------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/PlanTimes.h"
#include "compiler/driver/LoadedModel.h"
#include "compiler/driver/PlanRecords.h"
#include "compiler/driver/TimedRuns.h"
#include "compiler/errors/CompileError.h"
#include <limits>

using namespace mlir;
using namespace tenon;
using namespace tenon::phases;

namespace {
/// A model with the paths that were chosen within a tolerance.
struct MeasuredPlan {
  PathRegion region;
  std::string schedule;
  std::string paths;           ///< what they are
  std::optional<double> error; ///< of its worst output, if one can be bounded
};
} // namespace

/// Runs compiled models in turn within the budget, and adds their times to the records. The models are those of
/// `plans`. Fails if they cannot be run.
static llvm::Error measurePlans(llvm::ArrayRef<MeasuredPlan> plans, llvm::ArrayRef<std::unique_ptr<LoadedModel>> models,
                                const phases::Graph &graph, const phases::Setup &setup, RecordedTimes &times) {
  assert(plans.size() == models.size() && !plans.empty() && "each plan has a model");
  ModuleOp simplified = const_cast<phases::Graph &>(graph).module.get();
  auto meter = [&](InputSet &shapes) { return models.front()->measureActivations(shapes); };
  llvm::Expected<std::vector<InputSet>> sets = generateInputSets(
      simplified, setup.options.programs, meter, [&](InputSet &inputs) { return models.front()->canRun(inputs); });
  if (!sets)
    return sets.takeError();
  auto run = [&] {
    TuningBudget::Spending spending(setup.tuning.get());
    return runInTurn(models, *sets, setup.tuning->getShare(TuningPhase::plans));
  };
  llvm::Expected<std::vector<std::vector<double>>> samples = run();
  if (!samples)
    return samples.takeError();
  for (auto [plan, model, own] : llvm::zip(plans, models, *samples)) {
    const Hardware *hardware = times.getHardware(plan.region.target);
    assert(hardware && "models are measured on the machine that they are for");
    int64_t threads = tenon_session_threads((model ? model : models.front())->getSession());
    if (std::optional<ProfileRecord> record =
            makeRecord(plan.region.text, plan.schedule, *hardware, threads, std::move(own), plan.error))
      if (llvm::Error error = times.add(plan.region.target, *record))
        return error;
  }
  return llvm::Error::success();
}

/// The name of a plan's record. What a record of a whole model prefers keeps the name of that record: it must not be
/// taken for the plan of the records of single operations.
static std::string namePlan(const Choice &choice, const Target &target, double tolerance) {
  return choice.schedule.empty() ? nameChosenPlan(*choice.selection, target, tolerance) : choice.schedule;
}

nlohmann::json tenon::describePlans(const RecordedTimes &times, const Choice &choice, const Setup &setup) {
  if (!choice.selection)
    return nlohmann::json::array();
  double tolerance = setup.options.tolerance;
  llvm::StringMap<std::string> names; // of the artifact's own plan, by target
  for (const Target &target : setup.targets)
    names[target.name] = namePlan(choice, target, tolerance);
  // The artifact's own plan comes first. With another tolerance several may have been chosen: the fastest one counts.
  std::map<std::tuple<bool, std::string, double>, ProfileRecord> fastest;
  for (const auto &[target, record] : times.listUsed()) {
    bool isOwn = names.lookup(target) == record.kernel.schedule;
    std::optional<double> within = isOwn ? tolerance : getPlanTolerance(record);
    if (!within || (!isOwn && *within == tolerance))
      continue;
    auto [it, isNew] = fastest.try_emplace({!isOwn, target, *within}, record);
    if (!isNew && record.min < it->second.min)
      it->second = record;
  }
  nlohmann::json list = nlohmann::json::array();
  for (const auto &[key, record] : fastest) {
    const auto &[isOther, target, within] = key;
    nlohmann::json &plan = list.emplace_back();
    plan = {{"target", target}, {"tolerance", within}, {"nanoseconds", record.min}, {"threads", record.threads}};
    if (record.error)
      plan["error"] = *record.error;
  }
  return list;
}

/// Looks up the times of the plan for each target, which marks them as used.
static void findPlans(const phases::Graph &graph, const phases::PathChoice &paths, const Choice &choice,
                      const phases::Setup &setup, uint64_t sourceHash) {
  for (const Target &target : setup.targets) {
    PathRegion region = getPlanRegion(graph, target, sourceHash);
    std::string schedule = namePlan(choice, target, setup.options.tolerance);
    bool isKnown = paths.times->find(region, schedule).has_value();
    // A lock has the plans of one compilation, so all other measurements in it belong to that compilation.
    if (isKnown && paths.times->isLocked())
      paths.times->useAll(region, isPlanSchedule);
  }
}

/// True if all plans have records that were added together.
static bool areKnownTogether(llvm::ArrayRef<MeasuredPlan> plans, RecordedTimes &times) {
  constexpr int64_t kSeconds = 1; // format: of a record's date
  int64_t first = std::numeric_limits<int64_t>::max(), last = std::numeric_limits<int64_t>::min();
  for (const MeasuredPlan &plan : plans) {
    std::optional<ProfileRecord> record = times.peek(plan.region, plan.schedule);
    if (!record)
      return false;
    first = std::min<int64_t>(first, record->time);
    last = std::max<int64_t>(last, record->time);
  }
  return last - first <= kSeconds;
}

/// Measures the whole model, and also with the default tolerance if a larger one was requested. Times of two plans are
/// told beside each other, so they are measured in turn with the same inputs, unless their records are of one such
/// measurement: other runs may have had inputs of other sizes.
static llvm::Error timePlans(const Graph &graph, const PathChoice &paths, const Choice &choice, ErrorMeter *meter,
                             const Setup &setup, uint64_t sourceHash, PhaseRunner &runner) {
  const CompileOptions &options = setup.options;
  auto target = llvm::find_if(setup.targets, [](const Target &target) { return target.runsHere; });
  assert(target != setup.targets.end() && "tune() refuses targets that do not run here");
  std::vector<MeasuredPlan> plans;
  std::vector<const Choice *> choices;
  auto add = [&](const Choice &own, double tolerance) {
    MeasuredPlan &plan =
        plans.emplace_back(getPlanRegion(graph, *target, sourceHash), namePlan(own, *target, tolerance),
                           own.selection->describe(target->name), std::nullopt);
    if (own.error.hasBounded())
      plan.error = own.error.getLargest();
    choices.push_back(&own);
  };
  add(choice, options.tolerance);
  std::optional<Choice> strictChoice;
  if (options.tolerance > kDefaultTolerance) {
    CompileOptions strict = options;
    strict.tolerance = kDefaultTolerance;
    Setup strictSetup{strict,         setup.targets, setup.backend,  setup.format, setup.isFolder, setup.makesArtifact,
                      setup.settings, setup.kernels, setup.schedules};
    PathChoice strictPaths = paths;
    strictPaths.number = choice.number + 1;
    strictPaths.budget = {getFirstBudget(strict.tolerance)};
    strictPaths.selection = std::make_shared<PathSelection>();
    llvm::Expected<Choice> exact = lowerWithinTolerance(graph, strictPaths, meter, strictSetup, sourceHash, runner);
    std::string message;
    if (exact) {
      strictChoice = std::move(*exact);
      add(*strictChoice, strict.tolerance);
    } else if (CompileStatus status = takeError(exact.takeError(), message); status != CompileStatus::inexact) {
      return makeError(status, message);
    }
  }
  runner.announce("timing");
  if (!areKnownTogether(plans, *paths.times)) {
    std::vector<std::unique_ptr<LoadedModel>> models;
    for (auto [plan, own] : llvm::zip_equal(plans, choices)) {
      bool isSame = !models.empty() && plans.front().paths == plan.paths;
      models.emplace_back();
      if (isSame)
        continue;
      llvm::Expected<std::unique_ptr<LoadedModel>> model = loadTarget(*own, *target, setup, sourceHash);
      if (!model)
        return model.takeError();
      models.back() = std::move(*model);
    }
    if (llvm::Error error = measurePlans(plans, models, graph, setup, *paths.times))
      return error;
  }
  for (const MeasuredPlan &plan : plans)
    paths.times->find(plan.region, plan.schedule);
  return llvm::Error::success();
}

llvm::Error tenon::statePlans(const Graph &graph, const PathChoice &paths, const Choice &choice, ErrorMeter *meter,
                              const Setup &setup, uint64_t sourceHash, PhaseRunner &runner) {
  if (!paths.times || !setup.makesArtifact)
    return llvm::Error::success();
  findPlans(graph, paths, choice, setup, sourceHash);
  if (!setup.tuning)
    return llvm::Error::success();
  std::string message;
  CompileStatus status = takeError(timePlans(graph, paths, choice, meter, setup, sourceHash, runner), message);
  if (status == CompileStatus::done || status == CompileStatus::unsupported)
    return llvm::Error::success();
  return makeError(status, message);
}
