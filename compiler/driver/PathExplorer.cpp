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

llvm::Expected<std::unique_ptr<PathExplorer>> PathExplorer::create(const Setup &setup, PhaseRunner &runner) {
  if (!setup.backend->getCapabilities().hasPaths)
    return makeError(CompileStatus::misuse, "kernels for GPUs are not chosen among paths");
  if (setup.targets.size() != 1)
    return makeError(CompileStatus::misuse, "--target: plans are those of one target");
  std::unique_ptr<PathExplorer> explorer(new PathExplorer(setup, runner));
  if (llvm::Error error = explorer->open())
    return error;
  return explorer;
}

PathExplorer::PathExplorer(const Setup &setup, PhaseRunner &runner) : setup(setup), runner(runner) {}

PathExplorer::~PathExplorer() = default;

llvm::Error PathExplorer::open() {
  target = setup.targets.front();
  llvm::Expected<Imported> imported = importModel(setup, runner);
  if (!imported)
    return imported.takeError();
  if (imported->stage != Stage::model)
    return makeError(CompileStatus::misuse, setup.options.input + ": its paths are chosen already");
  sourceHash = imported->sourceHash;
  meter = makeErrorMeter(*imported, setup);
  llvm::Expected<PathChoice> opened = openPaths(setup, runner);
  if (!opened)
    return opened.takeError();
  paths = std::move(*opened);
  llvm::Expected<Graph> simplified = simplifyGraph(std::move(*imported), setup, paths, runner);
  if (!simplified)
    return simplified.takeError();
  graph = std::move(*simplified);
  region = getPlanRegion(graph, target, sourceHash);
  // The fastest paths are chosen, so that what only some of them allow is found, too.
  PathChoice fastest = paths;
  fastest.budget.each = std::numeric_limits<double>::infinity();
  fastest.space = std::make_shared<PathSpace>();
  llvm::Expected<Launches> launches = makeLaunches(graph, setup, fastest, runner);
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
    return chosenModel->bind(set, /*withData=*/true).empty() &&
           tenon_session_run(chosenModel->getSession(), nullptr) == TENON_OK;
  };
  llvm::Expected<std::vector<InputSet>> sets =
      generateInputSets(*graph.module, setup.options.programs, measureMemory, runs);
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
  llvm::Expected<Choice> choice = lowerWithinTolerance(graph, paths, meter.get(), setup, sourceHash, runner);
  if (!choice)
    return choice.takeError();
  chosen = std::move(*choice);
  setErrors(chosenMeasurement, chosen->error);
  llvm::Expected<std::unique_ptr<LoadedModel>> model = loadTarget(*chosen, target, setup, sourceHash);
  if (!model)
    return model.takeError();
  chosenModel = std::move(*model);
  chosenSchedule = nameChosenPlan(*chosen->selection, target, setup.options.tolerance);
  return makeInputs();
}

llvm::Expected<Choice> PathExplorer::lower(llvm::ArrayRef<size_t> options) {
  PathChoice own = paths;
  own.pins = std::make_shared<PathPins>(getPins(options), /*areInsistedOn=*/false);
  own.budget.each = 0;
  own.selection = std::make_shared<PathSelection>();
  llvm::Expected<Launches> launches = makeLaunches(graph, setup, own, runner);
  if (!launches)
    return launches.takeError();
  llvm::Expected<Choice> choice = lowerLaunches(std::move(*launches), setup, runner);
  if (choice)
    choice->selection = own.selection;
  return choice;
}

llvm::Error PathExplorer::record(const std::string &schedule, std::vector<double> nanoseconds,
                                 std::optional<double> error) {
  const Hardware *hardware = paths.times ? paths.times->getHardware(target.name) : nullptr;
  if (!hardware)
    return llvm::Error::success();
  int64_t threads = tenon_session_threads(chosenModel->getSession());
  std::optional<ProfileRecord> record =
      makeRecord(region.text, schedule, *hardware, threads, std::move(nanoseconds), error);
  return record ? paths.times->add(target.name, *record) : llvm::Error::success();
}

