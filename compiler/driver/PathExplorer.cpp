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

/// Adds the forms of the graph first, because they determine the regions.
llvm::Error PathExplorer::listDecisions() {
  PathChoice estimated = model.paths;
  estimated.selection = std::make_shared<PathSelection>();
  estimated.forms = std::make_shared<PathSpace>();
  llvm::Expected<Launches> launches = makeLaunches(model.graph, setup, estimated, runner);
  if (!launches)
    return launches.takeError();
  std::vector<SelectedForm> selected = estimated.selection->listForms(target.name);
  std::vector<size_t> chosen;
  for (PathDecision &decision : estimated.forms->list(target.name)) {
    llvm::erase_if(decision.alternatives, [&](const PathAlternative &alternative) {
      return alternative.largestError > setup.options.tolerance;
    });
    if (decision.alternatives.size() < 2)
      continue;
    auto site = llvm::find_if(selected, [&](const SelectedForm &it) { return it.fingerprint == decision.fingerprint; });
    assert(site != selected.end() && "what has several forms has taken one");
    auto form = llvm::find_if(decision.alternatives, [&](const PathAlternative &alternative) {
      return alternative.path == site->cycles[site->form].first;
    });
    chosen.push_back(form == decision.alternatives.end() ? 0 : form - decision.alternatives.begin());
    decisions.push_back(std::move(decision));
  }
  numForms = decisions.size();
  if (llvm::Error error = listFamilies(std::move(chosen)))
    return error;
  setCosts();
  joinDecisions();
  return llvm::Error::success();
}

/// Lists families so that each form of each site is in at least one, unless there are very many, and the cheapest
/// combinations are included. With many sites not all combinations are tried, since each has a graph of its own.
llvm::Error PathExplorer::listFamilies(std::vector<size_t> chosen) {
  constexpr size_t kMaxFamilies = 16;      // limit: a second each for a large model
  constexpr size_t kMaxSingleChanges = 32; // limit: likewise
  constexpr size_t kMaxPairs = 16;         // limit: likewise
  std::vector<std::vector<size_t>> all{chosen};
  auto add = [&](std::vector<size_t> forms) {
    if (!llvm::is_contained(all, forms))
      all.push_back(std::move(forms));
  };
  struct Change {
    size_t decision, form;
    double added;
  };
  std::vector<std::vector<double>> costs;
  std::vector<Change> changes;
  for (auto [i, decision] : llvm::enumerate(decisions)) {
    std::vector<double> &own = costs.emplace_back();
    for (auto [form, alternative] : llvm::enumerate(decision.alternatives)) {
      own.push_back(alternative.cost);
      if (form != chosen[i])
        changes.push_back({i, form, alternative.cost - decision.alternatives[chosen[i]].cost});
    }
  }
  // Those that could save the most are not left out.
  if (changes.size() > kMaxSingleChanges) {
    llvm::stable_sort(changes, [](const Change &x, const Change &y) { return x.added < y.added; });
    changes.resize(kMaxSingleChanges);
  }
  for (const Change &change : changes) {
    std::vector<size_t> changed = chosen;
    changed[change.decision] = change.form;
    add(std::move(changed));
  }
  PlanOrder order(costs);
  while (std::optional<PricedPlan> next = all.size() < kMaxFamilies ? order.next() : std::nullopt)
    add(std::move(next->options));
  for (const std::vector<size_t> &forms : all)
    if (llvm::Error error = addFamily(forms))
      return error;
  // What the chosen form of another site excludes is there with another form of that site.
  auto isListed = [&](const Change &change) {
    return llvm::any_of(families, [&](const Family &it) { return it.forms[change.decision] == change.form; });
  };
  size_t numPairs = 0;
  for (const Change &change : changes)
    for (const Change &other : changes) {
      if (isListed(change) || numPairs == kMaxPairs)
        break;
      if (other.decision == change.decision)
        continue;
      std::vector<size_t> changed = chosen;
      changed[change.decision] = change.form;
      changed[other.decision] = other.form;
      if (llvm::is_contained(all, changed))
        continue;
      ++numPairs;
      if (llvm::Error error = addFamily(std::move(changed)))
        return error;
    }
  return llvm::Error::success();
}

