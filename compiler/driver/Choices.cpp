//===- Choices.cpp - choices of paths, measured and compared ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Choices.h"
#include "compiler/driver/Emulation.h"
#include "compiler/driver/Evaluate.h"
#include "compiler/driver/LoadedModel.h"
#include "compiler/errors/CompileError.h"
#include "compiler/pipeline/Diagnostics.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Pass/PassManager.h"
#include "passes/paths/PathSelection.h"
#include <set>

using namespace mlir;
using namespace tenon;
using namespace tenon::phases;

double tenon::getFirstBudget(double tolerance) {
  // Several operations together add about as much to the error of a result as four of them.
  constexpr double kShare = 0.25;
  return tolerance * kShare;
}

/// The largest error of a result varies, so the target is this fraction of the tolerance.
static constexpr double kMargin = 0.9;

void tenon::useSensitivities(PathChoice &paths, std::shared_ptr<const Sensitivities> sensitivities, double tolerance) {
  paths.sensitivities = std::move(sensitivities);
  paths.budget = {tolerance, kMargin * tolerance};
}

bool tenon::isErrorAsked(const CompileOptions &options) { return options.measuresError || options.readInputs; }

llvm::Expected<Choice> tenon::finishKernels(Choice choice, const Setup &setup, PhaseRunner &runner) {
  if (!setup.options.report.empty())
    recordBufferKernels(*choice.kernels.modules->getOps<ModuleOp>().begin(), choice.kernelIRs);
  if (!setup.makesArtifact)
    return choice;
  llvm::Expected<Code> code = generateCode(choice.kernels, choice.plan, setup, runner);
  if (!code)
    return code.takeError();
  choice.code = std::move(*code);
  return choice;
}

llvm::Expected<Choice> tenon::lowerLaunches(Launches launches, const Setup &setup, PhaseRunner &runner) {
  Choice choice;
  choice.largestTaken = launches.largestTaken;
  choice.totalTaken = launches.totalTaken;
  if (!setup.options.report.empty())
    recordTensorKernels(*launches.modules->getOps<ModuleOp>().begin(), choice.kernelIRs);
  llvm::Expected<Plan> plan = makePlan(std::move(launches), setup, runner);
  if (!plan)
    return plan.takeError();
  choice.plan = std::move(*plan);
  llvm::Expected<Kernels> kernels = lowerKernels(choice.plan, setup, runner);
  if (!kernels)
    return kernels.takeError();
  choice.kernels = std::move(*kernels);
  return finishKernels(std::move(choice), setup, runner);
}

llvm::Expected<std::unique_ptr<LoadedModel>> tenon::loadTarget(const Choice &choice, const Target &target,
                                                               const Setup &setup, uint64_t sourceHash) {
  ArtifactParts parts = assemble(choice.plan, choice.code, setup, sourceHash);
  llvm::erase_if(parts.variants, [&](const auto &variant) { return variant.target != target.getSectionTarget(); });
  return LoadedModel::load(parts);
}

/// Loads the code of one target with plans that read large weights where the compiler has them: a copy of hundreds of
/// megabytes takes longer than a run. Who reads inputs looks at those of the artifact, which borrowed weights would be
/// among; there the copy is made.
static llvm::Expected<std::unique_ptr<LoadedModel>> loadForError(const Choice &choice, const Target &target,
                                                                 const Setup &setup, uint64_t sourceHash) {
  if (setup.options.readInputs)
    return loadTarget(choice, target, setup, sourceHash);
  for (auto [own, module, code] :
       llvm::zip(setup.targets, choice.plan.modules.get().getOps<ModuleOp>(), choice.code.sections))
    if (own.getSectionTarget() == target.getSectionTarget()) {
      OwningOpRef<ModuleOp> copy = module.clone();
      return loadBorrowing(*copy, target, code);
    }
  llvm_unreachable("each target has plans and code");
}

/// Measures one target by running its code or, if it is a named target, by emulation.
static ErrorReport measureTarget(const Choice &choice, const Graph &graph, const Target &target, ErrorMeter &meter,
                                 const Setup &setup, uint64_t sourceHash) {
  bool isHost = target.name == kHostTarget;
  llvm::Expected<std::unique_ptr<LoadedModel>> model =
      isHost
          ? loadForError(choice, target, setup, sourceHash)
          : emulate(graph, target, choice.selection, setup.kernels.get(), /*borrowsWeights=*/!setup.options.readInputs);
  if (!model)
    return ErrorReport::none(llvm::toString(model.takeError()));
  ErrorReport report = meter.measure(**model, const_cast<Graph &>(graph).module.get(), setup.options.programs);
  if (!isHost)
    report.emulator = getEvaluationTarget().name;
  return report;
}

