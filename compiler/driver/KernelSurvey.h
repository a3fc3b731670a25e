//===- KernelSurvey.h - which kernels of a model are compiled -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_KERNELSURVEY_H
#define TENON_COMPILER_DRIVER_KERNELSURVEY_H

#include "compiler/driver/Compile.h"
#include "compiler/driver/KernelCache.h"

namespace tenon {

/// The kernels of the plan that a compilation begins with.
struct KernelSurvey {
  std::vector<PlannedKernel> kernels; ///< of all targets, each once
  /// The compilation measures the error, and may choose other paths by it (Choices.h).
  bool isProvisional = false;
  std::string note; ///< why the cache is not used; empty if it is
};

/// Plans the model of `options` and passes its kernels to `use`, without generating or running any but those that
/// compute constants. Every failure prints one line to `errors`.
CompileStatus surveyKernels(const CompileOptions &options, llvm::raw_ostream &errors,
                            llvm::function_ref<llvm::Error(const KernelSurvey &)> use);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_KERNELSURVEY_H