/// Creates the launches for a combination of forms; if the forms exclude each other, there is no such family.
llvm::Error PathExplorer::addFamily(std::vector<size_t> forms) {
  // The fastest paths are chosen, because they may allow further choices.
  PathChoice fastest = model.paths;
  fastest.budget = {std::numeric_limits<double>::infinity()};
  fastest.selection = std::make_shared<PathSelection>();
  fastest.space = std::make_shared<PathSpace>();
  std::vector<PathPin> pins = setup.options.pins;
  for (auto [decision, form] : llvm::zip(decisions, forms))
    pins.push_back({decision.fingerprint, decision.alternatives[form].path, /*isForced=*/true});
  size_t numOthers = 0;
  for (auto [decision, form] : llvm::zip(decisions, forms))
    numOthers += !decision.alternatives[form].isDefault;
  // Which forms exclude each other depends on paths, too: a chain is of operations with exact ones.
  if (!families.empty() && numOthers > 1) {
    PathChoice exact = model.paths;
    exact.budget = {0};
    exact.selection = std::make_shared<PathSelection>();
    exact.pins = std::make_shared<PathPins>(pins, /*areInsistedOn=*/false);
    if (llvm::Error error = tryChoice(model.graph, setup, exact, runner))
      return error;
    if (llvm::errorToBool(exact.pins->check()))
      return llvm::Error::success();
  }
  if (!forms.empty())
    fastest.pins = std::make_shared<PathPins>(std::move(pins), /*areInsistedOn=*/false);
  llvm::Expected<Launches> launches = makeLaunches(model.graph, setup, fastest, runner);
  if (!launches) {
    std::string message;
    CompileStatus status = takeError(launches.takeError(), message);
    return status == CompileStatus::misuse && !families.empty() ? llvm::Error::success() : makeError(status, message);
  }
  Family family{std::move(forms), fastest.space->list(target.name), {}};
  for (PathDecision &decision : family.decisions)
    llvm::erase_if(decision.alternatives, [&](const PathAlternative &alternative) {
      return alternative.largestError > setup.options.tolerance;
    });
  llvm::erase_if(family.decisions, [](const PathDecision &decision) { return decision.alternatives.empty(); });
  families.push_back(std::move(family));
  return llvm::Error::success();
}

/// Converts costs to a common unit, whichever paths of a family were measured.
void PathExplorer::setCosts() {
  std::vector<std::vector<PathCost>> costs;
  for (const Family &family : families)
    for (const PathDecision &decision : family.decisions) {
      std::vector<PathCost> &own = costs.emplace_back();
      for (const PathAlternative &alternative : decision.alternatives)
        own.push_back({alternative.cycles, alternative.nanoseconds});
    }
  for (const PathDecision &decision : decisions)
    for (const PathAlternative &form : decision.alternatives) {
      costs.push_back({{form.cycles, std::nullopt}});
      costs.push_back({{form.restCycles, std::nullopt}});
    }
  std::vector<std::vector<double>> blended = blendCosts(costs);
  auto next = blended.begin();
  for (Family &family : families)
    for (PathDecision &decision : family.decisions) {
      for (auto [alternative, cost] : llvm::zip(decision.alternatives, *next++))
        alternative.cost = cost;
      llvm::stable_sort(decision.alternatives,
                        [](const PathAlternative &x, const PathAlternative &y) { return x.cost < y.cost; });
    }
  for (PathDecision &decision : decisions)
    for (PathAlternative &form : decision.alternatives) {
      form.cost = (next++)->front();
      form.restCost = (next++)->front();
    }
}

static const PathAlternative *findPath(const PathDecision &decision, llvm::StringRef path) {
  auto it = llvm::find_if(decision.alternatives, [&](const PathAlternative &it) { return it.path == path; });
  return it == decision.alternatives.end() ? nullptr : &*it;
}

/// Merges the decisions of two families about a region, which may differ in the number of operations and in their
/// paths.
static PathDecision joinDecision(const PathDecision &x, const PathDecision &y) {
  PathDecision joined = x.numOperations < y.numOperations ? y : x;
  for (const PathDecision *known : {&x, &y})
    for (const PathAlternative &alternative : known->alternatives)
      if (!findPath(joined, alternative.path))
        joined.alternatives.push_back(alternative);
  return joined;
}

/// Appends decisions about regions to those about forms. Options are numbers of alternatives in these decisions.
void PathExplorer::joinDecisions() {
  llvm::StringMap<size_t> places;
  for (Family &family : families)
    for (PathDecision &decision : family.decisions) {
      if (decision.alternatives.size() < 2)
        continue;
      auto [place, isNew] = places.try_emplace(decision.fingerprint, decisions.size());
      if (isNew)
        decisions.push_back(decision);
      else
        decisions[place->second] = joinDecision(decisions[place->second], decision);
    }
  auto paths = llvm::MutableArrayRef(decisions).drop_front(numForms);
  llvm::stable_sort(paths, [](const PathDecision &x, const PathDecision &y) {
    return x.alternatives.front().cost > y.alternatives.front().cost;
  });
  for (auto [i, decision] : llvm::enumerate(paths))
    places[decision.fingerprint] = numForms + i;
  for (Family &family : families)
    for (PathDecision &decision : family.decisions) {
      bool isFixed = decision.alternatives.size() < 2;
      family.places.push_back(isFixed ? kNoOption : places[decision.fingerprint]);
      if (isFixed && &family == &families.front() && decision.region != kActivationsRegion)
        numFixed += decision.numOperations;
    }
}