/// The error for a named target must not depend on the compiling machine.
ErrorReport tenon::measureChoice(const Choice &choice, const Graph &graph, ErrorMeter &meter, const Setup &setup,
                                 uint64_t sourceHash) {
  std::optional<ErrorReport> all;
  std::set<std::string> emulated;
  for (const Target &target : setup.targets) {
    if (target.name != kHostTarget && !emulated.insert(choice.selection->describe(target.name)).second)
      continue;
    ErrorReport report = measureTarget(choice, graph, target, meter, setup, sourceHash);
    if (!report.reason.empty())
      return report;
    if (all)
      all->merge(report);
    else
      all = std::move(report);
  }
  assert(all && "there is a target");
  return std::move(*all);
}

/// Returns what the chosen paths cost, of all targets.
static double getCost(const PathChoice &paths, const Setup &setup) {
  double cost = 0;
  for (const Target &target : setup.targets)
    cost += paths.selection->getCost(target.name);
  return cost;
}

/// True if a wider budget is worth another compilation.
static bool savesEnough(double cost, double before) {
  constexpr double kMinSaved = 0.02; // policy: of the time by estimate; estimates of different kernels are not better
  return cost < (1 - kMinSaved) * before;
}

llvm::Expected<bool> tenon::mayChooseAgain(const Graph &graph, PathChoice paths, double totalTaken, const Setup &setup,
                                           PhaseRunner &runner) {
  if (setup.options.skipsError || totalTaken > 0)
    return totalTaken > 0;
  double cost = getCost(paths, setup), total = kMargin * setup.options.tolerance;
  paths.budget = {total, total};
  paths.selection = std::make_shared<PathSelection>();
  if (llvm::Error error = tryChoice(graph, setup, paths, runner))
    return error;
  return savesEnough(getCost(paths, setup), cost);
}

namespace {
/// Iterates over choices of paths with decreasing budgets; once with a larger one, if the first choice leaves most of
/// the tolerance unused.
class ToleranceSearch {
public:
  ToleranceSearch(const Graph &graph, PathChoice paths, ErrorMeter *meter, const Setup &setup, uint64_t sourceHash,
                  PhaseRunner &runner)
      : graph(graph), module(const_cast<Graph &>(graph).module.get()), paths(std::move(paths)), meter(meter),
        setup(setup), sourceHash(sourceHash), runner(runner) {}

  llvm::Expected<Choice> run();

private:
  llvm::Expected<Choice> lower();
  std::string getWhyUnmeasured(const Choice &choice) const;
  llvm::Error measure(Choice &choice);
  llvm::Expected<Choice> endExceeded(Choice best);
  ErrorBudget scaleBudget(const Choice &choice) const;
  bool leavesMuch(const Choice &choice) const;
  llvm::Expected<Choice> widen(Choice first);

  const Graph &graph;
  ModuleOp module;
  PathChoice paths;
  ErrorMeter *meter;
  const Setup &setup;
  uint64_t sourceHash;
  PhaseRunner &runner;
};
} // namespace

/// From a choice of paths on.
llvm::Expected<Choice> ToleranceSearch::lower() {
  runner.beginRound(paths.number);
  llvm::Expected<Launches> launches = makeLaunches(graph, setup, paths, runner);
  if (!launches)
    return launches.takeError();
  llvm::Expected<Choice> choice = lowerLaunches(std::move(*launches), setup, runner);
  if (choice) {
    choice->number = paths.number;
    choice->budget = paths.budget;
    choice->selection = paths.selection;
  }
  return choice;
}

/// With generated inputs, a loop may not terminate unless something says how often it runs at most.
static bool mayNotTerminate(ModuleOp module) {
  auto isOpen = [](LoopOp loop) { return loop.getTrips() ? WalkResult::advance() : WalkResult::interrupt(); };
  return module.walk(isOpen).wasInterrupted();
}

/// Returns the reason why the error of a choice is not measured; empty if it is.
std::string ToleranceSearch::getWhyUnmeasured(const Choice &choice) const {
  if (setup.options.skipsError)
    return "--no-measure-error was passed";
  // If an earlier choice was measured, this one is measured, too.
  if (isErrorAsked(setup.options) || choice.largestTaken > 0 || choice.number > 1)
    return "";
  if (setup.options.needsTolerance && !mayNotTerminate(module))
    return "";
  return "only algorithms were chosen that are as exact as sums in their type, and its loops may run for long with "
         "inputs that are made up; see --measure-error";
}

llvm::Error ToleranceSearch::measure(Choice &choice) {
  const CompileOptions &options = setup.options;
  if (std::string why = getWhyUnmeasured(choice); !why.empty()) {
    choice.error = ErrorReport::none(why);
  } else {
    PassManager reference(&runner.getContext());
    buildReferencePipeline(reference, nullptr);
    if (llvm::Error error = runner.begin("error", meter->getImported() ? meter->getImported() : module, &reference))
      return error;
    choice.error = measureChoice(choice, graph, *meter, setup, sourceHash);
  }
  if (choice.error.isInputAtFault)
    return makeError(CompileStatus::invalid, options.input + ": " + choice.error.reason);
  if (isErrorAsked(options) && !choice.error.reason.empty())
    runner.getDiagnostics().warn("its error is not measured: " + choice.error.reason);
  return llvm::Error::success();
}

