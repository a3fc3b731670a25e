//===- PathExplorer.cpp - the plans that a model has -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/PathExplorer.h"
#include "compiler/driver/LoadedModel.h"
#include "compiler/driver/PlanRecords.h"
#include "compiler/driver/TimedRuns.h"
#include "compiler/errors/CompileError.h"
#include "compiler/pipeline/Diagnostics.h"
#include "llvm/Support/Path.h"
#include <random>

using namespace mlir;
using namespace tenon;
using namespace tenon::phases;

//===----------------------------------------------------------------------===//
// What there is to choose from
//===----------------------------------------------------------------------===//

PathExplorer::PathExplorer(OpenedModel &model, const Setup &setup, PhaseRunner &runner)
    : model(model), setup(setup), runner(runner), target(setup.targets.front()),
      region(getPlanRegion(model.graph, target, model.sourceHash)) {}

PathExplorer::~PathExplorer() = default;

llvm::Expected<std::unique_ptr<PathExplorer>> PathExplorer::create(OpenedModel &model, const Setup &setup,
                                                                   PhaseRunner &runner) {
  assert(setup.targets.size() == 1 && setup.makesArtifact && "plans are those of one target, and are run");
  if (!setup.backend->getCapabilities().hasPaths)
    return makeError(CompileStatus::misuse, "kernels for GPUs are not chosen among paths");
  std::unique_ptr<PathExplorer> explorer(new PathExplorer(model, setup, runner));
  if (llvm::Error error = explorer->listDecisions())
    return error;
  return explorer;
}

llvm::Error PathExplorer::listDecisions() {
  // The fastest paths are chosen, so that what only some of them allow is found, too.
  PathChoice fastest = model.paths;
  fastest.budget = {std::numeric_limits<double>::infinity()};
  fastest.selection = std::make_shared<PathSelection>();
  fastest.space = std::make_shared<PathSpace>();
  llvm::Expected<Launches> launches = makeLaunches(model.graph, setup, fastest, runner);
  if (!launches)
    return launches.takeError();
  for (PathDecision &decision : fastest.space->list(target.name)) {
    llvm::erase_if(decision.alternatives, [&](const PathAlternative &alternative) {
      return alternative.largestError > setup.options.tolerance;
    });
    if (decision.alternatives.size() > 1)
      decisions.push_back(std::move(decision));
    else if (decision.region != kActivationsRegion)
      numFixed += decision.numOperations;
  }
  return llvm::Error::success();
}

BudgetedPlans PathExplorer::listPlans(double errorBudget) const {
  std::vector<std::vector<PricedPath>> priced;
  for (const PathDecision &decision : decisions) {
    std::vector<PricedPath> &own = priced.emplace_back();
    for (const PathAlternative &alternative : decision.alternatives)
      own.push_back({alternative.cost, std::sqrt(alternative.variance)});
  }
  return BudgetedPlans(std::move(priced), errorBudget);
}

std::vector<size_t> PathExplorer::drawPlan(uint64_t seed, size_t number) const {
  std::vector<size_t> options;
  std::mt19937_64 offsets(seed), draws(seed + number);
  size_t most = 0;
  for (const PathDecision &decision : decisions)
    most = std::max(most, decision.alternatives.size());
  for (const PathDecision &decision : decisions) {
    size_t count = decision.alternatives.size(), offset = offsets(), drawn = draws();
    options.push_back((number < most ? offset + number : drawn) % count);
  }
  return options;
}

std::vector<PathPin> PathExplorer::getPins(llvm::ArrayRef<size_t> options) const {
  assert(options.size() == decisions.size() && "a plan has an option for each decision");
  std::vector<PathPin> pins = setup.options.pins;
  for (auto [decision, option] : llvm::zip(decisions, options)) {
    const std::string &path = decision.alternatives[option].path;
    bool isForced = path != kF32ActivationPath;
    pins.push_back({decision.fingerprint, isForced ? path : kBf16ActivationPath.str(), isForced});
  }
  return pins;
}

//===----------------------------------------------------------------------===//
// Measurements
//===----------------------------------------------------------------------===//