/// What an earlier run measured, beside the plan that is chosen now.
std::optional<PlanMeasurement> PathExplorer::findRecord(const std::string &schedule) {
  if (!paths.times)
    return std::nullopt;
  std::optional<ProfileRecord> own, other;
  for (ProfileRecord &record : paths.times->list(region)) {
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

/// Runs the chosen plan and another one in turn, and adds both to the records. `model` is null for the same plan.
llvm::Error PathExplorer::time(std::unique_ptr<LoadedModel> model, const std::string &schedule, double seconds,
                               PlanMeasurement &measured) {
  std::vector<std::unique_ptr<LoadedModel>> models;
  models.push_back(std::move(chosenModel));
  models.push_back(std::move(model));
  llvm::Expected<std::vector<std::vector<double>>> samples = runInTurn(models, inputs, seconds);
  chosenModel = std::move(models.front());
  if (!samples)
    return samples.takeError();
  const std::vector<double> &base = samples->front(), &own = samples->back();
  std::vector<double> ratios;
  for (auto [x, y] : llvm::zip(own, base))
    ratios.push_back(x / y);
  llvm::sort(ratios);
  measured.ratio = ratios[ratios.size() / 2];
  ProfileRecord figures;
  setTimes(figures, own);
  measured.nanoseconds = figures.min;
  measured.spread = figures.spread;
  double least = *std::min_element(base.begin(), base.end());
  if (chosenMeasurement.nanoseconds == 0 || least < chosenMeasurement.nanoseconds) {
    chosenMeasurement.nanoseconds = least;
    if (llvm::Error error = record(chosenSchedule, base, chosenMeasurement.error))
      return error;
  }
  return record(schedule, own, measured.error);
}

llvm::Expected<PlanMeasurement> PathExplorer::measure(llvm::ArrayRef<size_t> options, double seconds, bool resumes) {
  assert(chosenModel && "prepare() has run");
  std::string schedule = namePinnedPlan(getPins(options));
  if (resumes)
    if (std::optional<PlanMeasurement> known = findRecord(schedule))
      return *known;
  llvm::Expected<Choice> choice = lower(options);
  if (!choice)
    return choice.takeError();
  PlanMeasurement measured;
  std::unique_ptr<LoadedModel> model;
  bool isChosen = choice->selection->describe(target.name) == chosen->selection->describe(target.name);
  if (!isChosen) {
    llvm::Expected<std::unique_ptr<LoadedModel>> loaded = loadTarget(*choice, target, setup, sourceHash);
    if (!loaded)
      return loaded.takeError();
    model = std::move(*loaded);
    ErrorReport error = meter->measure(*model, *graph.module, setup.options.programs);
    if (!error.reason.empty())
      return makeError(CompileStatus::unsupported, setup.options.input + ": " + error.reason);
    setErrors(measured, error);
  } else {
    setErrors(measured, chosen->error);
  }
  if (seconds > 0)
    if (llvm::Error error = time(std::move(model), schedule, seconds, measured))
      return error;
  return measured;
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

static llvm::Error explore(const CompileOptions &options, PhaseRunner &runner,
                           llvm::function_ref<llvm::Error(PathExplorer &)> use) {
  llvm::Expected<Setup> setup = setUp(options, getBackendRegistry());
  if (!setup)
    return setup.takeError();
  setup->kernels = KernelCache::open(options.cacheFolder, llvm::sys::path::filename(options.input).str());
  llvm::Expected<std::unique_ptr<PathExplorer>> explorer = PathExplorer::create(*setup, runner);
  return explorer ? use(**explorer) : explorer.takeError();
}

CompileStatus tenon::explorePaths(const CompileOptions &options, llvm::raw_ostream &errors,
                                  llvm::function_ref<llvm::Error(PathExplorer &)> use) {
  MLIRContext context(makeRegistry(options, getBackendRegistry()));
  DiagnosticPrinter diagnostics(context, options.input, errors);
  PhaseOptions phases;
  phases.sourceName = options.input;
  PhaseRunner runner(context, diagnostics, phases);
  return diagnostics.report(explore(options, runner, use));
}
