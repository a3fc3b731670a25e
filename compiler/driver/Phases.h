//===- Phases.h - what each phase of a compilation results in ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_PHASES_H
#define TENON_COMPILER_DRIVER_PHASES_H

#include "compiler/artifact/ArtifactFile.h"
#include "compiler/artifact/Plan.h"
#include "compiler/artifact/Weights.h"
#include "compiler/backend/registry/Backends.h"
#include "compiler/driver/Compile.h"
#include "compiler/driver/KernelCache.h"
#include "compiler/driver/RecordedTimes.h"
#include "compiler/driver/TuningBudget.h"
#include "compiler/pipeline/PhaseRunner.h"
#include "compiler/pipeline/Pipeline.h"
#include "compiler/pipeline/Stage.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/paths/ErrorBudget.h"
#include "passes/paths/PathErrors.h"
#include "passes/paths/PathPins.h"
#include "passes/paths/PathSelection.h"
#include "passes/paths/PathSpace.h"
#include "passes/precision/WeightPrecision.h"
#include <nlohmann/json.hpp>

/// A compilation is a chain of phases: each result is a struct, and a function makes it from the ones before.
///
///   Imported -> Graph -> Launches -> Plan -> Kernels -> Code -> artifact
///
/// IR that an earlier compilation has printed enters this chain at the stage that it has reached.
///
/// From Launches on there is a module, a variant or a section for each target, in the order of Setup::targets; the
/// targets are processed in parallel. A function fails with the category of the exit code, or with EarlyStop
/// (PhaseRunner.h).
namespace tenon::phases {

/// Returns a registry of all dialects that a compilation may use. IR reads its weights from other files, which are
/// reported to `options`.
mlir::DialectRegistry makeRegistry(const CompileOptions &options, const BackendRegistry &backends);

/// The decisions that are made before the first phase, and hold for all phases.
struct Setup {
  const CompileOptions &options;
  std::vector<Target> targets; ///< of the artifact, in the order in which the runtime looks at them
  const Backend *backend;      ///< generates the code
  std::string format;          ///< of the code, one of the backend's; empty if the output is IR
  bool isFolder = false;       ///< the output is a folder of files
  bool makesArtifact = false;  ///< the output is an artifact, which holds code of all targets
  BackendSettings settings;
  std::shared_ptr<KernelCache> kernels;                 ///< null: each kernel is generated
  std::shared_ptr<ScheduleChooser> schedules = nullptr; ///< null: those of the policies
  bool mergesLaunches = true;                           ///< false where each kernel's launches are measured
  std::shared_ptr<TuningBudget> tuning = nullptr;       ///< null: nothing is measured
};

/// Checks the options and resolves the names of targets and formats.
llvm::Expected<Setup> setUp(const CompileOptions &options, const BackendRegistry &backends);

/// Looks up targets by name, and takes the backend from them if the output is an artifact or IR.
llvm::Error resolveTargets(llvm::ArrayRef<std::string> names, Setup &setup, const BackendRegistry &backends);
/// Clones the module for each target, and attaches the target's machine.
mlir::OwningOpRef<mlir::ModuleOp> splitTargets(mlir::ModuleOp module, llvm::ArrayRef<Target> targets);

/// The model as it was imported, or as an earlier compilation has lowered it.
struct Imported {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< from Stage::launches on it holds a module for each target
  uint64_t sourceHash = 0;                  ///< XXH3 of the model file
  Stage stage = Stage::model;
  mlir::OwningOpRef<mlir::ModuleOp> kernels = {}; ///< of Stage::buffers, as Kernels::modules
  std::shared_ptr<WeightPrecision> weights = {};  ///< null where --weights asked for no formats
  /// The model with its original weights, if they were replaced and the error of that is to be measured.
  mlir::OwningOpRef<mlir::ModuleOp> original = {};
};
llvm::Expected<Imported> importModel(const Setup &setup, PhaseRunner &runner);
/// Calls `use` with the setup for the options, in a context of its own. Every failure prints one line to `errors`.
CompileStatus withSetup(const CompileOptions &options, llvm::raw_ostream &errors,
                        llvm::function_ref<llvm::Error(Setup &, PhaseRunner &)> use);
/// Imports the model of `options`, and passes it to `use`, in the same way.
CompileStatus useImported(const CompileOptions &options, llvm::raw_ostream &errors,
                          llvm::function_ref<llvm::Error(Imported &)> use);
/// Splits a parsed module that is past Stage::model into the fields of Imported. `input` is the name in messages.
llvm::Error splitIR(Imported &imported, const std::string &input);
/// Takes the targets from such IR, or selects the requested ones among them. Rejects options that request other
/// targets, or that concern earlier decisions.
llvm::Error takeTargets(Imported &imported, Setup &setup, const BackendRegistry &backends);

/// The implementations of operations that may be chosen, and the results of earlier choices.
struct PathChoice {
  unsigned number = 1; ///< from 1
  ErrorBudget budget;  ///< of operations that have not their default implementations
  std::shared_ptr<PathErrors> errors = std::make_shared<PathErrors>();
  std::shared_ptr<RecordedTimes> times;               ///< null if records of real runs do not count
  std::shared_ptr<PathPins> pins;                     ///< what a user demands or rules out; may be null
  std::shared_ptr<const Sensitivities> sensitivities; ///< null if no record says so
  std::shared_ptr<PathSelection> selection = std::make_shared<PathSelection>(); ///< what was chosen last
  std::shared_ptr<PathSpace> space; ///< gets all that may be chosen; may be null
  std::shared_ptr<PathSpace> forms; ///< gets all forms of the graph; may be null
};

/// The simplified graph, which all targets share and with which each choice of paths begins.
struct Graph {
  mlir::OwningOpRef<mlir::ModuleOp> module;
};
llvm::Expected<Graph> simplifyGraph(Imported imported, const Setup &setup, const PathChoice &choice,
                                    PhaseRunner &runner);

/// Launches of kernels that are not lowered yet.
struct Launches {
  mlir::OwningOpRef<mlir::ModuleOp> modules; ///< holds a module for each target
  double largestTaken = 0;                   ///< the largest error of the implementations that are not the default ones
  double totalTaken = 0;                     ///< the root of the sum of their squares
  Stage stage = Stage::launches;             ///< a later one, of IR that is compiled on
};
llvm::Expected<Launches> makeLaunches(const Graph &graph, const Setup &setup, const PathChoice &choice,
                                      PhaseRunner &runner);
/// Makes the same choices in `choice.selection`, without launches and unobserved.
llvm::Error tryChoice(const Graph &graph, const Setup &setup, const PathChoice &choice, PhaseRunner &runner);
/// Resumes from IR with outlined kernels, or from a later stage.
llvm::Expected<Launches> resumeLaunches(Imported imported, const Setup &setup, PhaseRunner &runner);

/// The programs of one target.
struct Variant {
  std::vector<SerializedPlan> plans;    ///< in the order in which the runtime tries them
  std::vector<std::string> kernelNames; ///< of all plans, each once
  nlohmann::json paths;                 ///< chosen implementations and their alternatives, for people
  /// For each kernel that is only needed for the path of a region, that region.
  std::map<std::string, std::string> served;
};

/// Launches in their final order, with the offset of every activation, and tiled kernels.
struct Plan {
  PlanOptions how;
  mlir::OwningOpRef<mlir::ModuleOp> modules; ///< holds a module for each target
  std::vector<Variant> variants;             ///< one for each target
  WeightSection weights;                     ///< of all targets
};
/// Returns the first plan that keeps the memory limit, if there is one. From Stage::inPlaceOperands on there is only
/// one plan.
llvm::Expected<Plan> makePlan(Launches launches, const Setup &setup, PhaseRunner &runner);
/// Serializes the plans of modules in which every activation has an offset. `kernels` are their kernels; null if these
/// are in the same modules.
llvm::Expected<Plan> serializePlans(mlir::OwningOpRef<mlir::ModuleOp> modules, const PlanOptions &how,
                                    mlir::ModuleOp kernels, const Setup &setup, PhaseRunner &runner);

/// Kernels on buffers.
struct Kernels {
  mlir::OwningOpRef<mlir::ModuleOp> modules; ///< holds for each target a module that holds one for each kernel
  std::vector<KernelObjects> objects;        ///< for each target, if there is a cache: the modules of these are empty
};
/// Takes the kernels out of the plan's modules.
llvm::Expected<Kernels> lowerKernels(Plan &plan, const Setup &setup, PhaseRunner &runner);
/// Moves each kernel of `module` into a module of its own, named after it, inside of the result: passes and
/// code generation then work on all kernels at the same time. A merged kernel's module has copies of its parts.
mlir::OwningOpRef<mlir::ModuleOp> isolateKernels(mlir::ModuleOp module);

/// What is loaded on devices.
struct Code {
  std::vector<std::string> sections; ///< one for each target
};
llvm::Expected<Code> generateCode(Kernels &kernels, const Plan &plan, const Setup &setup, PhaseRunner &runner);

/// Assembles the sections of an artifact, without its metadata. They refer to `plan`.
ArtifactParts assemble(const Plan &plan, const Code &code, const Setup &setup, uint64_t sourceHash);

/// Writes IR to the output.
llvm::Error writeIR(const Plan &plan, const Kernels &kernels, const Setup &setup);
/// Generates code for the first target and writes it to the output.
llvm::Error writeCode(Kernels &kernels, const Plan &plan, const Setup &setup, PhaseRunner &runner);
/// Writes one file.
llvm::Error writeFile(const std::string &path, llvm::function_ref<void(llvm::raw_ostream &)> write);

} // namespace tenon::phases

#endif // TENON_COMPILER_DRIVER_PHASES_H
