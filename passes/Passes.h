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

/// Computes the results of the function `main`, which has no arguments, of a module that it may change.
/// Null elements of the result mean failure of one, an empty result that nothing can be computed here.
using ConstantEvaluator = std::function<llvm::SmallVector<mlir::ElementsAttr>(mlir::ModuleOp)>;

/// `tenon-fold-constants` with something to compute with; without, it does nothing.
std::unique_ptr<mlir::Pass> createFoldConstants(ConstantEvaluator evaluate, FoldConstantsOptions options = {});

/// `tenon-quantize-weights` that tells what it has done; `report` may be null.
std::unique_ptr<mlir::Pass> createQuantizeWeights(QuantizeWeightsOptions options,
                                                  std::shared_ptr<WeightPrecision> report);

/// `tenon-choose-forms` that goes by what is known, and tells what it has chosen.
std::unique_ptr<mlir::Pass> createChooseForms(ChooseFormsOptions options, PathContext context);
/// Instead of it: sites take the forms that they took for the target that the module is named after.
std::unique_ptr<mlir::Pass> createRepeatForms(RepeatFormsOptions options,
                                              std::shared_ptr<const PathSelection> selection);

/// `tenon-choose-paths`, likewise.
std::unique_ptr<mlir::Pass> createChoosePaths(ChoosePathsOptions options, PathContext context);

/// Instead of it: operations take the paths that they took for the target that the module is named after. One that the
/// module's machine cannot compute gives way to the default implementation, whose result is perturbed by the path's
/// error.
std::unique_ptr<mlir::Pass> createRepeatPaths(std::shared_ptr<const PathSelection> selection);

} // namespace tenon

#endif // TENON_PASSES_PASSES_H
