//===- Pipeline.cpp - the phases of a compilation, in order ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/Pipeline.h"
#include "dialects/plan/Plan.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "passes/precision/QuantizeWeights.h"

using namespace mlir;
using namespace tenon;

/// Adds passes that do not depend on sizes, and run once for all programs.
static void buildAllSizesPipeline(OpPassManager &pm, const ConstantEvaluator &evaluate, int64_t maxGrowthBytes) {
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createInferShapes());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  functions.addPass(createDecompose());
  functions.addPass(createSimplify());
  functions.addPass(createLowerQuantizedMatmuls());
  functions.addPass(createKeepWeightsQuantized());
  functions.addPass(createChooseLayouts());
  // Some of the remaining transposes are the identity.
  functions.addPass(createSimplify());
  functions.addPass(createFlattenBatchDims());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  functions.addPass(createLowerToLookupTables());
  pm.addPass(createFoldConstants(evaluate, {maxGrowthBytes}));
}

/// Applies facts: replaces symbols by constants, and folds what depended on them.
static void buildFactsPipeline(OpPassManager &pm, const ConstantEvaluator &evaluate, int64_t maxGrowthBytes) {
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createApplyFacts());
  functions.addPass(createInferShapes());
  functions.addPass(createDecompose());
  functions.addPass(createSimplify());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  pm.addPass(createFoldConstants(evaluate, {maxGrowthBytes}));
  // Sizes that were computed from weights are constants now.
  OpPassManager &folded = pm.nest<func::FuncOp>();
  folded.addPass(createApplyFacts());
  folded.addPass(createInferShapes());
  folded.addPass(createCanonicalizerPass());
}

void tenon::buildStatePipeline(OpPassManager &pm, ArrayRef<std::string> pairs, int64_t capacity,
                               ArrayRef<int64_t> sequences) {
  // The relation of outputs to inputs is only visible after simplification.
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createInferShapes());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createInferShapes());
  PairStatesOptions options;
  options.pairs.assign(pairs.begin(), pairs.end());
  options.capacity = capacity;
  pm.addPass(createPairStates(options));
  if (sequences.empty())
    return;
  // Which sizes follow from the past of a sequence.
  OpPassManager &known = pm.nest<func::FuncOp>();
  known.addPass(createApplyFacts());
  known.addPass(createInferShapes());
  AddSequencesOptions copies;
  copies.counts.assign(sequences.begin(), sequences.end());
  pm.addPass(createAddSequences(copies));
}

void tenon::buildWeightsPipeline(OpPassManager &pm, ArrayRef<std::string> rules,
                                 std::shared_ptr<WeightPrecision> report,
                                 std::shared_ptr<const StoredMatrices> calibrated) {
  pm.nest<func::FuncOp>().addPass(createInferShapes());
  pm.addPass(createQuantizeWeights(rules, std::move(report), std::move(calibrated)));
}

void tenon::buildSharedPipeline(OpPassManager &pm, const ConstantEvaluator &evaluate, const GraphOptions &options) {
  pm.addPass(createVerifyImport());
  if (options.promotesToF32)
    pm.nest<func::FuncOp>().addPass(createPromoteToF32());
  buildAllSizesPipeline(pm, evaluate, options.maxGrowthBytes);
  pm.addPass(createCollectRequirements());
  SpecializeOptions specialize;
  specialize.programs.assign(options.programs.begin(), options.programs.end());
  pm.addPass(createSpecialize(specialize));
  buildFactsPipeline(pm, evaluate, options.maxGrowthBytes);
}

void tenon::buildLaunchPipeline(OpPassManager &pm, const GraphOptions &options) {
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createPromoteAccumulators());
  if (options.repeated) {
    functions.addPass(createRepeatForms({}, options.repeated));
    functions.addPass(createRepeatPaths(options.repeated));
  } else if (options.hasPaths) {
    ChooseFormsOptions forms;
    forms.budget = options.budget.each;
    functions.addPass(createChooseForms(std::move(forms), options.paths));
    functions.addPass(createChoosePaths({options.budget.each, options.budget.total}, options.paths));
  }
  // Paths that prepare the rows of a product do so for each product alone.
  functions.addPass(createCSEPass());
  functions.addPass(createPadConvolutions());
  functions.addPass(createPrepackWeights());
  functions.addPass(createHoistReshapes());
  if (options.repeated) {
    RepeatFormsOptions late;
    late.isLate = true;
    functions.addPass(createRepeatForms(std::move(late), options.repeated));
  } else if (options.hasPaths) {
    ChooseFormsOptions late;
    late.budget = options.budget.each;
    late.totalBudget = options.budget.total;
    late.isLate = true;
    functions.addPass(createChooseForms(std::move(late), options.paths));
  } else {
    functions.addPass(createFuseAttention());
  }
  functions.addPass(createTransposeMasks());
  functions.addPass(createPromoteAccumulators({/*all=*/true}));
  functions.addPass(createTransposeMatmulOperands());
  functions.addPass(createProveIndices());
  functions.addPass(createFuse());
  pm.addPass(createOutline());
  buildOutlinedPipeline(pm, options);
}

