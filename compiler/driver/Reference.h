//===- Reference.h - a model computed in f64 ------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_REFERENCE_H
#define TENON_COMPILER_DRIVER_REFERENCE_H

#include "compiler/driver/Compile.h"
#include "mlir/IR/BuiltinOps.h"
#include <memory>

namespace tenon {

class KernelCache;
class LoadedModel;

/// Compiles the imported model, which it modifies, for `target`, which this machine must support, with all floats
/// computed in f64. With `roundsReducedPrecision`, results that are f16 or bf16 in the model are rounded to that type.
/// `kernels` may have some of its kernels, and may be null.
llvm::Expected<std::unique_ptr<LoadedModel>> loadReference(mlir::ModuleOp imported, const Target &target,
                                                           bool roundsReducedPrecision = false,
                                                           KernelCache *kernels = nullptr);

/// Imports the model of `options`, and passes the program that computes it in f64 to `use`. Every failure prints one
/// line to `errors`.
CompileStatus useReference(const CompileOptions &options, llvm::raw_ostream &errors,
                           llvm::function_ref<llvm::Error(LoadedModel &)> use);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_REFERENCE_H