llvm::Error PathExplorer::makeInputs() {
  auto measureMemory = [&](InputSet &shapes) { return chosenModel->measureMemory(shapes); };
  auto runs = [&](InputSet &set) {
    return chosenModel->bind(set, /*withData=*/true).empty() && chosenModel->run(nullptr) == TENON_OK;
  };
  llvm::Expected<std::vector<InputSet>> sets =
      generateInputSets(*model.graph.module, setup.options.programs, measureMemory, runs);
  if (!sets)
    return sets.takeError();
  inputs = std::move(*sets);
  return llvm::Error::success();
}

/// Enters what the comparison with the reference says.
static void setErrors(PlanMeasurement &measured, const ErrorReport &report) {
  if (report.hasBounded())
    measured.error = report.getLargest();
  for (const OutputError &output : report.outputs)
    measured.differing += output.differing;
}

llvm::Error PathExplorer::prepare() {
  if (!target.runsHere)
    return makeError(CompileStatus::misuse, "this machine does not run " + target.name);
  llvm::Expected<Choice> choice =
      lowerWithinTolerance(model.graph, model.paths, model.meter.get(), setup, model.sourceHash, runner);
  return choice ? prepare(*choice) : choice.takeError();
}

llvm::Error PathExplorer::prepare(const Choice &choice) {
  setErrors(chosenMeasurement, choice.error);
  llvm::Expected<std::unique_ptr<LoadedModel>> loaded = loadTarget(choice, target, setup, model.sourceHash);
  if (!loaded)
    return loaded.takeError();
  chosenModel = std::move(*loaded);
  chosenPaths = choice.selection->describe(target.name);
  chosenSchedule = nameChosenPlan(*choice.selection, target, setup.options.tolerance);
  return makeInputs();
}

llvm::Expected<Choice> PathExplorer::lower(llvm::ArrayRef<size_t> options) {
  PathChoice own = model.paths;
  own.pins = std::make_shared<PathPins>(getPins(options), /*areInsistedOn=*/false);
  own.budget = {0};
  own.selection = std::make_shared<PathSelection>();
  llvm::Expected<Launches> launches = makeLaunches(model.graph, setup, own, runner);
  if (!launches)
    return launches.takeError();
  llvm::Expected<Choice> choice = lowerLaunches(std::move(*launches), setup, runner);
  if (choice)
    choice->selection = own.selection;
  return choice;
}

llvm::Error PathExplorer::record(const std::string &schedule, std::vector<double> nanoseconds,
                                 std::optional<double> error) {
  const Hardware *hardware = model.paths.times ? model.paths.times->getHardware(target.name) : nullptr;
  if (!hardware)
    return llvm::Error::success();
  int64_t threads = tenon_session_threads(chosenModel->getSession());
  std::optional<ProfileRecord> record =
      makeRecord(region.text, schedule, *hardware, threads, std::move(nanoseconds), error);
  return record ? model.paths.times->add(target.name, *record) : llvm::Error::success();
}

/// What an earlier run measured, beside the plan that is chosen now.
std::optional<PlanMeasurement> PathExplorer::findRecord(const std::string &schedule) {
  if (!model.paths.times)
    return std::nullopt;
  std::optional<ProfileRecord> own, other;
  for (ProfileRecord &record : model.paths.times->list(region)) {
    if (record.kernel.schedule == schedule)
      own = std::move(record);
    else if (record.kernel.schedule == chosenSchedule)
      other = std::move(record);
  }
  if (!own || !other)
    return std::nullopt;
  if (chosenMeasurement.nanoseconds == 0)
    chosenMeasurement.nanoseconds = other->min;
  return PlanMeasurement{own->min,        own->median / other->median, own->spread, own->error, /*differing=*/0,
                         /*isKnown=*/true};
}

