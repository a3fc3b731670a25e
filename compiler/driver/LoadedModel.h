//===- LoadedModel.h - a compiled model, ready to run in this process -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_LOADEDMODEL_H
#define TENON_COMPILER_DRIVER_LOADEDMODEL_H

#include "compiler/backend/Backend.h"
#include "compiler/driver/InputSets.h"
#include "mlir/IR/BuiltinOps.h"
#include "tenon/runtime.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdlib>
#include <memory>
#include <string>

namespace mlir {
class OpPassManager;
}

namespace tenon {

struct ArtifactParts;
class KernelCache;

/// An artifact that is in memory alone, and a session on it.
class LoadedModel {
public:
  /// Fails where the runtime refuses it. With `mayBeAlone`, one thread is enough where the system has no more of them,
  /// which takes longer.
  static llvm::Expected<std::unique_ptr<LoadedModel>> load(const ArtifactParts &parts, bool mayBeAlone = false);

  /// Binds the last inputs, which are of bytes, for all runs. Fails where the runtime refuses one.
  llvm::Error bindLast(llvm::ArrayRef<llvm::ArrayRef<char>> tensors);

  /// Binds the inputs, or their shapes alone. Returns what the runtime says against them, empty if nothing.
  std::string bind(InputSet &set, bool withData) const;
  /// What a run with such inputs needs; nothing where the runtime refuses them.
  std::optional<uint64_t> measureMemory(InputSet &shapes) const;
  /// Runs the model on what is bound. States are what they are in a new session, so that each run computes the same.
  tenon_status run(tenon_error *error) const;
  /// What the runtime said, without its name for an artifact that lies in memory.
  static std::string getText(const tenon_error &error);

  const tenon_artifact *getArtifact() const { return artifact.get(); }
  tenon_session *getSession() const { return session.get(); }
  const tenon_artifact_info &getInfo() const { return info; }

private:
  template <auto release> struct Release {
    template <typename T> void operator()(T *handle) const { release(handle); }
  };
  // Released in the reverse order.
  std::unique_ptr<char, Release<std::free>> bytes;
  std::unique_ptr<tenon_artifact, Release<tenon_artifact_release>> artifact;
  std::unique_ptr<tenon_session, Release<tenon_session_release>> session;
  tenon_artifact_info info{};
};

/// Compiles the module, which it changes, for a target that runs here: `build` makes programs of it. Where
/// `borrowsWeights`, there is one program, and large weights are read where the module has them, as inputs after its
/// own that are bound. Fails where something in it cannot be compiled; the message is the first diagnostic, if there
/// was any. `kernels` has some already, if it is not null.
llvm::Expected<std::unique_ptr<LoadedModel>>
compileInMemory(mlir::ModuleOp module, llvm::function_ref<void(mlir::OpPassManager &)> build, const Target &target,
                CodeEffort effort, bool borrowsWeights = true, KernelCache *kernels = nullptr);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_LOADEDMODEL_H
