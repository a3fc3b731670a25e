//===- Record.h - takes down what a page shows of a compilation ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_RECORD_H
#define TENON_COMPILER_DRIVER_RECORD_H

#include "compiler/report/CompileRecord.h"
#include "mlir/IR/BuiltinOps.h"
#include <chrono>

namespace tenon {

/// Returns the graph of an imported module's main function. Consecutive operations with the name of one node form a
/// node; weights are left out.
SourceGraph recordSource(mlir::ModuleOp imported);

/// Returns the nodes of each launch in the program for all sizes of a target's module.
std::vector<std::vector<std::string>> recordLaunches(mlir::ModuleOp target);

/// Records the IR of kernels: those in a target's module with launches, or those on buffers in `target`, each of which
/// has a module of its own.
using KernelIRs = std::map<std::string, CompileRecord::KernelIR>;
void recordTensorKernels(mlir::ModuleOp target, KernelIRs &kernels);
void recordBufferKernels(mlir::ModuleOp target, KernelIRs &kernels);

/// Measures the time of each phase, from its start to the start of the next one.
class PhaseClock {
public:
  void begin(llvm::StringRef phase);
  /// Returns the phases so far; the last one ends now.
  std::vector<CompileRecord::Phase> list() const;

private:
  using Clock = std::chrono::steady_clock;
  std::vector<std::pair<std::string, Clock::time_point>> beginnings;
};

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_RECORD_H
