//===- Compile.cpp - a model to an artifact ------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Compile.h"
#include "compiler/driver/Choices.h"
#include "compiler/driver/EstimatedPlan.h"
#include "compiler/driver/FormTuner.h"
#include "compiler/driver/OpenedModel.h"
#include "compiler/driver/PathTuner.h"
#include "compiler/driver/Phases.h"
#include "compiler/driver/PlanRecords.h"
#include "compiler/driver/PlanTimes.h"
#include "compiler/driver/ProfilesLock.h"
#include "compiler/driver/Record.h"
#include "compiler/driver/ScheduleTuner.h"
#include "compiler/driver/SensitivityTuner.h"
#include "compiler/driver/WeightPlaces.h"
#include "compiler/errors/CompileError.h"
#include "compiler/pipeline/Diagnostics.h"
#include "compiler/pipeline/DumpIndex.h"
#include "compiler/report/HtmlReport.h"
#include "dialects/plan/Plan.h"
#include "mlir/Pass/PassManager.h"
#include "passes/paths/PathSelection.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::phases;

static PhaseOptions getPhaseOptions(const CompileOptions &options, PhaseClock &clock) {
  PhaseOptions phases;
  phases.sourceName = options.input;
  phases.dumpDir = options.dumpDir;
  phases.dumpAfter = options.dumpAfter;
  auto makeLocator = [](const std::shared_ptr<WeightPlaces> &places) {
    return [places](ArrayRef<char> bytes) { return places->locate(bytes); };
  };
  if (!options.dumpDir.empty())
    phases.locateWeight = makeLocator(std::make_shared<WeightPlaces>(options.input, options.dumpDir, kDumpedWeights));
  // On a terminal, locations would clutter the IR.
  if (!options.dumpAfter.empty() && !llvm::sys::Process::StandardErrIsDisplayed())
    phases.locateShown = makeLocator(std::make_shared<WeightPlaces>(options.input, /*withBytes=*/true));
  phases.timing = options.timing;
  phases.onPhase = [&options, &clock](llvm::StringRef phase) {
    clock.begin(phase);
    if (options.onPhase)
      options.onPhase(phase);
  };
  phases.reproduce = options.reproduce;
  phases.writeReproducer = [path = options.output](llvm::function_ref<void(llvm::raw_ostream &)> write) {
    return writeFile(path, write);
  };
  return phases;
}

/// Continues from the IR of an earlier compilation. There is no model to measure its choices against.
static llvm::Expected<Choice> resume(Imported imported, const Setup &setup, PhaseRunner &runner) {
  if (imported.stage != Stage::buffers) {
    llvm::Expected<Launches> launches = resumeLaunches(std::move(imported), setup, runner);
    if (!launches)
      return launches.takeError();
    return lowerLaunches(std::move(*launches), setup, runner);
  }
  Choice choice;
  choice.kernels.modules = std::move(imported.kernels);
  llvm::Expected<Plan> plan = serializePlans(std::move(imported.module), {}, *choice.kernels.modules, setup, runner);
  if (!plan)
    return plan.takeError();
  choice.plan = std::move(*plan);
  return finishKernels(std::move(choice), setup, runner);
}

/// Measures paths without a record, for the target that this machine runs. A model that cannot be run, or for which
/// inputs cannot be generated, is compiled by estimates.
static llvm::Error tune(const Graph &graph, const PathChoice &paths, const Setup &setup, uint64_t sourceHash,
                        PhaseRunner &runner) {
  auto target = llvm::find_if(setup.targets, [](const Target &target) { return target.runsHere; });
  if (!setup.makesArtifact || target == setup.targets.end())
    return makeError(CompileStatus::misuse, "--tune: this machine runs none of the targets");
  size_t index = target - setup.targets.begin();
  RecordedTimes &times = *paths.times;
  // An operation may get all of the tolerance, if others leave it to it.
  PathChoice all = paths;
  all.budget.each = std::max(all.budget.each, setup.options.tolerance);
  PathTuner tuner(times, *setup.tuning);
  bool isNothingNew = true;
  for (size_t round = 0; round == 0 || round < times.getMostOptions(); ++round) {
    times.beginRound(round);
    llvm::Expected<Launches> launches = makeLaunches(graph, setup, all, runner);
    if (!launches)
      return launches.takeError();
    // Regions of other targets are not measured.
    std::vector<RecordedTimes::Picked> picked = times.takePicked();
    llvm::erase_if(picked, [&](const RecordedTimes::Picked &it) { return it.target != target->name; });
    if (picked.empty())
      continue;
    isNothingNew = false;
    llvm::Expected<Choice> choice = lowerLaunches(std::move(*launches), setup, runner);
    if (!choice)
      return choice.takeError();
    if (llvm::Error error = tuner.add(
            assemble(choice->plan, choice->code, setup, sourceHash),
            {target->name, choice->plan.variants[index].paths, choice->plan.variants[index].served, std::move(picked)}))
      return error;
  }
  times.endRounds();
  if (isNothingNew)
    return llvm::Error::success();
  runner.announce("tuning");
  ModuleOp simplified = const_cast<Graph &>(graph).module.get();
  llvm::Error error = tuner.measure(simplified, setup.options.programs);
  std::string message;
  if (!error || takeError(std::move(error), message) == CompileStatus::resources)
    return message.empty() ? llvm::Error::success() : makeError(CompileStatus::resources, message);
  runner.getDiagnostics().warn("its paths are not measured: " + message);
  return llvm::Error::success();
}

