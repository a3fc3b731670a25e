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

/// Nothing is left to do: the reproducer of a phase has been written. It travels as an error does, so that no phase has
/// to ask whether to go on, and is none: takeEarlyStop() turns it into success.
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
  /// If not null: told the name of each phase as it begins. The supervisor of the process (Supervise.h) limits the time
  /// and memory of phases by it.
  std::function<void(llvm::StringRef)> onPhase;
  std::string reproduce; ///< if not empty: the phase to write a reproducer of, and to stop at
  /// Writes the file of a reproducer; not null if `reproduce` is set.
  std::function<llvm::Error(llvm::function_ref<void(llvm::raw_ostream &)>)> writeReproducer;
};

/// Runs passes, phase by phase: each is announced, timed, dumped, verified once at its end, and reproduced if that is
/// asked for.
class PhaseRunner {
public:
  PhaseRunner(mlir::MLIRContext &context, DiagnosticPrinter &diagnostics, PhaseOptions options);

  mlir::MLIRContext &getContext() { return context; }
  DiagnosticPrinter &getDiagnostics() { return diagnostics; }
  llvm::ArrayRef<DumpedFile> getDumps() const { return dumps.getFiles(); }

  /// Announces a phase that has no IR to begin with. The time until the next announcement counts as its.
  void announce(llvm::StringRef phase);
  /// Dumps the module that the first phase starts from.
  void dumpImport(mlir::ModuleOp module);
  /// Begins a phase that starts from `input`. Writes a reproducer and fails with EarlyStop if it is the phase to be
  /// reproduced; `pipeline`, which may be null, is what the reproducer runs.
  llvm::Error begin(llvm::StringRef phase, mlir::ModuleOp input, mlir::OpPassManager *pipeline = nullptr);
  /// Begins a phase and runs the passes that `build` adds on `module`. The category of a failure is that of the
  /// diagnostics; IR that is not valid afterwards is a fault.
  llvm::Error run(llvm::StringRef phase, mlir::ModuleOp module, llvm::function_ref<void(mlir::OpPassManager &)> build);
  /// Steps of later phases are counted. `counter` must outlive this object; null, as it is at first: none are.
  void setOptBisect(OptBisect *counter) { bisect = counter; }
  /// Phases that follow repeat earlier ones: from the second round on their names say which it is.
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

/// The outcome of all phases: success after an early stop, too.
llvm::Error takeEarlyStop(llvm::Error outcome);

} // namespace tenon

#endif // TENON_COMPILER_PIPELINE_PHASERUNNER_H
