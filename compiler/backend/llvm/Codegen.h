//===- Codegen.h - kernels in the LLVM dialect to machine code ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_LLVM_CODEGEN_H
#define TENON_COMPILER_BACKEND_LLVM_CODEGEN_H

#include "compiler/backend/Backend.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <string>

namespace tenon {

/// What to stop at.
enum class CodeKind { llvm, assembly, object };

/// Registers what the translation to LLVM IR needs of each dialect.
void registerTranslations(mlir::DialectRegistry &registry);

/// Tells LLVM how code is to be generated, for all that is compiled in this process until something is linked, which
/// forgets it. No other thread may compile meanwhile.
void setCodegenOptions();

/// The name that the entry point of a kernel's module has in its object: an object does not depend on what the kernel
/// is called, or as how many others came before it.
inline constexpr char kObjectEntry[] = "kernel";

/// Optimises the functions of one module and compiles them, with the parts of the math library that they
/// call. In an object, the only entry point of a module is called kObjectEntry. The code refers to no symbol outside
/// but helpers of `compileSupport`. Modules may be compiled at the same time by several threads.
llvm::Expected<std::string> compileKernels(mlir::ModuleOp module, const Target &target, CodeKind kind,
                                           CodeEffort effort = CodeEffort::most);

/// The object with another name for the entry point kObjectEntry and its facts. Fails on bytes that are no object.
llvm::Expected<std::string> nameEntry(llvm::StringRef object, llvm::StringRef name);

/// An object with the functions that LLVM's code generator calls of its own accord (memcpy, conversions of
/// half precision where the CPU has none), as far as `objects` leave them undefined; empty where they leave
/// none. Fails where a symbol is left that the math library lacks, and names it.
llvm::Expected<std::string> compileSupport(llvm::ArrayRef<std::string> objects, const Target &target);

/// An object with the kernels of the library that are named. Fails on one that the library lacks, and names it.
llvm::Expected<std::string> compileLibrary(llvm::ArrayRef<std::string> kernels, const Target &target);

/// A shared object without imports, in which the `entries` alone are visible; or one object for a linker.
enum class LinkKind { shared, relocatable };

/// Links objects, which must be complete together: see compileSupport. An error of category `resources` concerns the
/// linker's files.
llvm::Expected<std::string> linkKernels(llvm::ArrayRef<std::string> objects, llvm::ArrayRef<std::string> entries,
                                        LinkKind kind);

} // namespace tenon

#endif // TENON_COMPILER_BACKEND_LLVM_CODEGEN_H
