//===- KernelSurvey.cpp - which kernels of a model are compiled -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/KernelSurvey.h"
#include "compiler/driver/Choices.h"
#include "compiler/driver/OpenedModel.h"
#include "compiler/errors/CompileError.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::phases;

/// Takes the kernels out of a plan and lists them. Those of several targets, or of nodes that are alike, may be the
/// same.
static std::vector<PlannedKernel> listKernels(Plan &plan, const Setup &setup) {
  std::vector<PlannedKernel> kernels;
  llvm::StringMap<size_t> places;
  for (auto [target, own] : llvm::zip(setup.targets, plan.modules->getOps<ModuleOp>())) {
    KernelNodes nodes = listNodes(own);
    OwningOpRef<ModuleOp> isolated = isolateKernels(own);
    for (PlannedKernel &kernel : setup.kernels->list(*isolated, target, CodeEffort::most, nodes)) {
      auto [place, isNew] = places.try_emplace(kernel.entry.key, kernels.size());
      if (isNew)
        kernels.push_back(std::move(kernel));
      else
        llvm::append_range(kernels[place->second].entry.uses, kernel.entry.uses);
    }
  }
  return kernels;
}

static llvm::Expected<KernelSurvey> survey(Setup &setup, PhaseRunner &runner) {
  const CompileOptions &options = setup.options;
  if (llvm::any_of(setup.targets,
                   [](const Target &target) { return !target.backend->getCapabilities().hasKernelObjects; }))
    return makeError(CompileStatus::misuse, "--target: the kernels of this target are not cached one by one");
  setup.kernels = KernelCache::open(options.cacheFolder, llvm::sys::path::filename(options.input).str());
  if (!setup.kernels)
    return makeError(CompileStatus::resources, "there is no folder for a cache; set TENON_CACHE_DIR");
  llvm::Expected<Imported> imported = importModel(setup, runner);
  if (!imported)
    return imported.takeError();
  if (imported->stage != Stage::model)
    return makeError(CompileStatus::misuse, options.input + ": its kernels are planned already");
  llvm::Expected<OpenedModel> model = openModel(std::move(*imported), setup, runner);
  if (!model)
    return model.takeError();
  std::optional<AdoptedPlan> adopted = adoptFasterPlan(*model, setup);
  const PathChoice &choice = adopted ? adopted->paths : model->paths;
  llvm::Expected<Launches> launches = makeLaunches(model->graph, setup, choice, runner);
  if (!launches)
    return launches.takeError();
  llvm::Expected<bool> isProvisional = mayChooseAgain(model->graph, choice, launches->totalTaken, setup, runner);
  if (!isProvisional)
    return isProvisional.takeError();
  KernelSurvey result;
  result.isProvisional = *isProvisional;
  llvm::Expected<Plan> plan = makePlan(std::move(*launches), setup, runner);
  if (!plan)
    return plan.takeError();
  result.kernels = listKernels(*plan, setup);
  result.note = setup.kernels->getNote();
  return result;
}

CompileStatus tenon::surveyKernels(const CompileOptions &options, llvm::raw_ostream &errors,
                                   llvm::function_ref<llvm::Error(const KernelSurvey &)> use) {
  return withSetup(options, errors, [&](Setup &setup, PhaseRunner &runner) -> llvm::Error {
    llvm::Expected<KernelSurvey> result = survey(setup, runner);
    return result ? use(*result) : result.takeError();
  });
}
