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

/// Registers the translations to LLVM IR of each dialect.
void registerTranslations(mlir::DialectRegistry &registry);

/// Sets LLVM's global code generation options, for everything that this process compiles until it links, which resets
/// them. No other thread may compile meanwhile.
void setCodegenOptions();

/// The name of the entry point in the object of a kernel's module: the object does not depend on the name of the kernel
/// or on its number.
inline constexpr char kObjectEntry[] = "kernel";

/// Optimizes the functions of one module and compiles them, with the math library functions that they call. In an
/// object, the only entry point of a module is called kObjectEntry. The code has no undefined symbols except the
/// helpers of `compileSupport`. Thread-safe.
llvm::Expected<std::string> compileKernels(mlir::ModuleOp module, const Target &target, CodeKind kind,
                                           CodeEffort effort = CodeEffort::most);

/// Returns the object with kObjectEntry and its facts renamed. Fails on bytes that are not an object.
llvm::Expected<std::string> nameEntry(llvm::StringRef object, llvm::StringRef name);

/// Returns an object with the functions that LLVM's code generator calls implicitly (memcpy, conversions of f16 where
/// the CPU has none) and `objects` leave undefined; empty if there are none. Fails with the name of a symbol that the
/// math library lacks.
llvm::Expected<std::string> compileSupport(llvm::ArrayRef<std::string> objects, const Target &target);

/// Returns an object with the named kernels of the library. Fails with the name of one that the library lacks.
llvm::Expected<std::string> compileLibrary(llvm::ArrayRef<std::string> kernels, const Target &target);

/// `shared` is a shared object without imports that exports only the `entries`; `relocatable` is one object for a
/// linker.
enum class LinkKind { shared, relocatable };

/// Links objects, which together must be complete: see compileSupport. An error of category `resources` concerns the
/// linker's temporary files.
llvm::Expected<std::string> linkKernels(llvm::ArrayRef<std::string> objects, llvm::ArrayRef<std::string> entries,
                                        LinkKind kind);

} // namespace tenon

#endif // TENON_COMPILER_BACKEND_LLVM_CODEGEN_H
