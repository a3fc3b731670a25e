//===- Compile.h - a model to an artifact ---------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_COMPILE_H
#define TENON_COMPILER_DRIVER_COMPILE_H

#include "compiler/backend/Backend.h"
#include "compiler/driver/InputSets.h"
#include "compiler/errors/CompileError.h"
#include "compiler/import/ImportModel.h"
#include "compiler/pipeline/OptBisect.h"
#include "passes/paths/PathPins.h"
#include <functional>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace tenon {

/// Outputs that no backend generates: values of CompileOptions::emit besides the formats of backends.
inline constexpr char kArtifactOutput[] = "artifact";
inline constexpr char kIROutput[] = "mlir";
/// The target of the machine that compiles.
inline constexpr char kHostTarget[] = "host";

/// The file in a folder of dumps for weights that were computed.
inline constexpr char kDumpedWeights[] = "weights.bin";

/// What --tolerance is where nobody says.
inline constexpr double kDefaultTolerance = 1e-5;

class CacheExchange;

/// The numbers of kernels that were generated, and that were found in the cache.
struct KernelCounts {
  uint64_t generated = 0, taken = 0;
  uint64_t notes = 0; ///< warnings about the cache, which say nothing of the model
};

struct CompileOptions {
  std::string input; ///< an ONNX file, a Hugging Face folder, or IR as .mlir
  /// If set, creates the model or reports why it cannot; `input` is then only its name.
  std::function<mlir::OwningOpRef<mlir::ModuleOp>(mlir::MLIRContext *)> build;
  /// "-" writes text to standard output; if it is empty, only dumps are written.
  std::string output;
  /// The runtime picks the target that uses its processor best. If it is empty, the targets are those of the IR, or the
  /// compiling machine.
  std::vector<std::string> targets;
  std::string emit = kArtifactOutput; ///< kArtifactOutput, kIROutput or the name of a backend's format
  BackendSettings backendSettings;    ///< values of backends' options; those that are left out have their defaults
  ImportOptions import;
  uint64_t importMemoryLimit = 0;       ///< bytes that the import may take; 0: 4 * the model's files + 1 GB
  double importTimeLimit = 600;         ///< seconds; 0: no limit
  uint64_t weightBudget = 0;            ///< bytes of weights in memory, see SpilledWeights.h; 0: a part of what is free
  std::vector<std::string> programs;    ///< for which sizes there is a program of its own (SizeProfiles.h)
  std::vector<std::string> states;      ///< outputs that are inputs of the next run, as patterns (StatePairs.h)
  int64_t stateCapacity = 0;            ///< rows of the states among them that grow
  std::vector<std::string> weights;     ///< formats of constant matrices (passes/precision/WeightFormat.h)
  std::vector<std::string> calibration; ///< files and folders of inputs that integers among them are chosen for
  InputReader readCalibration;          ///< reads those inputs; set if there are any
  bool calibratesAtOnce = false;        ///< by inputs of the model's own weights, and not of those quantized before
  double tolerance = kDefaultTolerance; ///< largest error of an output
  bool needsTolerance = true;           ///< whether it is an error to exceed it, and not a warning
  bool measuresError = false;           ///< even where every operation has its default implementation
  bool skipsError = false;              ///< errors are not measured: algorithms are taken that need no measurement
  InputReader readInputs;               ///< to measure errors with, then in any case; where null, inputs are generated
  uint64_t memoryLimit = 0;             ///< bytes that a run may need, for all sizes that the ranges allow; 0: any
  uint64_t l2Bytes = 0,
           llcBytes = 0;     ///< of a core of the targets, and of what it shares; 0: those of the host, or usual ones
  std::string dumpDir;       ///< where not empty: one numbered .mlir file a pass that changed something
  std::string dumpAfter;     ///< where not empty: the IR after this pass goes to standard error
  std::string report;        ///< where not empty: the page about the artifact and its compilation goes to this file
  std::string depfile;       ///< where not empty: gets a rule of make, of the output and the files that were read
  std::string profiles;      ///< file with records of real runs, by which paths are chosen; none where it is empty
  bool needsProfiles = true; ///< whether it is an error that the file cannot be read, and not a warning
  std::string
      profilesLock; ///< file of the records that decide instead; it is written where there is none, or with --tune
  std::vector<PathPin> pins;       ///< paths that are demanded or ruled out
  double tuneSeconds = 0;          ///< how long models may run to measure paths that have no record; 0: not at all
  std::string tuneReport;          ///< where not empty: what measuring came to goes to this file, as JSON
  std::optional<StepLimit> bisect; ///< the optional steps that are taken; all of them where it is not set
  bool leavesWeights = false;      ///< weights that kernels read as they are stay in the files of the model
  bool keepsResults = false;       ///< results of launches become outputs, after those of the model
  bool timing = false;             ///< whether how long phases and passes take goes to standard error
  std::string cacheFolder;         ///< where kernels are looked up and kept (CacheStore.h); none where it is empty
  std::shared_ptr<CacheExchange> exchange; ///< remote caches behind that one; null where there are none
  /// If not null, called at the end with the number of cache hits and misses.
  std::function<void(const KernelCounts &)> onKernels;
  bool singleThread = false;
  /// If not null, called repeatedly, from any thread, with the bytes of weights that were computed or written so far.
  std::function<void(uint64_t)> onWeightBytes;
  std::function<void(llvm::StringRef)> onPhase; ///< told the name of each phase as it begins
  /// If not null, called repeatedly, only by compileSupervised, with the phase, the elapsed seconds and the bytes of
  /// weights that were computed or written so far.
  std::function<void(llvm::StringRef phase, double seconds, uint64_t weightBytes)> onProgress;
  std::string reproduce; ///< where not empty: `output` gets the IR that this phase starts from, and no more

  /// The targets where a model does not say any.
  std::vector<std::string> getTargets() const {
    return targets.empty() ? std::vector<std::string>{kHostTarget} : targets;
  }
  /// Returns the memory limit for the import of files with that many bytes.
  uint64_t getImportMemoryLimit(uint64_t inputBytes) const;
};

/// The phase before there is any IR, and the phase after the artifact is written.
inline constexpr char kImportPhase[] = "import", kReportPhase[] = "report";

/// Compiles one model. Every failure prints one line to `errors`.
CompileStatus compileModel(const CompileOptions &options, llvm::raw_ostream &errors);

/// Compiles in a child process, so that even a crash prints one line; it leaves a reproducer beside the output, or else
/// in the temporary folder. Only for single-threaded programs.
CompileStatus compileSupervised(const CompileOptions &options, llvm::raw_ostream &errors);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_COMPILE_H
