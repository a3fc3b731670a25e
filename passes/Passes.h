//===- Passes.h - every pass of Tenon -------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PASSES_H
#define TENON_PASSES_PASSES_H

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "passes/cost/Int8Dot.h"
#include <functional>
#include <limits>
#include <memory>

namespace mlir {
class ModuleOp;
namespace func {
class FuncOp;
}
} // namespace mlir

namespace tenon {
class PathPins;
class PathSelection;
struct PathContext;
struct WeightPrecision;

namespace plan {
class ProgramOp;
}

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

/// Evaluates the function `main`, which has no arguments, of a module that it may change, and returns its results. A
/// null element means that this result could not be computed; an empty vector means that nothing can be evaluated on
/// this host.
using ConstantEvaluator = std::function<llvm::SmallVector<mlir::ElementsAttr>(mlir::ModuleOp)>;

/// Creates `tenon-fold-constants` with an evaluator; the pass does nothing without one.
std::unique_ptr<mlir::Pass> createFoldConstants(ConstantEvaluator evaluate, FoldConstantsOptions options = {});

/// Creates `tenon-quantize-weights`, which records in `report` what it has quantized; `report` may be null.
std::unique_ptr<mlir::Pass> createQuantizeWeights(QuantizeWeightsOptions options,
                                                  std::shared_ptr<WeightPrecision> report);

/// Creates `tenon-choose-forms`, which uses the measurements in `context` and records its decisions there.
std::unique_ptr<mlir::Pass> createChooseForms(ChooseFormsOptions options, PathContext context);
/// Replaces `tenon-choose-forms`: sites take the forms that were chosen before for the target that the module is named
/// after.
std::unique_ptr<mlir::Pass> createRepeatForms(RepeatFormsOptions options,
                                              std::shared_ptr<const PathSelection> selection);

/// `tenon-choose-paths`, likewise.
std::unique_ptr<mlir::Pass> createChoosePaths(ChoosePathsOptions options, PathContext context);

/// Replaces the choice of paths: operations take the paths that were chosen before for the target that the module is
/// named after. If the module's machine cannot compute such a path, the default implementation computes the operation,
/// and its result is perturbed by the path's error.
std::unique_ptr<mlir::Pass> createRepeatPaths(std::shared_ptr<const PathSelection> selection);

/// Creates `plan-merge-launches`; `pins` may be null.
std::unique_ptr<mlir::Pass> createMergeLaunches(std::shared_ptr<PathPins> pins);

} // namespace tenon

#endif // TENON_PASSES_PASSES_H
