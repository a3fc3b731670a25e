//===- Kernels.h - kernels to code sections -------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_KERNELS_H
#define TENON_COMPILER_DRIVER_KERNELS_H

#include "compiler/backend/llvm/Codegen.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>
#include <vector>

namespace tenon {

struct CpuTarget;

/// Moves each kernel of `module` into a module of its own, named after it, inside of the result: passes and
/// code generation then work on all kernels at the same time.
mlir::OwningOpRef<mlir::ModuleOp> isolateKernels(mlir::ModuleOp module);

/// Compiles every kernel, on all threads of the context; one string a kernel, in order. Fails with
/// diagnostics.
mlir::FailureOr<std::vector<std::string>> compileEach(mlir::ModuleOp kernels, const CpuTarget &target, CodeKind kind,
                                                      CodeEffort effort = CodeEffort::most);

/// One object of all kernels, whose entry points are `names`.
mlir::FailureOr<std::string> buildObject(mlir::ModuleOp kernels, const CpuTarget &target,
                                         const std::vector<std::string> &names, LinkKind kind,
                                         CodeEffort effort = CodeEffort::most);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_KERNELS_H
