//===- Progress.h - what a compilation says while and after it runs ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_PROGRESS_H
#define TENON_TOOLS_TENON_PROGRESS_H

#include "compiler/driver/Compile.h"

namespace tenon {

/// Shows the current phase of a compilation in a line on standard error, if that is a terminal.
class Progress {
public:
  /// Registers callbacks in `options`; this object must outlive the compilation.
  explicit Progress(CompileOptions &options);
  /// Removes the line.
  ~Progress();

private:
  void show(llvm::StringRef phase, double seconds, uint64_t weightBytes);

  std::string model, lastPhase;
  double lastSeconds = 0; ///< when that began
  uint64_t lastBytes = 0; ///< of weights, by then
  bool isTerminal, isShown = false;
};

/// What of a result the cache had.
struct ResultOrigin {
  bool isArtifactCached = false;
  KernelCounts kernels;
};

/// Prints the result of a compilation to standard output: one line, or one object with `json`.
void printResult(const CompileOptions &options, const ResultOrigin &origin, double seconds, bool json);

/// Notes on standard output that an artifact for only this machine may not run on others.
void noteHostTarget(const CompileOptions &options);

} // namespace tenon

#endif // TENON_TOOLS_TENON_PROGRESS_H
