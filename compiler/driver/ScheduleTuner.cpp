//===- ScheduleTuner.cpp - schedules of a model that are measured ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/ScheduleTuner.h"
#include "compiler/driver/EstimateFit.h"
#include "compiler/driver/KernelBench.h"
#include "compiler/driver/ScheduleSearch.h"
#include "compiler/driver/TimedRuns.h"
#include "compiler/errors/CompileError.h"
#include "compiler/pipeline/Diagnostics.h"
#include "dialects/tenon/Tenon.h"
#include "passes/Kernel.h"
#include "passes/cost/SchedulePolicy.h"
#include "passes/kernel/schedules/KernelRegion.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <cmath>
#include <set>

using namespace mlir;
using namespace tenon;
using namespace tenon::phases;
using Clock = std::chrono::steady_clock;

/// The prefix of records of kernels that were measured alone. These are not chosen by: the measurement in the whole
/// model decides.
static constexpr llvm::StringRef kAlone = "alone ";
/// The shares of the time for kernels alone, for schedules in the whole model, and for the model before and after.
static constexpr double kAloneShare = 0.7, kWholeShare = 0.2, kCheckShare = 0.1;
/// Upper bound for the schedules of a kernel, besides the policies', that are measured in the whole model.
static constexpr size_t kMaxChosen = 3;

