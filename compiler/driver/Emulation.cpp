//===- Emulation.cpp - the algorithms of a target on any machine -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Emulation.h"
#include "compiler/driver/Evaluate.h"
#include "compiler/driver/LoadedModel.h"
#include "compiler/errors/CompileError.h"
#include "compiler/pipeline/Pipeline.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace tenon;

llvm::Expected<std::unique_ptr<LoadedModel>> tenon::emulate(const phases::Graph &graph, const Target &target,
                                                            std::shared_ptr<const PathSelection> selection,
                                                            KernelCache *kernels, bool borrowsWeights) {
  OwningOpRef<ModuleOp> module = const_cast<phases::Graph &>(graph).module->clone();
  module->setName(target.name);
  Target evaluation = getEvaluationTarget();
  // Some paths only apply if a matrix exceeds the caches, so the cache sizes are those of the target.
  evaluation.machine.l2Bytes = target.machine.l2Bytes;
  evaluation.machine.llcBytes = target.machine.llcBytes;
  auto build = [&](OpPassManager &pm) {
    GraphOptions options;
    options.repeated = std::move(selection);
    buildLaunchPipeline(pm, options);
    PlanOptions plan;
    plan.orderingSteps = 0;
    buildProgramPipeline(pm, plan);
    buildPlacePipeline(pm, plan);
  };
  llvm::Expected<std::unique_ptr<LoadedModel>> model =
      compileInMemory(*module, build, evaluation, CodeEffort::little, borrowsWeights, kernels);
  if (model)
    return model;
  std::string reason;
  CompileStatus category = takeError(model.takeError(), reason);
  return makeError(category, "its algorithms for " + target.name + " cannot be computed on this machine" +
                                 (reason.empty() ? "" : ": " + reason));
}
