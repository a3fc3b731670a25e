//===- PhaseRunner.h - runs the phases of a compilation ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_PIPELINE_PHASERUNNER_H
#define TENON_COMPILER_PIPELINE_PHASERUNNER_H

#include "compiler/pipeline/Dump.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/Timing.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <functional>

namespace mlir {
class OpPassManager;
}

namespace tenon {

class DiagnosticPrinter;
class OptBisect;

/// A pseudo-error that stops the compilation after the reproducer of a phase was written, so that no phase has to test
/// for it: takeEarlyStop() turns it into success.
class EarlyStop : public llvm::ErrorInfo<EarlyStop> {
public:
  static char ID;
  std::error_code convertToErrorCode() const override { return {}; }
  void log(llvm::raw_ostream &os) const override { os << "nothing is left to do"; }
};

/// What is observed of phases while they run.
struct PhaseOptions {
  std::string sourceName;     ///< the model, for the titles of reproducers
  std::string dumpDir;        ///< if not empty: a folder for one numbered .mlir file a pass that changed something
  std::string dumpAfter;      ///< if not empty: the IR after this pass goes to standard error
  WeightLocator locateWeight; ///< where dumps can read weights again
  WeightLocator locateShown;  ///< where IR on standard error can
  bool timing = false;        ///< the time of phases and passes goes to standard error
  /// If not null, called with the name of each phase as it begins. The supervisor of the process (Supervise.h) uses it
  /// to limit the time and memory of phases.
  std::function<void(llvm::StringRef)> onPhase;
  std::string reproduce; ///< if not empty: the phase to write a reproducer of, and to stop at
  /// Writes the file of a reproducer; not null if `reproduce` is set.
  std::function<llvm::Error(llvm::function_ref<void(llvm::raw_ostream &)>)> writeReproducer;
};

/// Runs passes phase by phase: each phase is announced, timed, dumped, verified once at its end, and reproduced if this
/// is requested.
class PhaseRunner {
public:
  PhaseRunner(mlir::MLIRContext &context, DiagnosticPrinter &diagnostics, PhaseOptions options);

  mlir::MLIRContext &getContext() { return context; }
  DiagnosticPrinter &getDiagnostics() { return diagnostics; }
  llvm::ArrayRef<DumpedFile> getDumps() const { return dumps.getFiles(); }

  /// Announces a phase without initial IR. The time until the next announcement is attributed to it.
  void announce(llvm::StringRef phase);
  /// Dumps the module with which the first phase starts.
  void dumpImport(mlir::ModuleOp module);
  /// Begins a phase that starts from `input`. If it is the phase to be reproduced, writes a reproducer and fails with
  /// EarlyStop; the reproducer runs `pipeline`, which may be null.
  llvm::Error begin(llvm::StringRef phase, mlir::ModuleOp input, mlir::OpPassManager *pipeline = nullptr);
  /// Begins a phase and runs the passes that `build` adds on `module`. A failure has the category of the diagnostics;
  /// invalid IR afterwards is an internal error.
  llvm::Error run(llvm::StringRef phase, mlir::ModuleOp module, llvm::function_ref<void(mlir::OpPassManager &)> build);
  /// Runs passes whose result is only looked at to decide about a later phase: nothing of them is announced, dumped or
  /// counted. Fails like `run`.
  llvm::Error tryOut(mlir::ModuleOp module, llvm::function_ref<void(mlir::OpPassManager &)> build);
  /// Counts the steps of later phases with `counter`, which must outlive this object; null disables counting.
  void setOptBisect(OptBisect *counter) { bisect = counter; }
  /// Later phases repeat earlier ones: from the second round on, their names contain its number.
  void beginRound(unsigned number) { round = number; }

private:
  mlir::MLIRContext &context;
  DiagnosticPrinter &diagnostics;
  PhaseOptions options;
  mlir::DefaultTimingManager timing;
  mlir::TimingScope times;     ///< of the whole
  mlir::TimingScope phaseTime; ///< of the phase that was announced last
  DumpSequence dumps;
  unsigned round = 1;
  OptBisect *bisect = nullptr;
};

/// Returns the outcome of all phases, where an early stop counts as success.
llvm::Error takeEarlyStop(llvm::Error outcome);

} // namespace tenon

#endif // TENON_COMPILER_PIPELINE_PHASERUNNER_H
