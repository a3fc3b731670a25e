//===- KernelBench.h - a kernel that is measured alone --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_KERNELBENCH_H
#define TENON_COMPILER_DRIVER_KERNELBENCH_H

#include "compiler/backend/Target.h"
#include "compiler/driver/LaunchClock.h"
#include "compiler/driver/LoadedModel.h"
#include "passes/kernel/schedules/ScheduleChooser.h"

namespace tenon {

/// How a model uses a kernel.
struct KernelUse {
  llvm::SmallVector<int64_t> sizes; ///< values of its symbols
  llvm::SmallVector<bool> isWeight; ///< for each operand
};

/// Measures a plan of one launch in this process. All operands are inputs, including weights. Each run uses other
/// copies of the weights, so that they are read from the last-level cache or DRAM, as in a model. Activations are
/// reused: in a model, the kernel before has just written them.
class KernelBench {
public:
  /// `kernel` is outlined, but not lowered (passes/fusion). `coldBytes` is the number of bytes of weights that are read
  /// before the same ones are read again.
  KernelBench(mlir::func::FuncOp kernel, const KernelUse &use, const Target &target, uint64_t coldBytes);
  ~KernelBench();

  /// Returns the schedules of the kernel; empty if it has no alternatives, or cannot be compiled alone.
  const std::vector<ScheduleOption> &getOptions() const { return options; }

  /// Returns the nanoseconds of the runs of an option in the last measurement.
  const std::vector<double> &getSamples(size_t place) { return samples[place]; }
  /// Threads that the kernel runs on.
  int64_t getThreads() const;

  /// Runs the options in turn for `seconds`. An option that cannot be compiled or run has no time.
  std::vector<std::optional<ScheduleTime>> measure(llvm::ArrayRef<size_t> places, double seconds);

private:
  struct Candidate;
  struct Buffers;
  llvm::Expected<std::unique_ptr<LoadedModel>> compile(std::shared_ptr<ScheduleChooser> chooser) const;
  Candidate *getCandidate(size_t place);
  bool makeBuffers(const KernelUse &use, uint64_t coldBytes, const LoadedModel &model);
  std::optional<double> run(Candidate &candidate);

  mlir::OwningOpRef<mlir::ModuleOp> module; ///< of the kernel, and a function that launches it
  std::vector<NamedRange> ranges;           ///< values of symbols
  const Target &target;
  std::vector<ScheduleOption> options;
  std::map<size_t, std::unique_ptr<Candidate>> candidates; ///< by place; null if it cannot be compiled
  std::map<size_t, std::vector<double>> samples;           ///< by place, the fastest first
  std::vector<std::unique_ptr<Buffers>> sets;              ///< of operands, which runs take in turn
  size_t next = 0;
};

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_KERNELBENCH_H
