//===- OptimizeModule.cpp - LLVM's optimisation pipeline -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/OptimizeModule.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

void tenon::optimizeModule(llvm::Module &module, llvm::TargetMachine &machine, llvm::OptimizationLevel level,
                           const llvm::PipelineTuningOptions &tuning,
                           llvm::function_ref<void(llvm::PassBuilder &)> extend) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  // The target machine adds passes of its own to the pipelines.
  llvm::PassBuilder builder(&machine, tuning);
  if (extend)
    extend(builder);
  // Kernels have no C library: LLVM must not create calls of its functions, nor treat functions of ours as such.
  llvm::TargetLibraryInfoImpl library(module.getTargetTriple());
  library.disableAllFunctions();
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  builder.buildPerModuleDefaultPipeline(level).run(module, modules);
}
