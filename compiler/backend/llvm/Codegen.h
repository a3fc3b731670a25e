//===- Codegen.h - kernels in the LLVM dialect to machine code ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_LLVM_CODEGEN_H
#define TENON_COMPILER_BACKEND_LLVM_CODEGEN_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace mlir {
class DialectRegistry;
class ModuleOp;
} // namespace mlir

namespace tenon {

struct CpuTarget;

/// What to stop at.
enum class CodeKind { llvm, assembly, object };

/// How much time goes into code: `little` for what runs once or twice.
enum class CodeEffort { little, most };

/// Registers what the translation to LLVM IR needs of each dialect.
void registerTranslations(mlir::DialectRegistry &registry);

/// Tells LLVM how code is to be generated, for all that is compiled in this process until something is linked, which
/// forgets it. No other thread may compile meanwhile.
void setCodegenOptions();

/// Optimises the functions of one module and compiles them, with the parts of the math library that they
/// call. The code refers to no symbol outside but helpers of `compileSupport`. Modules may be compiled at
/// the same time by several threads. Fails with a diagnostic.
mlir::FailureOr<std::string> compileKernels(mlir::ModuleOp module, const CpuTarget &target, CodeKind kind,
                                            CodeEffort effort = CodeEffort::most);

/// An object with the functions that LLVM's code generator calls of its own accord (memcpy, conversions of
/// half precision where the CPU has none), as far as `objects` leave them undefined; empty where they leave
/// none. Fails where a symbol is left that the math library lacks, naming it in `error`.
mlir::FailureOr<std::string> compileSupport(llvm::ArrayRef<std::string> objects, const CpuTarget &target,
                                            std::string &error);

/// An object with the kernels of the library that are named. Fails on one that there is not, naming it in
/// `error`.
mlir::FailureOr<std::string> compileLibrary(llvm::ArrayRef<std::string> kernels, const CpuTarget &target,
                                            std::string &error);

/// A shared object without imports, in which the `entries` alone are visible; or one object for a linker.
enum class LinkKind { shared, relocatable };

/// Why objects could not be linked.
struct LinkError {
  std::string text;
  bool isOfResources = false; ///< the machine has no place for the linker's files
};

/// Links objects, which must be complete together: see compileSupport.
mlir::FailureOr<std::string> linkKernels(llvm::ArrayRef<std::string> objects, llvm::ArrayRef<std::string> entries,
                                         LinkKind kind, LinkError &error);

} // namespace tenon

#endif // TENON_COMPILER_BACKEND_LLVM_CODEGEN_H