/// Runs the chosen plan and another one in turn, and adds both to the records.
llvm::Expected<PlanMeasurement> PathExplorer::time(llvm::Expected<Lowered> lowered, const std::string &schedule,
                                                   double seconds) {
  if (!lowered)
    return lowered.takeError();
  std::vector<std::unique_ptr<LoadedModel>> models;
  models.push_back(std::move(chosenModel));
  models.push_back(std::move(lowered->model));
  llvm::Expected<std::vector<std::vector<double>>> samples = runInTurn(models, inputs, seconds);
  chosenModel = std::move(models.front());
  if (!samples)
    return samples.takeError();
  const std::vector<double> &base = samples->front(), &own = samples->back();
  std::vector<double> ratios;
  for (auto [x, y] : llvm::zip(own, base))
    ratios.push_back(x / y);
  llvm::sort(ratios);
  ProfileRecord figures;
  setTimes(figures, own);
  PlanMeasurement measured = lowered->measurement;
  measured.ratio = ratios[ratios.size() / 2];
  measured.nanoseconds = figures.min;
  measured.spread = figures.spread;
  double least = *std::min_element(base.begin(), base.end());
  if (chosenMeasurement.nanoseconds == 0 || least < chosenMeasurement.nanoseconds) {
    chosenMeasurement.nanoseconds = least;
    if (llvm::Error error = record(chosenSchedule, base, chosenMeasurement.error))
      return error;
  }
  if (llvm::Error error = record(schedule, own, measured.error))
    return error;
  return measured;
}

/// Compares a plan with the reference, unless it is the chosen one.
llvm::Expected<PathExplorer::Lowered> PathExplorer::load(const Choice &choice) {
  assert(chosenModel && "prepare() has run");
  Lowered lowered;
  if (choice.selection->describe(target.name) == chosenPaths) {
    lowered.measurement.error = chosenMeasurement.error;
    lowered.measurement.differing = chosenMeasurement.differing;
    return lowered;
  }
  llvm::Expected<std::unique_ptr<LoadedModel>> loaded = loadTarget(choice, target, setup, model.sourceHash);
  if (!loaded)
    return loaded.takeError();
  lowered.model = std::move(*loaded);
  ErrorReport error = model.meter->measure(*lowered.model, *model.graph.module, setup.options.programs);
  if (!error.reason.empty())
    return makeError(CompileStatus::unsupported, setup.options.input + ": " + error.reason);
  setErrors(lowered.measurement, error);
  return lowered;
}

llvm::Expected<PathExplorer::Lowered> PathExplorer::load(llvm::ArrayRef<size_t> options) {
  llvm::Expected<Choice> choice = lower(options);
  return choice ? load(*choice) : choice.takeError();
}

llvm::Expected<PlanMeasurement> PathExplorer::check(llvm::ArrayRef<size_t> options) {
  llvm::Expected<Lowered> lowered = load(options);
  if (!lowered)
    return lowered.takeError();
  return lowered->measurement;
}

llvm::Expected<PlanMeasurement> PathExplorer::measure(llvm::ArrayRef<size_t> options, double seconds, bool resumes) {
  std::string schedule = namePinnedPlan(getPins(options));
  if (resumes)
    if (std::optional<PlanMeasurement> known = findRecord(schedule))
      return *known;
  return time(load(options), schedule, seconds);
}

llvm::Expected<PlanMeasurement> PathExplorer::measure(const Choice &choice, double seconds) {
  return time(load(choice), nameChosenPlan(*choice.selection, target, setup.options.tolerance), seconds);
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

static llvm::Error explore(Setup &setup, PhaseRunner &runner, llvm::function_ref<llvm::Error(PathExplorer &)> use) {
  const CompileOptions &options = setup.options;
  if (setup.targets.size() != 1)
    return makeError(CompileStatus::misuse, "--target: plans are those of one target");
  setup.kernels = KernelCache::open(options.cacheFolder, llvm::sys::path::filename(options.input).str());
  llvm::Expected<Imported> imported = importModel(setup, runner);
  if (!imported)
    return imported.takeError();
  if (imported->stage != Stage::model)
    return makeError(CompileStatus::misuse, options.input + ": its paths are chosen already");
  llvm::Expected<OpenedModel> model = openModel(std::move(*imported), setup, runner);
  if (!model)
    return model.takeError();
  llvm::Expected<std::unique_ptr<PathExplorer>> explorer = PathExplorer::create(*model, setup, runner);
  return explorer ? use(**explorer) : explorer.takeError();
}

CompileStatus tenon::explorePaths(const CompileOptions &options, llvm::raw_ostream &errors,
                                  llvm::function_ref<llvm::Error(PathExplorer &)> use) {
  return withSetup(options, errors, [&](Setup &setup, PhaseRunner &runner) { return explore(setup, runner, use); });
}