void tenon::buildOutlinedPipeline(OpPassManager &pm, const GraphOptions &options) {
  if (options.keepsResults)
    pm.nest<func::FuncOp>().addPass(createKeepResults());
  pm.addPass(createVerifyLaunches());
}

/// Adds passes that order launches and select in-place operands.
static void buildOrderPipeline(OpPassManager &pm, const PlanOptions &options) {
  OrderLaunchesOptions ordering;
  ordering.steps = options.orderingSteps;
  pm.nest<func::FuncOp>().addPass(createOrderLaunches(ordering));
  if (options.recomputed) {
    RematerializeOptions recomputing;
    recomputing.limit = options.recomputed;
    pm.addPass(createRematerialize(recomputing));
  }
  pm.addPass(createInPlaceOperands());
}

void tenon::buildProgramPipeline(OpPassManager &pm, const PlanOptions &options, Stage from) {
  if (from <= Stage::launches)
    buildOrderPipeline(pm, options);
  if (from <= Stage::inPlaceOperands)
    pm.addPass(createTenonToLinalg());
  if (from <= Stage::loweredKernels) {
    pm.addPass(createFormContractions());
    pm.addPass(options.schedules ? createTileKernels(options.schedules) : createTileKernels());
  }
  if (from <= Stage::tiledKernels) {
    pm.addPass(createTenonToPlan());
    if (options.mergesLaunches)
      pm.addPass(createMergeLaunches(options.pins));
  }
  pm.nest<plan::ProgramOp>().addPass(createCSEPass());
  pm.addPass(createVerifyPlan());
}

void tenon::buildPlacePipeline(OpPassManager &pm, const PlanOptions &options) {
  OpPassManager &plans = pm.nest<plan::ProgramOp>();
  plans.addPass(createAssignOffsets());
  if (options.weightBudget) {
    StreamWeightsOptions streaming;
    streaming.budget = *options.weightBudget;
    plans.addPass(createStreamWeights(streaming));
  }
  pm.addPass(createVerifyPlan({/*placed=*/true}));
}

void tenon::buildGraphPipeline(OpPassManager &pm, const ConstantEvaluator &evaluate, const GraphOptions &options) {
  buildSharedPipeline(pm, evaluate, options);
  buildLaunchPipeline(pm, options);
  buildProgramPipeline(pm);
  buildPlacePipeline(pm);
}

void tenon::buildReferencePipeline(OpPassManager &pm, const ConstantEvaluator &evaluate, bool roundsReducedPrecision) {
  pm.addPass(createWidenFloats({roundsReducedPrecision}));
  GraphOptions options;
  options.hasPaths = false;
  options.maxGrowthBytes = 0;
  buildSharedPipeline(pm, evaluate, options);
  pm.nest<func::FuncOp>().addPass(createSplitLargeWeights());
  buildLaunchPipeline(pm, options);
  PlanOptions plan;
  plan.orderingSteps = 0;
  buildProgramPipeline(pm, plan);
  buildPlacePipeline(pm, plan);
}

void tenon::buildBufferPipeline(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createBufferizeKernels());
  pm.addPass(createCSEPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createVerifyKernels());
}

void tenon::buildElementLoopPipeline(OpPassManager &pm) {
  pm.addPass(createConvertLinalgToLoopsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createPlaceAllocations());
  pm.addPass(createVerifyKernels({/*loops=*/true}));
}

void tenon::buildKernelPipeline(OpPassManager &pm) {
  pm.addPass(createTenonToLinalg());
  pm.addPass(createFormContractions());
  pm.addPass(createTileKernels());
  buildBufferPipeline(pm);
  buildElementLoopPipeline(pm);
}

void tenon::buildToLLVMPipeline(OpPassManager &pm, StringRef mathPrefix) {
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createMathToCalls({mathPrefix.str()}));
  pm.addPass(arith::createArithExpandOpsPass());
  pm.addPass(createSCFToControlFlowPass());
  // Only this pass has the patterns that turn masks into bit vectors.
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}
