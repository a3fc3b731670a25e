//===- Reference.cpp - a model computed in f64 ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Reference.h"
#include "compiler/driver/Evaluate.h"
#include "compiler/driver/LoadedModel.h"
#include "compiler/driver/Phases.h"
#include "compiler/pipeline/Diagnostics.h"
#include "compiler/pipeline/Pipeline.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace tenon;

llvm::Expected<std::unique_ptr<LoadedModel>> tenon::loadReference(ModuleOp imported, const Target &target,
                                                                  bool roundsReducedPrecision, KernelCache *kernels) {
  auto build = [&](OpPassManager &pm) {
    buildReferencePipeline(
        pm, [kernels](ModuleOp module) { return evaluateConstants(module, kernels); }, roundsReducedPrecision);
  };
  llvm::Expected<std::unique_ptr<LoadedModel>> reference =
      compileInMemory(imported, build, target, CodeEffort::little, /*borrowsWeights=*/true, kernels);
  if (reference)
    return reference;
  std::string reason;
  CompileStatus category = takeError(reference.takeError(), reason);
  return makeError(category, "the model cannot be computed in f64" + (reason.empty() ? "" : ": " + reason));
}

CompileStatus tenon::useReference(const CompileOptions &options, llvm::raw_ostream &errors,
                                  llvm::function_ref<llvm::Error(LoadedModel &)> use) {
  return phases::useImported(options, errors, [&](phases::Imported &imported) -> llvm::Error {
    if (imported.stage != Stage::model)
      return makeError(CompileStatus::unsupported,
                       options.input + ": is IR of kernels, which cannot be computed in f64; compare the model itself");
    llvm::Expected<std::unique_ptr<LoadedModel>> reference =
        loadReference(*imported.module, *getBackendRegistry().getTarget(kHostTarget));
    return reference ? use(**reference) : prefixError(reference.takeError(), options.input + ": ");
  });
}