/// No choice keeps the tolerance. When the model is being debugged, the best choice is returned nevertheless.
llvm::Expected<Choice> ToleranceSearch::endExceeded(Choice best) {
  std::string message = best.error.describeExceeding(setup.options.tolerance, !setup.options.pins.empty());
  if (setup.options.needsTolerance)
    return makeError(CompileStatus::inexact, setup.options.input + ": " + message);
  best.number = paths.number;
  runner.getDiagnostics().warn(message);
  return best;
}

/// Returns a budget for all operations together with which the error would be just within the tolerance.
ErrorBudget ToleranceSearch::scaleBudget(const Choice &choice) const {
  double tolerance = setup.options.tolerance;
  // Where no inexact path was taken, nothing is known of how their errors reach an output.
  double total =
      choice.totalTaken > 0 ? choice.totalTaken * kMargin / choice.error.getUsedShare(tolerance) : kMargin * tolerance;
  return {total, total};
}

/// True if a measured choice is much more exact than it has to be.
bool ToleranceSearch::leavesMuch(const Choice &choice) const {
  constexpr double kMuch = 0.5; // policy: with more in use, few paths are added
  // Sensitivities come with a budget for all operations together. A bisection counts the steps of the first choice:
  // whether there is a second one would depend on which are taken.
  return !paths.sensitivities && !setup.options.bisect && choice.error.getLargest() > 0 &&
         choice.error.getUsedShare(setup.options.tolerance) <= kMuch;
}

/// Chooses again with a larger budget, and returns that choice if it is the cheaper one and exact enough; otherwise the
/// first one.
llvm::Expected<Choice> ToleranceSearch::widen(Choice first) {
  constexpr unsigned kWidenings = 3; // policy: each knows what the paths of the one before are off by
  double cost = getCost(paths, setup);
  ErrorBudget budget = scaleBudget(first);
  for (unsigned i = 0; i < kWidenings; ++i) {
    paths.budget = budget;
    paths.selection = std::make_shared<PathSelection>();
    if (llvm::Error error = tryChoice(graph, setup, paths, runner))
      return error;
    if (!savesEnough(getCost(paths, setup), cost))
      break;
    ++paths.number;
    llvm::Expected<Choice> choice = lower();
    if (!choice)
      return choice;
    if (llvm::Error error = measure(*choice))
      return error;
    if (!choice->error.reason.empty())
      break;
    if (!choice->error.findExceeding(setup.options.tolerance)) {
      choice->isWidened = true;
      return choice;
    }
    if (choice->totalTaken == 0)
      break;
    budget = scaleBudget(*choice);
  }
  return first;
}

llvm::Expected<Choice> ToleranceSearch::run() {
  // After these attempts, every operation gets its default implementation.
  constexpr unsigned kAttempts = 3;
  const unsigned last = paths.number + kAttempts - 1;
  double tolerance = setup.options.tolerance;
  std::optional<Choice> best;
  for (;; ++paths.number) {
    llvm::Expected<Choice> choice = lower();
    if (!choice || !setup.makesArtifact)
      return choice;
    if (llvm::Error error = measure(*choice))
      return error;
    bool isMeasured = choice->error.reason.empty();
    double total = choice->totalTaken, excess = choice->error.getUsedShare(tolerance);
    // If the error cannot be measured, only paths are accepted that need no measurement.
    if (isMeasured ? !choice->error.findExceeding(tolerance) : total == 0) {
      bool isFirst = !best;
      return isMeasured && isFirst && leavesMuch(*choice) ? widen(std::move(*choice)) : std::move(choice);
    }
    // A path may be more exact than the default implementation, because its sums are shorter.
    if (isMeasured && (!best || excess < best->error.getUsedShare(tolerance)))
      best = std::move(*choice);
    if (total == 0)
      return endExceeded(std::move(*best));
    // The error of the whole is proportional to those of its parts.
    if (isMeasured && paths.number < last)
      paths.budget.total = total * kMargin / excess;
    else
      paths.budget = {};
    paths.selection = std::make_shared<PathSelection>();
  }
}

llvm::Expected<Choice> tenon::lowerWithinTolerance(const Graph &graph, PathChoice paths, ErrorMeter *meter,
                                                   const Setup &setup, uint64_t sourceHash, PhaseRunner &runner) {
  assert((meter || !setup.makesArtifact) && "what an artifact is off by is measured");
  return ToleranceSearch(graph, std::move(paths), meter, setup, sourceHash, runner).run();
}
