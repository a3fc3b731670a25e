//===- Pipeline.h - the phases of a compilation, in order -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_PIPELINE_PIPELINE_H
#define TENON_COMPILER_PIPELINE_PIPELINE_H

#include "compiler/pipeline/Stage.h"
#include "passes/Passes.h"
#include "passes/cost/Machine.h"
#include "passes/kernel/schedules/ScheduleChooser.h"
#include "passes/paths/ErrorBudget.h"
#include "passes/paths/PathContext.h"
#include <map>
#include <optional>

namespace mlir {
class OpPassManager;
}

namespace tenon {

struct StoredMatrix;
using StoredMatrices = std::map<std::string, StoredMatrix>;

/// What decides how a graph is computed.
struct GraphOptions {
  std::vector<std::string> programs; ///< sizes for which there is a program of its own (`tenon-specialize`)
  bool hasPaths = true;              ///< false: every operation has its default implementation
  bool keepsResults = false;         ///< results of launches are outputs, too
  bool promotesToF32 = false;        ///< no machine has arithmetic on halves
  ErrorBudget budget{2.5e-6};        ///< of operations that have not their default implementations
  PathContext paths;                 ///< what the choice of implementations goes by
  /// If set, the paths that were chosen for another machine are taken (tenon-repeat-paths), and none is chosen.
  std::shared_ptr<const PathSelection> repeated;
  /// Upper bound for the bytes of folded constants beyond those of the weights.
  int64_t maxGrowthBytes = 1 << 20;
};

/// The trade-offs of a plan between speed and memory.
struct PlanOptions {
  int64_t orderingSteps = 4'000'000;          ///< of the search for an order of launches, some nanoseconds each
  int64_t recomputed = 0;                     ///< how many activations of a block may be computed again
  std::shared_ptr<ScheduleChooser> schedules; ///< of kernels; null: all are those of the policies
  std::optional<int64_t> weightBudget;        ///< bytes of weights beyond which they are let go of after their last use
  bool mergesLaunches = false;                ///< the target has code for merged kernels
  std::shared_ptr<PathPins> pins = {};        ///< which launches a user wants to be one, or not; may be null
};

/// Turns inputs and outputs of an imported module into states: `pairs` has "INPUT=OUTPUT" for each, and growing states
/// have `capacity` rows. Main gets a copy for runs of each number of `sequences`.
void buildStatePipeline(mlir::OpPassManager &pm, llvm::ArrayRef<std::string> pairs, int64_t capacity,
                        llvm::ArrayRef<int64_t> sequences);

/// Constant matrices of an imported module get the formats that `rules` ask for (passes/precision/WeightFormat.h);
/// `report` is told what that costs and saves. Those in `calibrated`, which may be null, are taken from there.
void buildWeightsPipeline(mlir::OpPassManager &pm, llvm::ArrayRef<std::string> rules,
                          std::shared_ptr<WeightPrecision> report, std::shared_ptr<const StoredMatrices> calibrated);

/// Lowers an imported module to the graph that all targets and choices share: normalized operations with chosen
/// layouts. `evaluate` folds constants; if it is null, they are computed at run time. Each of the `programs` becomes a
/// function of its own, before the one for all sizes.
void buildSharedPipeline(mlir::OpPassManager &pm, const ConstantEvaluator &evaluate, const GraphOptions &options = {});
/// Lowers the graph to launches of kernels that are not yet lowered, for the machine of the module.
void buildLaunchPipeline(mlir::OpPassManager &pm, const GraphOptions &options = {});
/// The last part of this pipeline, after kernels have been outlined.
void buildOutlinedPipeline(mlir::OpPassManager &pm, const GraphOptions &options = {});
/// Lowers launches to programs with tiled kernels on tensors. Activations have no offsets yet. Passes that have run
/// according to `from` are omitted.
void buildProgramPipeline(mlir::OpPassManager &pm, const PlanOptions &options = {}, Stage from = Stage::launches);
/// Assigns offsets to activations that have none.
void buildPlacePipeline(mlir::OpPassManager &pm, const PlanOptions &options = {});
/// All four of these.
void buildGraphPipeline(mlir::OpPassManager &pm, const ConstantEvaluator &evaluate, const GraphOptions &options = {});
/// Lowers an imported module to a program that computes the same in f64, and that compiles quickly: weights are
/// converted at run time, and nothing is optimized by search. With `roundsReducedPrecision`, values that are f16 or
/// bf16 in the model are rounded to that type.
void buildReferencePipeline(mlir::OpPassManager &pm, const ConstantEvaluator &evaluate,
                            bool roundsReducedPrecision = false);
/// Bufferizes tiled kernels; this part is common to all targets.
void buildBufferPipeline(mlir::OpPassManager &pm);
/// Lowers kernels in tenon operations to loops on buffers.
void buildKernelPipeline(mlir::OpPassManager &pm);
/// Lowers kernels on buffers to loops over single elements. Kernels that are loops already are unchanged.
void buildElementLoopPipeline(mlir::OpPassManager &pm);
/// Lowers kernels in loops on buffers, whose arguments the backend has lowered, to the LLVM dialect. `mathPrefix` is
/// prepended to the C names of mathematical functions in the backend's library.
void buildToLLVMPipeline(mlir::OpPassManager &pm, llvm::StringRef mathPrefix);

} // namespace tenon

#endif // TENON_COMPILER_PIPELINE_PIPELINE_H