PlanFamily PathExplorer::price(const Family &family) const {
  PlanFamily priced;
  for (auto [decision, form] : llvm::zip(decisions, family.forms)) {
    priced.cost += decision.alternatives[form].restCost;
    priced.variance += decision.alternatives[form].variance;
  }
  for (const PathDecision &decision : family.decisions) {
    std::vector<PricedPath> own;
    for (const PathAlternative &alternative : decision.alternatives)
      own.push_back({alternative.cost, std::sqrt(alternative.variance)});
    if (own.size() == 1)
      priced.cost += own.front().cost;
    else
      priced.regions.push_back(std::move(own));
  }
  return priced;
}

PlanFamilies PathExplorer::listPlans(double errorBudget) const {
  std::vector<PlanFamily> priced;
  for (const Family &family : families)
    priced.push_back(price(family));
  return PlanFamilies(std::move(priced), errorBudget);
}

/// `options` are those of the family's regions with several paths.
ExploredPlan PathExplorer::makePlan(const Family &family, llvm::ArrayRef<size_t> options) const {
  PlanFamily priced = price(family); // with the cost of what has a single path
  ExploredPlan plan{priced.cost, priced.variance, std::vector<size_t>(decisions.size(), kNoOption)};
  llvm::copy(family.forms, plan.options.begin());
  size_t number = 0;
  for (auto [decision, place] : llvm::zip(family.decisions, family.places)) {
    if (place == kNoOption)
      continue;
    size_t option = options[number++];
    const std::vector<PathAlternative> &all = decisions[place].alternatives;
    plan.options[place] = findPath(decisions[place], decision.alternatives[option].path) - all.data();
    plan.cost += decision.alternatives[option].cost;
    plan.error += decision.alternatives[option].variance;
  }
  plan.error = std::sqrt(plan.error);
  return plan;
}

ExploredPlan PathExplorer::getPlan(const FamilyPlan &plan) const {
  return makePlan(families[plan.family], plan.options);
}

ExploredPlan PathExplorer::drawPlan(uint64_t seed, size_t number) const {
  const Family &family = families[number % families.size()];
  std::mt19937_64 offsets(seed), draws(seed + number);
  number /= families.size();
  size_t most = 0;
  for (const PathDecision &decision : family.decisions)
    most = std::max(most, decision.alternatives.size());
  std::vector<size_t> options;
  for (const PathDecision &decision : family.decisions) {
    size_t count = decision.alternatives.size(), offset = offsets(), drawn = draws();
    if (count > 1)
      options.push_back((number < most ? offset + number : drawn) % count);
  }
  return makePlan(family, options);
}

std::vector<size_t> PathExplorer::getChosenForms() const {
  const Family &family = families.front();
  size_t numChoices = llvm::count_if(family.places, [](size_t place) { return place != kNoOption; });
  return makePlan(family, std::vector<size_t>(numChoices, 0)).options;
}

std::optional<ExploredPlan> PathExplorer::findPlan(llvm::ArrayRef<size_t> options) const {
  for (const Family &family : families)
    if (llvm::ArrayRef(family.forms) == options.take_front(numForms)) {
      std::optional<FamilyPlan> plan = PlanFamilies({price(family)}, setup.options.tolerance).next();
      return plan ? std::optional(makePlan(family, plan->options)) : std::nullopt;
    }
  return std::nullopt;
}

