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

/// What constants are computed with, and what stands in for a target that is named: not all that this machine can do,
/// but what every machine of its kind can. The bytes that come out do not depend on where a model is compiled.
Target getEvaluationTarget();

/// What the f64 reference of a named target is computed with. Its bits do not depend on the machine that compiles,
/// either, and it is faster: kernels are always planned for vectors of AVX2, which the code generator splits on
/// machines without it, and each step is rounded (Target::roundsEachStep), which f64 can afford.
Target getReferenceTarget();

/// The results of the module's `main`, which takes no arguments: compiled for this machine, and run in this
/// process. Large results are resources, which their context owns. Empty where something in it cannot be
/// compiled; nothing is reported then, since the model itself will be. `kernels`: as for compileInMemory.
llvm::SmallVector<mlir::ElementsAttr> evaluateConstants(mlir::ModuleOp module, KernelCache *kernels = nullptr);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_EVALUATE_H
