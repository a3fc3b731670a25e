//===- Backend.h - what generates code for a kind of device --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_BACKEND_H
#define TENON_COMPILER_BACKEND_BACKEND_H

#include "compiler/backend/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
class OpPassManager;
} // namespace mlir

namespace tenon {

/// The features of kernels that a backend supports. Which micro-kernels apply depends on the target: Target::machine.
struct Capabilities {
  /// Non-default paths (tenon-choose-paths) can be lowered.
  bool hasPaths = false;
  /// Kernels that are written in C (text, numbers) are available.
  bool hasKernelLibrary = false;
  /// The threads of the device that compute one tile together. With one, the body of a kernel needs no barrier.
  unsigned threadsPerTile = 1;
  /// Kernels are compiled to independent objects: CodeRequest::objects is used.
  bool hasKernelObjects = false;
  /// Several kernels may be merged into one launch (kernel.merged).
  bool hasMergedKernels = false;
  /// The format of code in an artifact; empty if the runtime has no device that loads the code.
  std::string artifactFormat;
};

/// A form of generated code, and a value of --emit.
struct CodeFormat {
  std::string name;      ///< "asm"
  std::string suffix;    ///< of the default output file; empty for text, which goes to standard output by default
  bool isFolder = false; ///< each kernel has a file of its own
};

/// An option of the command line that concerns one backend.
struct BackendOption {
  std::string name;        ///< "--chip"
  std::string description; ///< for --help
  std::string value;       ///< the default
};

/// The values of the backends' options, by name.
using BackendSettings = std::map<std::string, std::string>;

/// How much time code generation may take; `little` is for code that runs once or twice.
enum class CodeEffort { little, most };

/// Runs the passes that `build` adds on `module`, as phase `phase` of the compilation.
using PassRunner = llvm::function_ref<llvm::Error(llvm::StringRef phase, mlir::ModuleOp module,
                                                  llvm::function_ref<void(mlir::OpPassManager &)> build)>;

/// Objects of kernels that were generated before, and a callback for new ones.
struct KernelObjects {
  /// Known objects by kernel. The module of such a kernel is empty, and only determines its position.
  std::map<std::string, std::string, std::less<>> known;
  /// Called with each generated object, in the order of the modules.
  std::function<void(llvm::StringRef kernel, llvm::StringRef object)> onObject;
};

/// What is to be generated.
struct CodeRequest {
  const Target &target;
  llvm::StringRef format;              ///< the name of one of the backend's formats
  llvm::ArrayRef<std::string> entries; ///< the kernels that the plan launches, in the order of its table
  const BackendSettings &settings;     ///< holds a value of each option of the backend
  PassRunner runPasses;
  CodeEffort effort = CodeEffort::most;
  KernelObjects *objects = nullptr; ///< null: each kernel is generated
};

/// A part of the output.
struct CodeFile {
  std::string name; ///< in the output folder; empty where the output is one file
  std::string bytes;
};

/// Generates code for one kind of device. Backends are stateless and thread-safe.
class Backend {
public:
  virtual ~Backend() = default;

  virtual llvm::StringRef getName() const = 0;
  virtual const Capabilities &getCapabilities() const = 0;
  /// In the order in which --help lists them.
  virtual llvm::ArrayRef<CodeFormat> getFormats() const = 0;
  virtual llvm::ArrayRef<BackendOption> getOptions() const { return {}; }

  /// Returns the target of that name; none if the backend has no such target.
  virtual std::optional<Target> getTarget(llvm::StringRef name) const { return std::nullopt; }
  /// Returns the target that kernels of a format are scheduled for if no target of --target belongs to the backend. It
  /// follows from the settings alone, so that no choice depends on the compiling machine. None if formats have the
  /// machine of their targets.
  virtual std::optional<Target> getFormatTarget(const BackendSettings &settings) const { return std::nullopt; }
  /// The names that getTarget takes, for messages.
  virtual std::vector<std::string> getTargetNames() const { return {}; }
  /// Unifies the layouts of the weights that the targets of an artifact share.
  virtual void unifyLayouts(llvm::MutableArrayRef<Target> targets) const {}

  /// Registers the dialects and translations that code generation needs, before the context is created.
  virtual void registerDialects(mlir::DialectRegistry &registry) const = 0;
  /// Adds the passes from one kernel on buffers to the dialect that the backend translates.
  virtual void buildPipeline(mlir::OpPassManager &kernel, const Target &target) const = 0;

  /// Generates the code of all kernels. `kernels` has a module for each kernel, on buffers; its content afterwards is
  /// unspecified.
  virtual llvm::Expected<std::vector<CodeFile>> emit(mlir::ModuleOp kernels, const CodeRequest &request) const = 0;
};

/// Fails if the plan launches a kernel that is not in `kernels`, for a backend without a kernel library.
llvm::Error checkNoLibraryKernels(mlir::ModuleOp kernels, llvm::ArrayRef<std::string> entries);

} // namespace tenon

#endif // TENON_COMPILER_BACKEND_BACKEND_H
