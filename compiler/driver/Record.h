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

/// The main function of an imported module. Operations in a row that have the name of one node are one; weights are
/// left out.
SourceGraph recordSource(mlir::ModuleOp imported);

/// The nodes of each launch in the program for all sizes of a target's module.
std::vector<std::vector<std::string>> recordLaunches(mlir::ModuleOp target);

/// Takes down the IR of kernels: those in a target's module with launches, or those that have a module of their own
/// each in `target`, on buffers.
using KernelIRs = std::map<std::string, CompileRecord::KernelIR>;
void recordTensorKernels(mlir::ModuleOp target, KernelIRs &kernels);
void recordBufferKernels(mlir::ModuleOp target, KernelIRs &kernels);

/// Measures how long phases take, each until the next one begins.
class PhaseClock {
public:
  void begin(llvm::StringRef phase);
  /// The phases so far; the last one has taken what it has until now.
  std::vector<CompileRecord::Phase> list() const;

private:
  using Clock = std::chrono::steady_clock;
  std::vector<std::pair<std::string, Clock::time_point>> beginnings;
};

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_RECORD_H