/// Measures schedules without a record of the kernels that the model will have: with the paths of the final choice.
/// None if they cannot be measured, after a warning.
static llvm::Expected<std::optional<ScheduleTuning>> tuneKernels(OpenedModel &model, const Setup &setup,
                                                                 PhaseRunner &runner) {
  llvm::Expected<Choice> choice =
      lowerWithinTolerance(model.graph, model.paths, model.meter.get(), setup, model.sourceHash, runner);
  if (!choice)
    return choice.takeError();
  PathChoice paths = model.paths;
  paths.budget = choice->budget;
  auto &schedules = static_cast<RecordedSchedules &>(*setup.schedules);
  llvm::Expected<ScheduleTuning> tuning = tuneSchedules(model.graph, paths, schedules, setup, model.sourceHash, runner);
  if (tuning)
    return std::move(*tuning);
  std::string message;
  if (takeError(tuning.takeError(), message) == CompileStatus::resources)
    return makeError(CompileStatus::resources, message);
  runner.getDiagnostics().warn("the schedules of its kernels are not measured: " + message);
  return std::nullopt;
}

/// Measures what only the whole model can tell: whether it is faster with the paths of the records than with those of
/// the estimates, and forms of its graph. What the user demands is taken whatever it costs.
static llvm::Error tuneWholePlans(OpenedModel &model, const Setup &setup, PhaseRunner &runner) {
  if (model.paths.pins || setup.targets.size() != 1)
    return llvm::Error::success();
  auto measure = [&]() -> llvm::Error {
    llvm::Expected<std::unique_ptr<PathExplorer>> explorer = PathExplorer::create(model, setup, runner);
    if (!explorer)
      return explorer.takeError();
    if (llvm::Error error = measureEstimatedPlan(model, **explorer, setup, runner))
      return error;
    return tuneForms(**explorer, setup, runner);
  };
  std::string message;
  CompileStatus status = takeError(measure(), message);
  if (status == CompileStatus::resources)
    return makeError(status, message);
  if (status != CompileStatus::done)
    runner.getDiagnostics().warn("its plans are not measured: " + message);
  return llvm::Error::success();
}

/// [{"offset": 0, "dtype": "f32", "shape": [16, 1, 3, 3]}, ...]
static nlohmann::json describeWeights(const WeightSection &weights) {
  nlohmann::json list = nlohmann::json::array();
  for (auto [offset, type] : weights.listTypes())
    list.push_back({{"offset", offset},
                    {"dtype", llvm::formatv("{0}", type.getElementType()).str()},
                    {"shape", type.getShape().vec()}});
  return list;
}

/// {"candidates": 40, "matrices": [{"name": "fc.weight", "format": "int8 (row)", "shape": [10, 64], "bytes_before":
/// 2560, "bytes": 680, "error": 0.004}, ...], "error": {...}}, as compiler/report/WeightFormats.h reads it.
static nlohmann::json describeFormats(const Choice &choice) {
  nlohmann::json formats = {{"candidates", choice.weights->numMatrices}, {"matrices", nlohmann::json::array()}};
  for (const WeightPrecision::Matrix &matrix : choice.weights->matrices)
    formats["matrices"].push_back({{"name", llvm::json::fixUTF8(matrix.name)},
                                   {"format", matrix.format},
                                   {"shape", matrix.shape},
                                   {"bytes_before", matrix.bytesBefore},
                                   {"bytes", matrix.bytes},
                                   {"error", matrix.error}});
  for (const WeightPrecision::CalibrationData &data : choice.weights->calibration)
    formats["calibration"].push_back(
        {{"name", llvm::json::fixUTF8(data.name)}, {"xxh3", llvm::utohexstr(data.xxh3, /*LowerCase=*/true, 16)}});
  if (choice.weights->numCalibrationRuns)
    formats["calibration_runs"] = choice.weights->numCalibrationRuns;
  if (choice.weightsError)
    formats["error"] = nlohmann::json::parse(choice.weightsError->toJson());
  return formats;
}

