//===- GraphPhases.cpp - a model to launches -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Evaluate.h"
#include "compiler/driver/Phases.h"
#include "compiler/errors/CompileError.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::phases;

static GraphOptions getGraphOptions(const Setup &setup, const PathChoice &choice) {
  GraphOptions graph;
  graph.programs = setup.options.programs;
  graph.keepsResults = setup.options.keepsResults;
  graph.hasPaths = setup.backend->getCapabilities().hasPaths;
  graph.promotesToF32 = graph.hasPaths && llvm::none_of(setup.targets, [](const Target &target) {
                          return target.machine.amxBf16 || target.machine.bf16Pairs;
                        });
  graph.budget = choice.budget;
  graph.paths = {choice.errors,    choice.times, choice.pins, choice.sensitivities,
                 choice.selection, choice.space, choice.forms};
  return graph;
}

llvm::Expected<Graph> phases::simplifyGraph(Imported imported, const Setup &setup, const PathChoice &choice,
                                            PhaseRunner &runner) {
  if (llvm::Error error = runner.run("graph", *imported.module, [&](OpPassManager &pm) {
        buildSharedPipeline(
            pm, [&setup](ModuleOp module) { return evaluateConstants(module, setup.kernels.get()); },
            getGraphOptions(setup, choice));
      }))
    return error;
  return Graph{std::move(imported.module)};
}

OwningOpRef<ModuleOp> phases::splitTargets(ModuleOp module, ArrayRef<Target> targets) {
  OwningOpRef<ModuleOp> modules = ModuleOp::create(module->getLoc());
  for (const Target &target : targets) {
    OwningOpRef<ModuleOp> own = module.clone();
    own->setName(target.name);
    setMachine(*own, target.machine);
    modules->push_back(own.release());
  }
  return modules;
}

/// Clones the graph for each target; nothing is chosen yet.
static OwningOpRef<ModuleOp> beginChoice(const Graph &graph, const Setup &setup, const PathChoice &choice) {
  choice.errors->forgetTaken();
  choice.selection->clear();
  return splitTargets(const_cast<Graph &>(graph).module.get(), setup.targets);
}

llvm::Error phases::tryChoice(const Graph &graph, const Setup &setup, const PathChoice &choice, PhaseRunner &runner) {
  OwningOpRef<ModuleOp> modules = beginChoice(graph, setup, choice);
  return runner.tryOut(
      *modules, [&](OpPassManager &pm) { buildLaunchPipeline(pm.nest<ModuleOp>(), getGraphOptions(setup, choice)); });
}

llvm::Expected<Launches> phases::makeLaunches(const Graph &graph, const Setup &setup, const PathChoice &choice,
                                              PhaseRunner &runner) {
  Launches launches{beginChoice(graph, setup, choice)};
  if (llvm::Error error = runner.run("launches", *launches.modules, [&](OpPassManager &pm) {
        buildLaunchPipeline(pm.nest<ModuleOp>(), getGraphOptions(setup, choice));
      }))
    return error;
  if (choice.pins)
    if (llvm::Error error = choice.pins->check())
      return makeError(CompileStatus::misuse, llvm::toString(std::move(error)));
  launches.largestTaken = choice.errors->getLargestTaken();
  launches.totalTaken = choice.errors->getLargestTotal();
  return launches;
}

llvm::Expected<Launches> phases::resumeLaunches(Imported imported, const Setup &setup, PhaseRunner &runner) {
  assert(imported.stage >= Stage::launches && imported.stage <= Stage::programs && "there is a plan to make");
  Launches launches;
  launches.modules = std::move(imported.module);
  launches.stage = imported.stage;
  if (launches.stage > Stage::launches)
    return launches;
  GraphOptions options;
  options.keepsResults = setup.options.keepsResults;
  if (llvm::Error error = runner.run("launches", *launches.modules,
                                     [&](OpPassManager &pm) { buildOutlinedPipeline(pm.nest<ModuleOp>(), options); }))
    return error;
  return launches;
}
