//===- Evaluate.h - compute constants by compiling and running them -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_EVALUATE_H
#define TENON_COMPILER_DRIVER_EVALUATE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"

namespace tenon {

class KernelCache;
struct Target;

/// Returns the target that constants are computed with, and that emulates named targets. It has the features that every
/// machine of the architecture has, so that results do not depend on the compiling machine.
Target getEvaluationTarget();

/// Returns the target of the f64 reference for a named target. Its results do not depend on the compiling machine
/// either, and it is faster: kernels are always planned for AVX2 vectors, which the code generator splits on machines
/// without it, and each step is rounded (Target::roundsEachStep), which f64 can afford.
Target getReferenceTarget();

/// Returns the results of the module's `main`, which takes no arguments, compiled and run in this process. Large
/// results are resources of their context. Empty if something cannot be compiled; nothing is reported then, because
/// compiling the model will report it. `kernels` is as for compileInMemory.
llvm::SmallVector<mlir::ElementsAttr> evaluateConstants(mlir::ModuleOp module, KernelCache *kernels = nullptr);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_EVALUATE_H