/// Returns the module of the heaviest node of a launch, if its exporter recorded it.
static std::pair<StringRef, StringRef> getPlace(Location loc) {
  StringAttr lead;
  if (auto fused = dyn_cast<FusedLoc>(loc))
    lead = dyn_cast_or_null<StringAttr>(fused.getMetadata());
  std::pair<StringRef, StringRef> found;
  loc->walk([&](Location part) {
    auto node = dyn_cast<NameLoc>(part);
    if (!node || (lead && node.getName() != lead))
      return node ? WalkResult::skip() : WalkResult::advance();
    if (auto place = dyn_cast<NameLoc>(node.getChildLoc()))
      found = {node.getName(), place.getName()};
    return WalkResult::interrupt();
  });
  return found;
}

/// Returns {node: module} for the nodes that launches are named after.
static nlohmann::json describePlaces(ModuleOp modules) {
  nlohmann::json places = nlohmann::json::object();
  modules->walk([&](plan::LaunchOp launch) {
    auto [node, place] = getPlace(launch.getLoc());
    if (!node.empty())
      places[llvm::json::fixUTF8(node)] = llvm::json::fixUTF8(place);
  });
  return places;
}

/// [{"target": "host", "region": "0123...", "path": "winograd-4", "nanoseconds": 5, "threads": 2, "hardware":
/// "4567..."}, ...]
static nlohmann::json describeRecords(const RecordedTimes &times) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto &[target, record] : times.listUsed())
    list.push_back({{"target", target},
                    {"region", record.kernel.getRegionFingerprint()},
                    {"path", record.kernel.schedule},
                    {"nanoseconds", record.median},
                    {"threads", record.threads},
                    {"cpu", record.hardware.cpu},
                    {"hardware", record.hardware.getFingerprint()}});
  return list;
}

/// Describes the forms that sites of a target's graph took: [{"region": "0123...", "form": "merged_products", "sites":
/// 12, "cycles": {"separate_products": 5, ...}, "nodes": ["q", ...]}, ...].
static nlohmann::json describeForms(const PathSelection &selection, StringRef target) {
  nlohmann::json list = nlohmann::json::array();
  std::map<std::pair<std::string, size_t>, size_t> places; // in the list, by region and form
  for (const SelectedForm &site : selection.listForms(target)) {
    auto [place, isNew] = places.try_emplace({site.fingerprint, site.form}, list.size());
    if (isNew) {
      list.push_back({{"region", site.fingerprint}, {"form", site.cycles[site.form].first}, {"sites", 0}});
      // Not all sites have all forms.
      for (const auto &[form, cycles] : site.cycles)
        if (std::isfinite(cycles))
          list.back()["cycles"][form] = std::llround(cycles);
      list.back()["nodes"] = nlohmann::json::array();
    }
    nlohmann::json &entry = list[place->second];
    entry["sites"] = entry["sites"].get<size_t>() + 1;
    for (const std::string &node : site.nodes)
      entry["nodes"].push_back(llvm::json::fixUTF8(node));
  }
  return list;
}

