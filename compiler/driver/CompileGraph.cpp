//===- CompileGraph.cpp - a model to launches, within its tolerance -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Compilation.h"
#include "compiler/driver/Evaluate.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Kernel.h"
#include "passes/paths/PathErrors.h"

using namespace mlir;
using namespace tenon;

GraphOptions Compilation::getGraphOptions() const {
  GraphOptions graph;
  graph.programs = options.programs;
  graph.hasPaths = options.emit != EmitKind::ptx && options.emit != EmitKind::spirv;
  graph.widensHalves = graph.hasPaths && llvm::none_of(targets, [](const CpuTarget &target) {
                         return target.machine.amxBf16 || target.machine.bf16Pairs;
                       });
  graph.budget = budget;
  graph.errors = pathErrors;
  return graph;
}

CompileStatus Compilation::lowerGraph() {
  // What several operations add to the error of a result is about as much as four of them.
  constexpr double kShare = 0.25;
  budget = options.tolerance * kShare;
  bool runsHere = llvm::any_of(targets, [](const CpuTarget &target) { return target.runsHere; });
  if (options.emit == EmitKind::artifact && runsHere)
    meter = std::make_unique<ErrorMeter>(cast<ModuleOp>((*module)->clone()), options.readInputs);
  return runPasses("graph", *module,
                   [&](OpPassManager &pm) { buildSharedPipeline(pm, evaluateConstants, getGraphOptions()); });
}

/// Chooses paths, again where the model is not exact enough, and lowers what was chosen.
CompileStatus Compilation::lowerWithinTolerance() {
  // Then every operation is computed in its own way.
  constexpr unsigned kHalvings = 2;
  // A choice that is off by so much less is better than a faster one, where both are off by more than they may.
  constexpr double kNotablyLess = 0.75;
  std::optional<Choice> best;
  for (;;) {
    ++numChoices;
    chosen = Choice();
    if (CompileStatus status = lower(); status != CompileStatus::done || isReproduced)
      return status;
    if (CompileStatus status = measureError(); status != CompileStatus::done || isReproduced)
      return status;
    if (!chosen.error.reason.empty() || chosen.error.getLargest() <= options.tolerance)
      return CompileStatus::done;
    double worst = chosen.largestTaken;
    // One path may be off by less than the operation's own, and it is faster: sums are shorter.
    if (!best || chosen.error.getLargest() < kNotablyLess * best->error.getLargest())
      best = std::move(chosen);
    if (worst == 0)
      break;
    budget = numChoices <= kHalvings ? worst / 2 : 0;
  }
  chosen = std::move(*best);
  warn("its error is more than --tolerance allows, whichever way operations are computed: " +
       chosen.error.describeLargest());
  return CompileStatus::done;
}

CompileStatus Compilation::lower() {
  CompileStatus (Compilation::*const steps[])() = {&Compilation::lowerToLaunches, &Compilation::makePlan,
                                                   &Compilation::lowerKernels, &Compilation::lowerCode};
  for (auto step : steps)
    if (CompileStatus status = (this->*step)(); status != CompileStatus::done || isReproduced)
      return status;
  return CompileStatus::done;
}

/// Gives each target a module of its own, which names its machine.
void Compilation::splitTargets() {
  variants = ModuleOp::create(module->getLoc());
  for (const CpuTarget &target : targets) {
    OwningOpRef<ModuleOp> own(module->clone());
    own->setName(target.name);
    setMachine(*own, target.machine);
    variants->push_back(own.release());
  }
}

/// From here on, what is done for one target is done for all at the same time.
CompileStatus Compilation::lowerToLaunches() {
  splitTargets();
  pathErrors->forgetTaken();
  auto build = [&](OpPassManager &pm) { buildLaunchPipeline(pm.nest<ModuleOp>(), getGraphOptions()); };
  CompileStatus status = runPasses("launches", *variants, build);
  chosen.largestTaken = pathErrors->getLargestTaken();
  return status;
}

/// Why the error of this choice is not measured; empty where it is.
std::string Compilation::getWhyUnmeasured() const {
  if (!meter)
    return "no code of the artifact runs on the machine that compiled it";
  // What an earlier choice was measured for, this one is.
  if (isErrorAsked() || chosen.largestTaken > 0 || numChoices > 1)
    return "";
  return "every operation is as exact as sums in its type are; --measure-error measures that";
}

CompileStatus Compilation::measureError() {
  if (options.emit != EmitKind::artifact)
    return CompileStatus::done;
  if (std::string why = getWhyUnmeasured(); !why.empty()) {
    chosen.error = ErrorReport::none(why);
  } else {
    PassManager reference(&context);
    buildReferencePipeline(reference, nullptr);
    ModuleOp model = meter->getImported() ? meter->getImported() : *module;
    CompileStatus status = beginPhase("error", model, &reference);
    if (status != CompileStatus::done || isReproduced)
      return status;
    chosen.error = meter->measure(getParts(), *module, options.programs);
  }
  const ErrorReport &error = chosen.error;
  if (error.isInputAtFault)
    return fail(CompileStatus::invalid, options.input + ": " + error.reason);
  if (isErrorAsked() && !error.reason.empty())
    warn("its error is not measured: " + error.reason);
  return CompileStatus::done;
}
