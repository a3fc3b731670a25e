//===- OptimizeModule.h - LLVM's optimisation pipeline -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_OPTIMIZEMODULE_H
#define TENON_COMPILER_BACKEND_OPTIMIZEMODULE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Passes/OptimizationLevel.h"
#include "llvm/Passes/PassBuilder.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace tenon {

/// Runs LLVM's default pipeline on `module`, with all knowledge of C library functions disabled, since kernels have no
/// C library. `extend` may add passes of the backend to the builder.
void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine, llvm::OptimizationLevel level,
                    const llvm::PipelineTuningOptions &tuning = {},
                    llvm::function_ref<void(llvm::PassBuilder &)> extend = {});

} // namespace tenon

#endif // TENON_COMPILER_BACKEND_OPTIMIZEMODULE_H
