//===- Emulation.h - the algorithms of a target on any machine -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_EMULATION_H
#define TENON_COMPILER_DRIVER_EMULATION_H

#include "compiler/driver/Phases.h"

namespace tenon {

class KernelCache;
class LoadedModel;

/// Compiles the graph with the paths that `selection` has for `target` as a program for the evaluation target
/// (Evaluate.h), to measure the error on `target` on any compiling machine. A path that the evaluation target cannot
/// compute is replaced by the default implementation, whose result is perturbed by the path's error. `kernels` may have
/// some of its kernels, and may be null. With `borrowsWeights`, inputs for large weights follow the model's.
llvm::Expected<std::unique_ptr<LoadedModel>> emulate(const phases::Graph &graph, const Target &target,
                                                     std::shared_ptr<const PathSelection> selection,
                                                     KernelCache *kernels, bool borrowsWeights);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_EMULATION_H
