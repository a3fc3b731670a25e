//===- Compilation.h - one compilation ------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_COMPILATION_H
#define TENON_COMPILER_DRIVER_COMPILATION_H

#include "compiler/artifact/ArtifactFile.h"
#include "compiler/artifact/Plan.h"
#include "compiler/artifact/Weights.h"
#include "compiler/backend/llvm/Target.h"
#include "compiler/driver/Compile.h"
#include "compiler/driver/ErrorMeter.h"
#include "compiler/import/ImportModel.h"
#include "compiler/pipeline/Dump.h"
#include "compiler/pipeline/Pipeline.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Support/Timing.h"
#include "passes/paths/PathErrors.h"
#include "runtime/plan/Plan.h"
#include <nlohmann/json.hpp>

namespace tenon {

/// One way to run the launches of a target's module.
struct Variant {
  std::vector<SerializedPlan> plans;    ///< in the order in which the runtime tries them
  std::vector<std::string> kernelNames; ///< of all of them, each once
  nlohmann::json paths;                 ///< that kernels take, and those that they might have taken, for people
};

/// The same for all targets.
struct Planned {
  PlanOptions how;
  mlir::OwningOpRef<mlir::ModuleOp> modules; ///< one in it for each target, in their order
  std::vector<Variant> variants;             ///< likewise
  WeightSection weights;
};

/// What a choice of paths led to.
struct Choice {
  Planned planned;
  std::vector<std::string> code; ///< for each target
  ErrorReport error;
  double largestTaken = 0; ///< of the errors of operations that are not computed in their own way
};

/// One compilation: each step needs the one before.
class Compilation {
public:
  Compilation(const CompileOptions &options, llvm::raw_ostream &errors);
  CompileStatus run();

private:
  CompileStatus checkOptions();
  CompileStatus resolveTargets();
  CompileStatus checkTargets();
  CompileStatus load();
  CompileStatus build();
  CompileStatus loadFile();
  CompileStatus loadText(llvm::StringRef text);
  CompileStatus adopt(ImportedModel imported);
  CompileStatus lowerGraph();
  void splitTargets();
  CompileStatus lowerWithinTolerance();
  CompileStatus lower();
  CompileStatus lowerToLaunches();
  CompileStatus makePlan();
  CompileStatus tryPlan(const PlanOptions &how, Planned &made);
  CompileStatus findPlanWithin(uint64_t limit);
  CompileStatus serialize(Planned &made);
  CompileStatus serialize(mlir::ModuleOp module, Variant &variant, WeightSection &weights);
  CompileStatus readPlans(const Planned &made, std::vector<rt::Plan> &plans);
  CompileStatus lowerKernels();
  CompileStatus lowerCode();
  bool isErrorAsked() const { return options.measuresError || options.readInputs; }
  std::string getWhyUnmeasured() const;
  CompileStatus measureError();
  CompileStatus writeResult();
  CompileStatus writeIR();
  CompileStatus writeCode();
  CompileStatus writeGpuCode();
  CompileStatus lowerFor(const CpuTarget &target, mlir::ModuleOp own);
  CompileStatus writeArtifactFile();
  std::string getMeta() const;
  CompileStatus writeFile(llvm::function_ref<void(llvm::raw_ostream &)> write);
  ArtifactParts getParts() const;
  CompileStatus fail(CompileStatus status, const llvm::Twine &message);
  void warn(const llvm::Twine &message);
  CompileStatus getFailure() const {
    return sawUnsupported ? CompileStatus::unsupported
           : sawInvalid   ? CompileStatus::invalid
           : sawExhausted ? CompileStatus::resources
                          : CompileStatus::fault;
  }
  /// Where this phase is the one to be reproduced, writes `input` and sets isReproduced.
  CompileStatus beginPhase(llvm::StringRef phase, mlir::ModuleOp input, mlir::OpPassManager *pipeline = nullptr);
  CompileStatus runPasses(llvm::StringRef phase, mlir::ModuleOp module,
                          llvm::function_ref<void(mlir::OpPassManager &)> build);
  GraphOptions getGraphOptions() const;
  void report(mlir::Diagnostic &diagnostic);

  const CompileOptions &options;
  llvm::raw_ostream &errors;
  mlir::MLIRContext context;
  mlir::DefaultTimingManager timing;
  mlir::TimingScope times; ///< of the whole
  DumpSequence dumps;
  std::vector<CpuTarget> targets;
  uint64_t sourceHash = 0;
  std::string sourceName;
  mlir::OwningOpRef<mlir::ModuleOp> module;   ///< what all targets share, and each choice of paths begins with
  mlir::OwningOpRef<mlir::ModuleOp> variants; ///< a module for each target: launches
  mlir::OwningOpRef<mlir::ModuleOp> kernels;  ///< likewise: what they launch, a module each
  Choice chosen;
  double budget = 0; ///< largest error of an operation that is not computed in its own way
  std::shared_ptr<PathErrors> pathErrors = std::make_shared<PathErrors>();
  unsigned numChoices = 0;
  std::unique_ptr<ErrorMeter> meter; ///< null where no error can be measured
  bool sawUnsupported = false;       ///< a pass has said that the model asks for what there is not
  bool sawInvalid = false;           ///< something has said that no run can satisfy the model
  bool sawExhausted = false;         ///< something has said that the machine lacks what it needs
  bool isReproduced = false;         ///< the reproducer is written, and nothing is left to do
};

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_COMPILATION_H