static std::string getMeta(const Choice &choice, const RecordedTimes *times, const Setup &setup, uint64_t sourceHash) {
  nlohmann::json meta;
  meta["source"] = llvm::sys::path::filename(setup.options.input).str();
  meta["source_xxh3"] = llvm::utohexstr(sourceHash, /*LowerCase=*/true, 16);
  meta["compiler"] = "tenon " TENON_VERSION;
  for (const Target &target : setup.targets)
    for (auto [name, value] : listFigures(target.machine))
      meta["targets"][target.name][name.str()] = value;
  meta["tolerance"] = setup.options.tolerance;
  meta["error"] = nlohmann::json::parse(choice.error.toJson());
  meta["paths"] = {{"choices", choice.number}, {"largest_error", choice.largestTaken}};
  if (choice.isWidened)
    meta["paths"]["widened"] = true;
  for (auto [target, variant] : llvm::zip(setup.targets, choice.plan.variants))
    meta["paths"]["kernels"][target.name] = variant.paths;
  for (const Target &target : setup.targets)
    if (nlohmann::json forms = choice.selection ? describeForms(*choice.selection, target.name) : nlohmann::json();
        !forms.empty())
      meta["forms"][target.name] = std::move(forms);
  if (nlohmann::json records = times ? describeRecords(*times) : nlohmann::json(); !records.empty())
    meta["records"] = std::move(records);
  if (nlohmann::json plans = times ? describePlans(*times, choice, setup) : nlohmann::json(); !plans.empty())
    meta["plans"] = std::move(plans);
  if (setup.options.bisect)
    meta["opt_bisect_limit"] = setup.options.bisect->toString();
  if (nlohmann::json places = describePlaces(*choice.plan.modules); !places.empty())
    meta["places"] = std::move(places);
  meta["weights"] = describeWeights(choice.plan.weights);
  if (choice.weights)
    meta["weight_formats"] = describeFormats(choice);
  if (choice.plan.how.recomputed)
    meta["recomputed"] = choice.plan.how.recomputed;
  if (choice.plan.how.weightBudget)
    meta["weight_budget"] = *choice.plan.how.weightBudget;
  return meta.dump();
}

/// Fails unless all records of a lock are used: otherwise it was made for another model, target or compiler, and
/// choices that should be locked would be made by estimates.
static llvm::Error checkLock(const CompileOptions &options, const RecordedTimes &times) {
  std::vector<ProfileRecord> unused = times.listUnused();
  // Other choices make another plan.
  llvm::erase_if(unused, isPlanRecord);
  if (unused.empty())
    return llvm::Error::success();
  const ProfileRecord &first = unused.front();
  return makeError(
      CompileStatus::invalid,
      options.profilesLock + ": does not fit: records of no operation of this model for these targets, with " +
          getProfiledCompiler() + ": " + llvm::Twine(unused.size()) + ", such as '" + first.kernel.schedule + "' by " +
          first.kernel.compiler + "; compile with --tune, or without the file, to write another");
}

static llvm::Error finishLock(const CompileOptions &options, const RecordedTimes &times) {
  if (options.profilesLock.empty() || times.isLocked())
    return llvm::Error::success();
  std::vector<ProfileRecord> records;
  for (RecordedTimes::Used &used : times.listUsed())
    records.push_back(std::move(used.record));
  return writeProfilesLock(options.profilesLock, records);
}

static llvm::Error writeOutput(Choice &choice, const RecordedTimes *times, const Setup &setup, uint64_t sourceHash,
                               PhaseRunner &runner) {
  if (setup.options.output.empty())
    return llvm::Error::success();
  runner.announce("output");
  if (!setup.format.empty())
    return writeCode(choice.kernels, choice.plan, setup, runner);
  if (!setup.makesArtifact)
    return writeIR(choice.plan, choice.kernels, setup);
  ArtifactParts parts = assemble(choice.plan, choice.code, setup, sourceHash);
  parts.meta = getMeta(choice, times, setup, sourceHash);
  parts.leavesExternal = setup.options.leavesWeights;
  if (llvm::Error error = writeArtifact(parts, setup.options.output))
    return makeError(CompileStatus::resources,
                     "cannot write " + setup.options.output + ": " + llvm::toString(std::move(error)));
  return llvm::Error::success();
}

/// Opens the cache of kernels, unless the user observes how kernels are generated or what else the compilation does.
static std::shared_ptr<KernelCache> openKernelCache(const CompileOptions &options) {
  bool isLookedAt = options.emit != kArtifactOutput || !options.report.empty() || !options.dumpDir.empty() ||
                    !options.dumpAfter.empty() || options.bisect || !options.reproduce.empty();
  std::string model = llvm::sys::path::filename(options.input).str();
  return isLookedAt ? nullptr : KernelCache::open(options.cacheFolder, model, options.exchange);
}

static void reportKernelCache(const KernelCache &cache, const CompileOptions &options, PhaseRunner &runner) {
  if (!cache.getNote().empty())
    runner.getDiagnostics().warn(cache.getNote());
  if (options.onKernels)
    options.onKernels({cache.getNumGenerated(), cache.getNumTaken(), cache.getNote().empty() ? 0u : 1u});
}

static llvm::Expected<Choice> lowerPaths(const PathChoice &paths, OpenedModel &model, const Setup &setup,
                                         PhaseRunner &runner) {
  return lowerWithinTolerance(model.graph, paths, model.meter.get(), setup, model.sourceHash, runner);
}