std::string ScheduleTuning::toJson(double seconds) const {
  nlohmann::ordered_json json;
  json["kernels"] = nlohmann::ordered_json::array();
  for (const TunedKernel &kernel : kernels)
    json["kernels"].push_back({{"kernel", kernel.kernel},
                               {"node", kernel.node},
                               {"launches", kernel.launches},
                               {"schedules", kernel.measured},
                               {"default_ns", kernel.own},
                               {"best_ns", kernel.best},
                               {"schedule", kernel.schedule},
                               {"differs_in", kernel.what}});
  if (whole) {
    json["default_ns"] = whole->first;
    json["tuned_ns"] = whole->second;
    json["kept"] = isKept;
  }
  json["measured_seconds"] = seconds;
  if (estimateError)
    json["estimate_error"] = *estimateError;
  if (fittedError)
    json["fitted_error"] = *fittedError;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

namespace {
/// A kernel with its schedules.
struct Kernel {
  TunedKernel row;
  PathRegion region;
  KernelUse use;                           ///< of the first launch whose sizes are known
  double cycles = 0;                       ///< of all launches, by estimate
  std::unique_ptr<KernelBench> bench;      ///< while it is measured
  std::vector<std::string> chosen;         ///< schedules to be measured in the whole model; the policies' is the first
  std::map<std::string, std::string> what; ///< in what these differ
};

/// A compiled model in which kernels have some of their schedules.
struct WholeModel {
  explicit WholeModel(std::unique_ptr<LoadedModel> model) : model(std::move(model)), clock(this->model->getSession()) {}

  std::unique_ptr<LoadedModel> model;
  LaunchClock clock;
  std::map<uint32_t, std::pair<std::string, std::string>> launches; ///< region and schedule of instructions
  std::map<std::pair<std::string, std::string>, std::vector<double>> samples;
  std::vector<double> runs; ///< nanoseconds of all input sets together
};

class ScheduleTuner {
public:
  ScheduleTuner(const Graph &graph, const PathChoice &paths, RecordedSchedules &schedules, const Setup &setup,
                uint64_t sourceHash, PhaseRunner &runner)
      : graph(graph), paths(paths), schedules(schedules), setup(setup), sourceHash(sourceHash), runner(runner),
        target(*llvm::find_if(setup.targets, [](const Target &target) { return target.runsHere; })),
        seconds(setup.tuning->getShare(TuningPhase::schedules)) {}

  llvm::Expected<ScheduleTuning> run();

private:
  double getElapsed() const { return std::chrono::duration<double>(Clock::now() - begin).count(); }
  llvm::Error listKernels(ModuleOp own);
  llvm::Error measureAlone(ModuleOp own);
  llvm::Error measureKernel(Kernel &kernel, double until);
  bool takeRecords(Kernel &kernel);
  void choose(Kernel &kernel, llvm::ArrayRef<MeasuredSchedule> measured, llvm::ArrayRef<ScheduleOption> options);
  llvm::Expected<std::unique_ptr<WholeModel>> compileWhole(const std::map<std::string, std::string> &forced);
  llvm::Error runInTurn(llvm::ArrayRef<std::unique_ptr<WholeModel>> models, double share);
  llvm::Error measureWhole();
  llvm::Error check(std::unique_ptr<WholeModel> own, std::map<std::string, std::string> best);
  bool dropUnconfirmed(WholeModel &own, WholeModel &tuned, std::map<std::string, std::string> &best);
  llvm::Error addRecords();
  void announce(const std::string &text) {
    if (setup.options.onPhase)
      setup.options.onPhase(text);
  }

  const Graph &graph;
  const PathChoice &paths;
  RecordedSchedules &schedules;
  const Setup &setup;
  uint64_t sourceHash;
  PhaseRunner &runner;
  const Target &target;
  double seconds;          ///< its share of the budget
  Clock::time_point begin; ///< of the measurement of single kernels
  std::vector<Kernel> kernels;
  ScheduleTuning tuning;
  std::map<std::pair<std::string, std::string>, std::vector<double>> samples; ///< of regions and schedules
  std::map<std::string, std::string> confirmed; ///< the schedules that make the model faster, by region
  int64_t threads = 1;
  EstimateFit fit; ///< of single changes
};
} // namespace

/// Returns the node that a launch is named after: the heaviest one, which passes/fusion puts first.
static std::string getNode(Location loc) {
  if (auto fused = dyn_cast<FusedLoc>(loc))
    if (auto lead = dyn_cast_or_null<StringAttr>(fused.getMetadata()))
      return lead.str();
  auto name = loc->findInstanceOf<NameLoc>();
  return name ? name.getName().str() : "";
}

/// Returns the values of a program's symbols for given inputs.
static llvm::DenseMap<AffineExpr, AffineExpr> getSymbolValues(func::FuncOp function, const InputSet &inputs) {
  llvm::DenseMap<AffineExpr, AffineExpr> values;
  for (auto [argument, tensor] : llvm::zip(function.getArguments(), inputs))
    for (auto [dim, extent] : llvm::zip(getDims(argument), tensor.dims))
      if (isa<AffineSymbolExpr>(dim))
        values[dim] = getDimConstant(function.getContext(), extent);
  return values;
}

/// Returns how a launch uses its kernel; none for data-dependent sizes, or if nothing is computed.
static std::optional<KernelUse> getUse(LaunchOp launch, const llvm::DenseMap<AffineExpr, AffineExpr> &symbols) {
  KernelUse use;
  for (AffineExpr size : launch.getSizes().getDims()) {
    std::optional<int64_t> value = getConstant(simplifyDim(size.replace(symbols)));
    if (!value || *value <= 0)
      return std::nullopt;
    use.sizes.push_back(*value);
  }
  for (Value input : launch.getInputs())
    use.isWeight.push_back(isa_and_nonnull<WeightOp>(input.getDefiningOp()));
  return use;
}

/// Returns the cycles of a launch at the peak of arithmetic or of the bandwidth of the last-level cache.
static double estimateCycles(func::FuncOp kernel, ArrayRef<int64_t> sizes, const Machine &machine) {
  llvm::DenseMap<AffineExpr, AffineExpr> symbols;
  if (auto names = kernel->getAttrOfType<ArrayAttr>(kSymbolsAttr))
    for (auto [name, size] : llvm::zip_equal(names, sizes))
      symbols[getDimSymbol(kernel.getContext(), cast<StringAttr>(name).getValue())] =
          getDimConstant(kernel.getContext(), size);
  auto evaluate = [&](StringRef name) {
    auto amount = kernel->getAttrOfType<ShapeAttr>(name);
    std::optional<int64_t> value =
        amount ? getConstant(simplifyDim(amount.getDims().front().replace(symbols))) : std::nullopt;
    return double(value.value_or(0));
  };
  return std::max(evaluate(kFlopsAttr) / 2 / machine.getMultiplyAdds(sizeof(float)),
                  evaluate(kBytesAttr) / machine.llcBytesPerCycle);
}

/// Lists the kernels whose schedules have no record, without duplicate regions.
llvm::Error ScheduleTuner::listKernels(ModuleOp own) {
  struct Launched {
    size_t count = 0;
    std::string node;
    std::optional<KernelUse> use;
  };
  std::map<std::string, Launched> launches;
  // Sizes are those with which the whole model will be measured.
  ModuleOp simplified = const_cast<Graph &>(graph).module.get();
  llvm::Expected<std::vector<InputSet>> sets = generateInputSets(
      simplified, setup.options.programs, [](InputSet &) { return std::optional<uint64_t>(0); },
      [](InputSet &) { return true; });
  if (!sets)
    return sets.takeError();
  for (auto [function, set] : llvm::zip(getProgramFunctions(own), *sets)) {
    llvm::DenseMap<AffineExpr, AffineExpr> symbols = getSymbolValues(function, set);
    function.walk([&](LaunchOp launch) {
      Launched &launched = launches[launch.getKernel().str()];
      if (launched.count++ == 0)
        launched.node = getNode(launch.getLoc());
      if (!launched.use)
        launched.use = getUse(launch, symbols);
    });
  }
  std::set<std::string> known;
  for (auto function : own.getOps<func::FuncOp>()) {
    auto text = function->getAttrOfType<StringAttr>(kKernelRegionAttr);
    const Launched &launched = launches[function.getName().str()];
    if (!text || !launched.use || !known.insert(text.str()).second)
      continue;
    Kernel &kernel = kernels.emplace_back();
    kernel.row.kernel = function.getName().str();
    kernel.row.launches = launched.count;
    kernel.row.node = launched.node;
    kernel.use = *launched.use;
    kernel.cycles = double(launched.count) * estimateCycles(function, kernel.use.sizes, target.machine);
    kernel.region = {target.name, text.str()};
  }
  return llvm::Error::success();
}

/// Reuses schedules that an interrupted tuning measured alone, but not in the whole model.
bool ScheduleTuner::takeRecords(Kernel &kernel) {
  const std::vector<ScheduleOption> &options = kernel.bench->getOptions();
  std::vector<MeasuredSchedule> measured;
  std::optional<ProfileRecord> own = paths.times->peek(kernel.region, (kAlone + options.front().schedule).str());
  if (!own)
    return false;
  for (auto [i, option] : llvm::enumerate(options))
    if (std::optional<ProfileRecord> record = paths.times->peek(kernel.region, (kAlone + option.schedule).str()))
      measured.push_back({i, {record->min, record->median}, record->min / own->min});
  llvm::stable_sort(measured, [](const auto &a, const auto &b) { return a.ratio < b.ratio; });
  choose(kernel, measured, options);
  return true;
}

/// Which schedules go on to the whole model.
void ScheduleTuner::choose(Kernel &kernel, llvm::ArrayRef<MeasuredSchedule> measured,
                           llvm::ArrayRef<ScheduleOption> options) {
  kernel.row.measured = measured.size();
  kernel.chosen = {options.front().schedule};
  for (const MeasuredSchedule &one : measured) {
    if (one.place != 0) {
      if (const ScheduleOption &option = options[one.place]; !option.parts && one.ratio > 0)
        fit.add(option.source, option.cost, one.ratio);
    }
    if (one.place == 0 || one.ratio >= 1 - SchedulePolicy().minGain || kernel.chosen.size() > kMaxChosen)
      continue;
    const ScheduleOption &option = options[one.place];
    kernel.chosen.push_back(option.schedule);
    std::string what = option.source.str();
    if (option.parts)
      what = (options[option.parts->first].source + ", " + options[option.parts->second].source).str();
    kernel.what[option.schedule] = what;
  }
}

llvm::Error ScheduleTuner::measureKernel(Kernel &kernel, double until) {
  const Hardware *hardware = paths.times->getHardware(target.name);
  assert(hardware && "kernels are measured on the machine that they are for");
  // Time for some runs of each schedule; fast kernels have many runs in it.
  constexpr double kSeconds = 0.02, kFinalSeconds = 0.1;
  double best = 1;
  auto measure = [&](llvm::ArrayRef<size_t> places, bool isFinal) {
    std::vector<std::optional<ScheduleTime>> times = kernel.bench->measure(places, isFinal ? kFinalSeconds : kSeconds);
    for (const std::optional<ScheduleTime> &time : times)
      if (time && times.front())
        best = std::max(best, times.front()->min / time->min);
    announce(llvm::formatv("tuning {0}, {1:F2}x so far, {2:F0} s left", kernel.row.kernel, best,
                           std::max(kAloneShare * seconds - getElapsed(), 0.0))
                 .str());
    return times;
  };
  // The fit of estimates from other kernels determines the order of measurements.
  std::vector<ScheduleOption> options = kernel.bench->getOptions();
  for (ScheduleOption &option : options)
    option.cost *= fit.getScale(option.source);
  std::vector<MeasuredSchedule> measured = searchSchedules(options, measure, [&] { return getElapsed() >= until; });
  if (measured.empty())
    return llvm::Error::success();
  choose(kernel, measured, kernel.bench->getOptions());
  std::vector<ProfileRecord> records;
  for (const MeasuredSchedule &one : measured)
    if (std::optional<ProfileRecord> record =
            makeRecord(kernel.region.text, (kAlone + kernel.bench->getOptions()[one.place].schedule).str(), *hardware,
                       kernel.bench->getThreads(), kernel.bench->getSamples(one.place), std::nullopt)) {
      record->isWarm = false;
      records.push_back(std::move(*record));
    }
  return paths.times->add(target.name, records);
}

/// The kernels with the largest estimated times come first, and get most of the time; each gets enough for some
/// schedules.
llvm::Error ScheduleTuner::measureAlone(ModuleOp own) {
  constexpr double kMinSeconds = 0.25;
  TuningBudget::Spending spending(setup.tuning.get());
  begin = Clock::now();
  uint64_t coldBytes = target.machine.l2Bytes * 4; // limit: of what the cores' L2 hold, and a share of the LLC
  llvm::stable_sort(kernels, [](const Kernel &a, const Kernel &b) { return a.cycles > b.cycles; });
  double left = 0;
  for (const Kernel &kernel : kernels)
    left += kernel.cycles;
  for (auto [i, kernel] : llvm::enumerate(kernels)) {
    double now = getElapsed(), rest = kAloneShare * seconds - now, share = rest * kernel.cycles / left;
    left -= kernel.cycles;
    if (rest <= 0)
      break;
    announce(llvm::formatv("tuning, kernel {0} of {1}, {2:F0} s left", i + 1, kernels.size(), rest).str());
    kernel.bench =
        std::make_unique<KernelBench>(own.lookupSymbol<func::FuncOp>(kernel.row.kernel), kernel.use, target, coldBytes);
    bool hasChoice = kernel.bench->getOptions().size() > 1;
    bool isKnown =
        hasChoice && paths.times->peek(kernel.region, kernel.bench->getOptions().front().schedule).has_value();
    if (hasChoice && !isKnown && !takeRecords(kernel))
      if (llvm::Error error = measureKernel(kernel, now + std::max(share, kMinSeconds)))
        return error;
    kernel.bench.reset();
  }
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<WholeModel>>
ScheduleTuner::compileWhole(const std::map<std::string, std::string> &forced) {
  schedules.force(forced);
  schedules.list(target.name);
  llvm::Expected<Launches> launches = makeLaunches(graph, setup, paths, runner);
  if (!launches)
    return launches.takeError();
  llvm::Expected<Choice> choice = lowerLaunches(std::move(*launches), setup, runner);
  if (!choice)
    return choice.takeError();
  llvm::Expected<std::unique_ptr<LoadedModel>> model = loadTarget(*choice, target, setup, sourceHash);
  if (!model)
    return model.takeError();
  auto whole = std::make_unique<WholeModel>(std::move(*model));
  std::map<std::string, std::pair<std::string, std::string>> byKernel;
  for (RecordedSchedules::Taken &taken : schedules.list(target.name))
    byKernel[taken.kernel] = {taken.region, taken.schedule};
  for (uint32_t i = 0; i < whole->model->getInfo().instruction_count; ++i) {
    tenon_instruction_info info;
    if (tenon_artifact_instruction(whole->model->getArtifact(), i, &info, nullptr) == TENON_OK)
      if (auto it = byKernel.find(info.kernel); it != byKernel.end())
        whole->launches[i] = it->second;
  }
  return whole;
}

llvm::Error ScheduleTuner::runInTurn(llvm::ArrayRef<std::unique_ptr<WholeModel>> models, double share) {
  ModuleOp simplified = const_cast<Graph &>(graph).module.get();
  LoadedModel &first = *models.front()->model;
  llvm::Expected<std::vector<InputSet>> sets = generateInputSets(
      simplified, setup.options.programs, [&](InputSet &shapes) { return first.measureActivations(shapes); },
      [&](InputSet &inputs) { return first.canRun(inputs); });
  if (!sets)
    return sets.takeError();
  TuningBudget::Spending spending(setup.tuning.get());
  return runRounds(share * seconds, [&](bool counts) -> llvm::Error {
    for (const std::unique_ptr<WholeModel> &whole : models) {
      double nanoseconds = 0;
      for (InputSet &set : *sets) {
        llvm::Expected<double> time = runWarm(*whole->model, set, &whole->clock);
        if (!time)
          return time.takeError();
        nanoseconds += *time;
        if (!counts)
          continue;
        for (auto [instruction, time] : whole->clock.list())
          if (auto it = whole->launches.find(instruction); it != whole->launches.end())
            whole->samples[it->second].push_back(time);
      }
      if (counts)
        whole->runs.push_back(nanoseconds);
    }
    return llvm::Error::success();
  });
}

/// The fastest and the median of some times.
static std::optional<ScheduleTime> summarize(std::vector<double> times) {
  if (times.empty())
    return std::nullopt;
  llvm::sort(times);
  return ScheduleTime{times.front(), times[times.size() / 2]};
}

/// Compiles the model with the n-th schedule of each kernel, for each n, and runs these models in turn.
llvm::Error ScheduleTuner::measureWhole() {
  std::vector<std::unique_ptr<WholeModel>> models;
  for (size_t n = 0; n <= kMaxChosen; ++n) {
    std::map<std::string, std::string> forced;
    for (const Kernel &kernel : kernels)
      if (n < kernel.chosen.size())
        forced[kernel.region.text] = kernel.chosen[n];
    if (forced.empty())
      break;
    llvm::Expected<std::unique_ptr<WholeModel>> whole = compileWhole(forced);
    if (!whole)
      return whole.takeError();
    models.push_back(std::move(*whole));
  }
  if (models.empty())
    return llvm::Error::success();
  runner.announce("timing");
  if (llvm::Error error = runInTurn(models, kWholeShare))
    return error;
  threads = tenon_session_threads(models.front()->model->getSession());
  std::map<std::string, std::string> best;
  for (Kernel &kernel : kernels) {
    std::vector<std::optional<ScheduleTime>> times;
    for (auto [n, schedule] : llvm::enumerate(kernel.chosen)) {
      std::vector<double> &own = models[n]->samples[{kernel.region.text, schedule}];
      times.push_back(summarize(own));
      if (!own.empty())
        samples[{kernel.region.text, schedule}] = std::move(own);
    }
    if (times.empty() || !times.front())
      continue;
    size_t place = pickFastest(times, SchedulePolicy().minGain);
    kernel.row.own = times.front()->min;
    kernel.row.best = times[place]->min;
    kernel.row.schedule = kernel.chosen[place];
    kernel.row.what = kernel.what[kernel.row.schedule];
    if (place != 0)
      best[kernel.region.text] = kernel.chosen[place];
  }
  return check(std::move(models.front()), best);
}

/// Checks whether the fastest schedules make the whole model faster, where cache effects between kernels count, too.
/// Picking the fastest of several equal schedules selects the luckiest one, so each must be faster in a second
/// measurement; those that are not are dropped, and the others are measured again.
llvm::Error ScheduleTuner::check(std::unique_ptr<WholeModel> own, std::map<std::string, std::string> best) {
  std::vector<std::unique_ptr<WholeModel>> both;
  both.push_back(std::move(own));
  constexpr int kAttempts = 2;
  for (int attempt = 0; attempt < kAttempts && !best.empty(); ++attempt) {
    both.resize(1);
    both.front()->runs.clear();
    both.front()->samples.clear();
    llvm::Expected<std::unique_ptr<WholeModel>> tuned = compileWhole(best);
    if (!tuned)
      return tuned.takeError();
    both.push_back(std::move(*tuned));
    if (llvm::Error error = runInTurn(both, kCheckShare))
      return error;
    std::optional<ScheduleTime> before = summarize(both[0]->runs), after = summarize(both[1]->runs);
    assert(before && after && "each of the models has run");
    tuning.whole = {before->min, after->min};
    tuning.isKept = after->min < before->min && after->median < before->median;
    confirmed = best;
    if (attempt + 1 == kAttempts || !dropUnconfirmed(*both[0], *both[1], best))
      break;
  }
  tuning.isKept &= !best.empty();
  if (!tuning.isKept)
    confirmed.clear();
  return addRecords();
}

/// Drops schedules from `best` that are not faster in two models that were run in turn. Returns true if any was
/// dropped.
bool ScheduleTuner::dropUnconfirmed(WholeModel &own, WholeModel &tuned, std::map<std::string, std::string> &best) {
  constexpr double kShare = 0.5; // of the gain for which a schedule is taken
  size_t count = best.size();
  for (const Kernel &kernel : kernels) {
    auto it = best.find(kernel.region.text);
    if (it == best.end())
      continue;
    std::optional<ScheduleTime> before = summarize(own.samples[{kernel.region.text, kernel.chosen.front()}]),
                                after = summarize(tuned.samples[{kernel.region.text, it->second}]);
    if (!before || !after || pickFastest({before, after}, kShare * SchedulePolicy().minGain) == 0)
      best.erase(it);
  }
  return best.size() != count;
}

/// Kernels whose changes are not confirmed get a record that says that they were tuned, and keep the policies'
/// schedules.
llvm::Error ScheduleTuner::addRecords() {
  const Hardware *hardware = paths.times->getHardware(target.name);
  std::vector<ProfileRecord> records;
  for (Kernel &kernel : kernels) {
    auto taken = confirmed.find(kernel.region.text);
    if (taken == confirmed.end()) {
      kernel.row.best = kernel.row.own;
      kernel.row.schedule = kernel.chosen.front();
      kernel.row.what.clear();
    }
    for (const std::string &schedule : kernel.chosen) {
      auto it = samples.find({kernel.region.text, schedule});
      bool isTaken = schedule == kernel.chosen.front() || (taken != confirmed.end() && taken->second == schedule);
      if (it == samples.end() || !isTaken)
        continue;
      if (std::optional<ProfileRecord> record =
              makeRecord(kernel.region.text, schedule, *hardware, threads, it->second, std::nullopt))
        records.push_back(std::move(*record));
    }
  }
  return paths.times->add(target.name, records);
}

llvm::Expected<ScheduleTuning> ScheduleTuner::run() {
  schedules.force({});
  llvm::Expected<Launches> launches = makeLaunches(graph, setup, paths, runner);
  if (!launches)
    return launches.takeError();
  for (auto own : launches->modules->getOps<ModuleOp>()) {
    if (own.getName() != target.name)
      continue;
    markKernelRegions(own);
    if (llvm::Error error = listKernels(own))
      return error;
    if (llvm::Error error = measureAlone(own))
      return error;
  }
  llvm::erase_if(kernels, [](const Kernel &kernel) { return kernel.chosen.empty(); });
  llvm::Error error = measureWhole();
  schedules.endForce();
  if (error)
    return error;
  llvm::stable_sort(kernels, [](const Kernel &a, const Kernel &b) {
    return a.row.own * a.row.launches > b.row.own * b.row.launches;
  });
  for (Kernel &kernel : kernels)
    tuning.kernels.push_back(std::move(kernel.row));
  tuning.estimateError = fit.getError(/*isFitted=*/false);
  tuning.fittedError = fit.getError(/*isFitted=*/true);
  return std::move(tuning);
}

llvm::Expected<ScheduleTuning> tenon::tuneSchedules(const Graph &graph, const PathChoice &paths,
                                                    RecordedSchedules &schedules, const Setup &setup,
                                                    uint64_t sourceHash, PhaseRunner &runner) {
  return ScheduleTuner(graph, paths, schedules, setup, sourceHash, runner).run();
}
