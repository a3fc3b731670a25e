//===- Workspace.h - the steps of a debugging command, each in a process of its own ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_DEBUG_WORKSPACE_H
#define TENON_TOOLS_TENON_DEBUG_WORKSPACE_H

#include "compiler/driver/Compile.h"
#include "tools/tenon-run/Options.h"
#include "tools/tenon/debug/Capture.h"

namespace tenon::debug {

/// The outcome of a step: the message is what it would have printed, without the program's name.
struct StepEnd {
  CompileStatus status = CompileStatus::done;
  std::string message;

  explicit operator bool() const { return status == CompileStatus::done; }
};

/// A temporary folder for artifacts and captures. Each step runs in a separate process, so that a crash of the
/// compiler, or of the compiled code, is a regular outcome.
class Workspace {
public:
  static llvm::Expected<std::unique_ptr<Workspace>> create();
  ~Workspace();
  Workspace(const Workspace &) = delete;

  /// The path of something new.
  std::string makePath(llvm::StringRef name);
  /// The same as a folder that exists.
  std::string makeFolder(llvm::StringRef name);

  /// Compiles to an artifact.
  StepEnd compile(CompileOptions options, const std::string &artifact);
  /// Reads the inputs of an artifact from the options of tenon-run, generates all others as random numbers from their
  /// seed in small sizes, and captures them.
  StepEnd captureInputs(const run::Options &options, const std::string &folder);
  /// Runs an artifact and captures its outputs. Ends with `resources` if those would exceed `maxBytes`.
  StepEnd runArtifact(const run::Options &options, llvm::ArrayRef<CapturedTensor> inputs, const std::string &folder,
                      uint64_t maxBytes);
  /// The same with the model of the options, computed in f64.
  StepEnd runReference(const CompileOptions &options, llvm::ArrayRef<CapturedTensor> inputs, const std::string &folder,
                       uint64_t maxBytes);
  /// Calls `work` with a stream for its messages, in a child process; if that crashes, the message names `what`.
  StepEnd runStep(llvm::StringRef what, llvm::function_ref<CompileStatus(llvm::raw_ostream &errors)> work);

private:
  explicit Workspace(std::string folder) : folder(std::move(folder)) {}
  StepEnd finish(CompileStatus status, const std::string &messages);

  std::string folder;
  size_t count = 0;
};

/// Prints an error as a line, and is its category.
CompileStatus reportError(llvm::Error error, llvm::raw_ostream &errors);

/// The message if a run's outputs would exceed the limit.
inline constexpr char kTooLarge[] = "these values need too much memory to be kept";

} // namespace tenon::debug

#endif // TENON_TOOLS_TENON_DEBUG_WORKSPACE_H