std::vector<PathPin> PathExplorer::getPins(llvm::ArrayRef<size_t> options) const {
  assert(options.size() == decisions.size() && "a plan has an option for each decision");
  std::vector<PathPin> pins = setup.options.pins;
  for (auto [decision, option] : llvm::zip(decisions, options)) {
    if (option == kNoOption)
      continue;
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
  auto meter = [&](InputSet &shapes) { return chosenModel->measureActivations(shapes); };
  auto runs = [&](InputSet &set) { return chosenModel->canRun(set); };
  llvm::Expected<std::vector<InputSet>> sets =
      generateInputSets(*model.graph.module, setup.options.programs, meter, runs);
  if (!sets)
    return sets.takeError();
  inputs = std::move(*sets);
  return llvm::Error::success();
}

/// Stores the result of the comparison with the reference.
static void setErrors(PlanMeasurement &measured, const ErrorReport &report) {
  if (report.hasBounded())
    measured.error = report.getLargest();
  for (const OutputError &output : report.outputs)
    measured.differing += output.differing;
}

llvm::Error PathExplorer::prepare() {
  if (chosenModel)
    return llvm::Error::success();
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
  ownSchedule = nameChosenPlan(*choice.selection, target, setup.options.tolerance);
  sourcedSchedule = nameSourcedPlan(PlanSource::records, *choice.selection, target, setup.options.tolerance);
  return makeInputs();
}

llvm::Expected<std::optional<Choice>> PathExplorer::lower(llvm::ArrayRef<size_t> options) {
  PathChoice own = model.paths;
  own.pins = std::make_shared<PathPins>(getPins(options), /*areInsistedOn=*/false);
  own.budget = {0};
  own.selection = std::make_shared<PathSelection>();
  llvm::Expected<Launches> launches = makeLaunches(model.graph, setup, own, runner);
  if (!launches) {
    // Which forms exclude each other depends on paths: a chain is of operations with certain ones.
    std::string message;
    CompileStatus status = takeError(launches.takeError(), message);
    return status == CompileStatus::misuse ? llvm::Expected<std::optional<Choice>>(std::nullopt)
                                           : makeError(status, message);
  }
  llvm::Expected<Choice> choice = lowerLaunches(std::move(*launches), setup, runner);
  if (!choice)
    return choice.takeError();
  choice->selection = own.selection;
  return std::move(*choice);
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

/// Returns an earlier measurement of this plan together with the plan that is chosen now.
std::optional<PlanMeasurement> PathExplorer::findRecord(const std::string &schedule) {
  if (!model.paths.times)
    return std::nullopt;
  std::optional<ProfileRecord> own, other;
  for (ProfileRecord &record : model.paths.times->list(region)) {
    if (record.kernel.schedule == schedule)
      own = std::move(record);
    else if (record.kernel.schedule == ownSchedule)
      other = std::move(record);
  }
  if (!own || !other)
    return std::nullopt;
  if (chosenMeasurement.nanoseconds == 0)
    chosenMeasurement.nanoseconds = other->min;
  return PlanMeasurement{own->min,        own->median / other->median, own->spread, own->error, /*differing=*/0,
                         /*isKnown=*/true};
}

bool PathExplorer::isChosen(const Choice &choice) const {
  assert(chosenModel && "prepare() has run");
  return choice.selection->describe(target.name) == chosenPaths;
}

/// Compares a plan with the reference, unless it is the chosen one.
llvm::Expected<PathExplorer::Lowered> PathExplorer::load(const Choice &choice) {
  Lowered lowered;
  if (isChosen(choice)) {
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

llvm::Expected<std::optional<PlanMeasurement>> PathExplorer::check(llvm::ArrayRef<size_t> options) {
  llvm::Expected<std::optional<Choice>> choice = lower(options);
  if (!choice)
    return choice.takeError();
  if (!*choice)
    return std::nullopt;
  llvm::Expected<Lowered> lowered = load(**choice);
  if (!lowered)
    return lowered.takeError();
  return lowered->measurement;
}

llvm::Expected<std::optional<PlanMeasurement>> PathExplorer::measure(llvm::ArrayRef<size_t> options, double seconds,
                                                                     bool resumes) {
  std::string schedule = namePinnedPlan(getPins(options));
  if (resumes)
    if (std::optional<PlanMeasurement> known = findRecord(schedule))
      return *known;
  llvm::Expected<std::optional<Choice>> choice = lower(options);
  if (!choice)
    return choice.takeError();
  if (!*choice)
    return std::nullopt;
  llvm::Expected<PlanMeasurement> measured = measure(**choice, schedule, seconds);
  if (!measured)
    return measured.takeError();
  return *measured;
}

/// Runs the chosen plan and another one in turn, and adds both to the records.
llvm::Expected<PlanMeasurement> PathExplorer::measure(const Choice &choice, const std::string &schedule, double seconds,
                                                      const std::string &chosenSchedule) {
  llvm::Expected<Lowered> lowered = load(choice);
  if (!lowered)
    return lowered.takeError();
  std::vector<std::unique_ptr<LoadedModel>> models;
  models.push_back(std::move(chosenModel));
  models.push_back(std::move(lowered->model));
  auto run = [&] {
    TuningBudget::Spending spending(setup.tuning.get());
    return runInTurn(models, inputs, seconds);
  };
  llvm::Expected<std::vector<std::vector<double>>> samples = run();
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
  if (!chosenSchedule.empty()) {
    if (llvm::Error error = record(chosenSchedule, base, chosenMeasurement.error))
      return error;
  } else if (chosenMeasurement.nanoseconds == 0 || least < chosenMeasurement.nanoseconds) {
    chosenMeasurement.nanoseconds = least;
    if (llvm::Error error = record(ownSchedule, base, chosenMeasurement.error))
      return error;
  }
  if (llvm::Error error = record(schedule, own, measured.error))
    return error;
  return measured;
}

bool PathExplorer::isRecorded(const std::string &schedule) {
  return model.paths.times && model.paths.times->peek(region, schedule).has_value();
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
