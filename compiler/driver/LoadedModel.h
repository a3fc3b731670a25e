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

/// An artifact in memory, and a session on it.
class LoadedModel {
public:
  /// Fails if the runtime rejects the artifact. With `mayBeAlone`, one thread suffices if the system has no more, at
  /// lower speed.
  static llvm::Expected<std::unique_ptr<LoadedModel>> load(const ArtifactParts &parts, bool mayBeAlone = false);

  /// Binds the last inputs, which are bytes, for all runs. Fails if the runtime rejects one.
  llvm::Error bindLast(llvm::ArrayRef<llvm::ArrayRef<char>> tensors);

  /// Binds the inputs, or only their shapes, for a run of the sequences in slots from `firstSlot` on. Fails if the
  /// runtime rejects one.
  llvm::Error bind(InputSet &set, bool withData, uint32_t firstSlot = 0) const;
  /// Returns the memory of a run with these inputs; none if the runtime rejects them.
  std::optional<tenon_memory> measureMemory(InputSet &shapes) const;
  /// Returns the bytes of that which depend on the inputs: all but weights.
  std::optional<uint64_t> measureActivations(InputSet &shapes) const;
  /// Binds the inputs and runs the model on them. Returns true if the runtime does both.
  bool canRun(InputSet &set) const;
  /// Runs the model on the bound inputs. States are reset to those of a new session, so that each run computes the
  /// same.
  tenon_status run(tenon_error *error) const;
  /// Runs the model on the bound inputs, with the states of the run before.
  tenon_status goOn(tenon_error *error) const { return tenon_session_run(session.get(), error); }
  /// Returns the runtime's message without its name for an artifact in memory.
  static std::string getText(const tenon_error &error);

  const tenon_artifact *getArtifact() const { return artifact.get(); }
  tenon_session *getSession() const { return session.get(); }
  const tenon_artifact_info &getInfo() const { return info; }

private:
  tenon_status resetStates(tenon_error *error) const;

  template <auto release> struct Release {
    template <typename T> void operator()(T *handle) const { release(handle); }
  };
  // Released in the reverse order.
  std::unique_ptr<char, Release<std::free>> bytes;
  std::unique_ptr<tenon_artifact, Release<tenon_artifact_release>> artifact;
  std::unique_ptr<tenon_session, Release<tenon_session_release>> session;
  tenon_artifact_info info{};
  uint32_t numSlots = 1; ///< one for each sequence of a run
};

/// Loads the programs of a module without kernels, which `code` has, for a target. Large weights stay where the module
/// has them, and are bound as additional inputs. Fails if the runtime rejects something.
llvm::Expected<std::unique_ptr<LoadedModel>> loadBorrowing(mlir::ModuleOp module, const Target &target,
                                                           std::string code);

/// Compiles the module, which it modifies, for a target that this machine supports: `build` adds the passes that create
/// programs. With `borrowsWeights`, there is one program, whose large weights are bound as additional inputs to the
/// module's own memory. Fails if something cannot be compiled; the message is the first diagnostic, if any. `kernels`,
/// if not null, may have some kernels.
llvm::Expected<std::unique_ptr<LoadedModel>>
compileInMemory(mlir::ModuleOp module, llvm::function_ref<void(mlir::OpPassManager &)> build, const Target &target,
                CodeEffort effort, bool borrowsWeights = true, KernelCache *kernels = nullptr);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_LOADEDMODEL_H
