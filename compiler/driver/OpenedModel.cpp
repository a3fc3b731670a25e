//===- OpenedModel.cpp - what choices of paths begin with ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/OpenedModel.h"
#include "compiler/driver/Choices.h"
#include "compiler/driver/Evaluate.h"
#include "compiler/driver/PlanRecords.h"
#include "compiler/driver/ProfilesLock.h"
#include "compiler/driver/Schedules.h"
#include "compiler/errors/CompileError.h"
#include "compiler/pipeline/Diagnostics.h"
#include "llvm/Support/FileSystem.h"

using namespace tenon;
using namespace tenon::phases;

/// True if choices are read from a lock file. A compilation that tunes writes one instead.
static bool isLockRead(const CompileOptions &options) {
  return !options.profilesLock.empty() && options.tuneSeconds == 0 && llvm::sys::fs::exists(options.profilesLock);
}

/// Takes the user's demands into account.
static llvm::Error setPins(const Setup &setup, PathChoice &paths) {
  if (setup.options.pins.empty())
    return llvm::Error::success();
  if (!setup.backend->getCapabilities().hasPaths)
    return makeError(CompileStatus::misuse, "--force and --exclude: kernels for GPUs have no paths");
  paths.pins = std::make_shared<PathPins>(setup.options.pins);
  return llvm::Error::success();
}

/// Uses records of real runs, if there are any or if some will be made.
static llvm::Error openProfiles(const Setup &setup, PathChoice &paths, PhaseRunner &runner) {
  const CompileOptions &options = setup.options;
  bool isTuning = options.tuneSeconds > 0;
  if (!setup.backend->getCapabilities().hasPaths)
    return options.profilesLock.empty()
               ? llvm::Error::success()
               : makeError(CompileStatus::misuse, "--profiles-lock: kernels for GPUs are not chosen by records");
  if (isLockRead(options)) {
    llvm::Expected<std::vector<ProfileRecord>> locked = readProfilesLock(options.profilesLock);
    if (!locked)
      return locked.takeError();
    if (options.import.onInputFile)
      options.import.onInputFile(options.profilesLock, 0);
    paths.times = std::make_shared<RecordedTimes>(setup.targets, std::move(*locked));
    return llvm::Error::success();
  }
  if (options.profiles.empty() && options.profilesLock.empty() && !isTuning)
    return llvm::Error::success();
  std::unique_ptr<ProfileStore> store;
  if (!options.profiles.empty()) {
    llvm::Expected<std::unique_ptr<ProfileStore>> opened =
        ProfileStore::open(options.profiles, isTuning ? ProfileStore::Access::write : ProfileStore::Access::read);
    if (!opened && options.needsProfiles)
      return opened.takeError();
    if (!opened) {
      runner.getDiagnostics().warn("records of real runs do not count: " + llvm::toString(opened.takeError()));
      return llvm::Error::success();
    }
    store = std::move(*opened);
  }
  paths.times = std::make_shared<RecordedTimes>(setup.targets, std::move(store));
  return llvm::Error::success();
}

/// Returns the target of the reference. If all targets are named, its results do not depend on this machine.
static Target chooseReferenceTarget(const Setup &setup) {
  bool hasHost = llvm::any_of(setup.targets, [](const Target &target) { return target.name == kHostTarget; });
  return hasHost ? *getBackendRegistry().getTarget(kHostTarget) : getReferenceTarget();
}

/// Compares with a model in f64.
static std::unique_ptr<ErrorMeter> makeErrorMeter(mlir::OwningOpRef<mlir::ModuleOp> model, const Setup &setup) {
  return std::make_unique<ErrorMeter>(std::move(model), setup.options.readInputs, chooseReferenceTarget(setup),
                                      setup.kernels);
}

/// The budget before anything is measured, which is that of each operation.
static ErrorBudget makeFirstBudget(const Setup &setup) {
  ErrorBudget budget;
  budget.each = setup.options.skipsError ? 0 : getFirstBudget(setup.options.tolerance);
  return budget;
}

llvm::Expected<OpenedModel> tenon::openModel(Imported imported, Setup &setup, PhaseRunner &runner) {
  OpenedModel model;
  model.sourceHash = imported.sourceHash;
  if (setup.makesArtifact)
    model.meter = makeErrorMeter(imported.module->clone(), setup);
  model.weights = std::move(imported.weights);
  if (imported.original)
    model.originalMeter = makeErrorMeter(std::move(imported.original), setup);
  model.paths.budget = makeFirstBudget(setup);
  if (llvm::Error error = setPins(setup, model.paths))
    return error;
  if (llvm::Error error = openProfiles(setup, model.paths, runner))
    return error;
  setup.schedules = makeSchedules(model.paths.times);
  llvm::Expected<Graph> graph = simplifyGraph(std::move(imported), setup, model.paths, runner);
  if (!graph)
    return graph.takeError();
  model.graph = std::move(*graph);
  // Records are those of one target.
  if (!model.paths.times || !setup.makesArtifact || setup.options.skipsError || setup.targets.size() != 1)
    return model;
  PathRegion region = getPlanRegion(model.graph, setup.targets.front(), model.sourceHash);
  if (std::shared_ptr<const Sensitivities> found = findSensitivities(region, *model.paths.times))
    useSensitivities(model.paths, std::move(found), setup.options.tolerance);
  return model;
}

PathChoice tenon::chooseByEstimates(const OpenedModel &model, const Setup &setup) {
  PathChoice estimated = model.paths;
  estimated.times = nullptr;
  estimated.sensitivities = nullptr;
  estimated.budget = makeFirstBudget(setup);
  estimated.selection = std::make_shared<PathSelection>();
  return estimated;
}

std::optional<AdoptedPlan> tenon::adoptFasterPlan(const OpenedModel &model, const Setup &setup) {
  const PathChoice &paths = model.paths;
  std::optional<RecordedPlan> recorded;
  if (paths.times && !paths.pins && setup.makesArtifact)
    recorded = findFasterPlan(model.graph, setup, *paths.times, model.sourceHash);
  if (!recorded)
    return std::nullopt;
  if (recorded->pins.empty())
    return AdoptedPlan{chooseByEstimates(model, setup), std::move(recorded->schedule), /*isByEstimates=*/true};
  AdoptedPlan adopted{paths, std::move(recorded->schedule), /*isByEstimates=*/false};
  adopted.paths.pins = std::make_shared<PathPins>(std::move(recorded->pins), /*areInsistedOn=*/false);
  return adopted;
}