/// Lowers the plan that records of whole models say is the fastest one within the tolerance; none if there is no such
/// record, or none that fits.
static llvm::Expected<std::optional<Choice>> lowerAdoptedPlan(OpenedModel &model, const Setup &setup,
                                                              PhaseRunner &runner) {
  std::optional<AdoptedPlan> adopted = adoptFasterPlan(model, setup);
  if (!adopted)
    return std::nullopt;
  llvm::Expected<Choice> choice = lowerPaths(adopted->paths, model, setup, runner);
  std::string message;
  CompileStatus status = choice ? CompileStatus::done : takeError(choice.takeError(), message);
  // An imported record may come from another machine.
  if (status == CompileStatus::inexact)
    return std::nullopt;
  if (status != CompileStatus::done)
    return makeError(status, message);
  // Another version of the compiler may have other estimates than those that were measured.
  if (adopted->isByEstimates && adopted->schedule != nameSourcedPlan(PlanSource::estimates, *choice->selection,
                                                                     setup.targets.front(), setup.options.tolerance))
    return std::nullopt;
  choice->schedule = std::move(adopted->schedule);
  choice->isPinned = !adopted->isByEstimates;
  return std::move(*choice);
}

/// Chooses the plan that records of whole models say is the fastest one within the tolerance; otherwise the fastest
/// path of each operation.
static llvm::Expected<Choice> choosePlan(OpenedModel &model, const Setup &setup, PhaseRunner &runner) {
  llvm::Expected<std::optional<Choice>> adopted = lowerAdoptedPlan(model, setup, runner);
  if (!adopted)
    return adopted.takeError();
  llvm::Expected<Choice> choice = *adopted ? std::move(**adopted) : lowerPaths(model.paths, model, setup, runner);
  // A second choice means that the first one exceeded the tolerance, or left most of it.
  bool isTuning = setup.tuning && setup.makesArtifact && setup.targets.size() == 1;
  if (!choice || choice->isPinned || choice->number == 1 || choice->isWidened || choice->totalTaken == 0 || !isTuning ||
      model.paths.sensitivities)
    return choice;
  llvm::Expected<std::optional<Choice>> better = chooseBySensitivity(model, *choice, setup, runner);
  if (!better)
    return better.takeError();
  return *better ? std::move(**better) : std::move(*choice);
}

/// Measures how much the formats of weights change the outputs, if this is requested.
static llvm::Error measureWeights(OpenedModel &model, Choice &choice, const Setup &setup, PhaseRunner &runner) {
  choice.weights = model.weights;
  if (!model.originalMeter)
    return llvm::Error::success();
  runner.announce("error");
  choice.weightsError = measureChoice(choice, model.graph, *model.originalMeter, setup, model.sourceHash);
  const ErrorReport &error = *choice.weightsError;
  if (error.isInputAtFault)
    return makeError(CompileStatus::invalid, setup.options.input + ": " + error.reason);
  if (!error.reason.empty())
    runner.getDiagnostics().warn("what --weights changes its outputs by is not measured: " + error.reason);
  return llvm::Error::success();
}

/// Lowers the imported model to the output's last phase, with paths within the tolerance. `times` is set if records of
/// real runs are used.
static llvm::Expected<Choice> lowerModel(Imported imported, Setup &setup, PhaseRunner &runner,
                                         std::shared_ptr<RecordedTimes> &times) {
  const CompileOptions &options = setup.options;
  llvm::Expected<OpenedModel> model = openModel(std::move(imported), setup, runner);
  if (!model)
    return model.takeError();
  times = model->paths.times;
  std::optional<ScheduleTuning> tuning;
  if (times && options.tuneSeconds > 0) {
    setup.tuning = std::make_shared<TuningBudget>(options.tuneSeconds);
    // What a path or a schedule takes is the time of its kernel's launches.
    Setup separate = setup;
    separate.mergesLaunches = false;
    if (llvm::Error error = tune(model->graph, model->paths, separate, model->sourceHash, runner))
      return error;
    llvm::Expected<std::optional<ScheduleTuning>> schedules = tuneKernels(*model, separate, runner);
    if (!schedules)
      return schedules.takeError();
    tuning = std::move(*schedules);
    if (llvm::Error error = tuneWholePlans(*model, setup, runner))
      return error;
  }
  llvm::Expected<Choice> choice = choosePlan(*model, setup, runner);
  if (!choice)
    return choice;
  if (llvm::Error error =
          statePlans(model->graph, model->paths, *choice, model->meter.get(), setup, model->sourceHash, runner))
    return error;
  if (tuning && !options.tuneReport.empty())
    if (llvm::Error error = writeFile(
            options.tuneReport, [&](llvm::raw_ostream &os) { os << tuning->toJson(setup.tuning->getSpent()) << '\n'; }))
      return error;
  if (times)
    if (llvm::Error error = checkLock(options, *times))
      return error;
  if (llvm::Error error = measureWeights(*model, *choice, setup, runner))
    return error;
  return choice;
}

static llvm::Expected<Choice> resumeIR(Imported imported, const Setup &setup, PhaseRunner &runner) {
  llvm::Expected<Choice> choice = resume(std::move(imported), setup, runner);
  if (!choice)
    return choice;
  choice->error = ErrorReport::none("it was compiled from IR in which the algorithms are chosen already");
  if (isErrorAsked(setup.options))
    runner.getDiagnostics().warn("its error is not measured: " + choice->error.reason);
  return choice;
}

static llvm::Error compile(const CompileOptions &options, const BackendRegistry &backends, PhaseRunner &runner,
                           CompileRecord &record) {
  std::shared_ptr<KernelCache> kernels = openKernelCache(options);
  llvm::Expected<Setup> setup = setUp(options, backends);
  if (!setup)
    return setup.takeError();
  setup->kernels = kernels;
  llvm::Expected<Imported> imported = importModel(*setup, runner);
  if (!imported)
    return imported.takeError();
  bool isModel = imported->stage == Stage::model;
  if (!isModel)
    if (llvm::Error error = takeTargets(*imported, *setup, backends))
      return error;
  // If kernels are in modules of their own, a dump has none.
  if (imported->stage != Stage::buffers)
    runner.dumpImport(*imported->module);
  uint64_t sourceHash = imported->sourceHash;
  if (!options.report.empty() && isModel)
    record.source = recordSource(*imported->module);
  std::shared_ptr<RecordedTimes> times;
  llvm::Expected<Choice> choice = isModel ? lowerModel(std::move(*imported), *setup, runner, times)
                                          : resumeIR(std::move(*imported), *setup, runner);
  if (!choice)
    return choice.takeError();
  if (!options.report.empty()) {
    ModuleOp first = *choice->plan.modules->getOps<ModuleOp>().begin();
    record.launches = recordLaunches(first);
    record.kernels = std::move(choice->kernelIRs);
  }
  if (kernels)
    reportKernelCache(*kernels, options, runner);
  if (llvm::Error error = writeOutput(*choice, times.get(), *setup, sourceHash, runner))
    return error;
  return times ? finishLock(options, *times) : llvm::Error::success();
}

static llvm::Error writeIndex(const CompileOptions &options, ArrayRef<DumpedFile> dumps) {
  return writeFile(options.dumpDir + "/" + kDumpIndex,
                   [&](llvm::raw_ostream &os) { printDumpIndex(options.input, options.dumpDir, dumps, os); });
}

CompileStatus tenon::compileModel(const CompileOptions &options, llvm::raw_ostream &errors) {
  const BackendRegistry &backends = getBackendRegistry();
  bool isSequential = options.singleThread || !options.dumpDir.empty() || !options.dumpAfter.empty() || options.bisect;
  MLIRContext context(makeRegistry(options, backends),
                      isSequential ? MLIRContext::Threading::DISABLED : MLIRContext::Threading::ENABLED);
  DiagnosticPrinter diagnostics(context, options.input, errors);
  PhaseClock clock;
  PhaseRunner runner(context, diagnostics, getPhaseOptions(options, clock));
  std::optional<OptBisect> bisect;
  if (options.bisect) {
    bisect.emplace(context, *options.bisect, errors);
    runner.setOptBisect(&*bisect);
  }
  CompileRecord record;
  CompileStatus status = diagnostics.report(takeEarlyStop(compile(options, backends, runner, record)));
  // Dumps matter most when a compilation fails, so they are finished in any case.
  if (!runner.getDumps().empty())
    if (llvm::Error error = writeIndex(options, runner.getDumps()))
      diagnostics.warn(llvm::toString(std::move(error)));
  if (status != CompileStatus::done || options.report.empty())
    return status;
  record.phases = clock.list();
  runner.announce(kReportPhase);
  return static_cast<CompileStatus>(writeHtmlReport({options.output, options.report, {}, {}, "", &record}, errors));
}
