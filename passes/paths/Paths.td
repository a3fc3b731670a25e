//===- Paths.td - passes of the choice of paths ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_TD
#define TENON_PASSES_PATHS_TD

include "mlir/Pass/PassBase.td"

def ChoosePaths : Pass<"tenon-choose-paths", "::mlir::func::FuncOp"> {
  let summary = "choose the fastest implementation of each operation within the error budget";
  let description = [{
    A path is an implementation of an operation (passes/paths/Path.h). It tells whether it
    applies, and estimates its cycles and its error on the machine of `tenon.machine`. Each
    operation takes the fastest path whose error is within the budget; where all together
    exceed theirs, those that save the most for their error do. A path is considered only if
    all operations together save a share of the cycles by it. What is left of the budget goes
    to activations that paths round to bf16, and that elementwise operations then read so.

    Where real runs are known (passes/paths/PathTimes.h), their times take the place of
    estimates, and the operation keeps them as `tenon.path_times` and `tenon.region`.

    `force` and `exclude` (passes/paths/PathPins.h) leave operations fewer paths. What is
    forced needs no budget.

    Relies on channels last; runs before `tenon-prepack-weights`.
  }];
  let options = [
    Option<"budget", "budget", "double", "2.5e-6", "largest error of a result, relative to its largest element">,
    Option<"totalBudget", "total-budget", "double", "std::numeric_limits<double>::infinity()",
           "root of the sum of squared errors of all results">,
    ListOption<"force", "force", "std::string", "REGION=PATH or NODE=PATH that operations have to take">,
    ListOption<"exclude", "exclude", "std::string", "paths, or REGION=PATH, that operations must not take">
  ];
  let statistics = [Statistic<"numTaken", "taken", "operations with another than the default implementation">];
}

def RepeatPaths : Pass<"tenon-repeat-paths", "::mlir::func::FuncOp"> {
  let summary = "apply the paths that were chosen for another target";
  let description = [{
    The graph is a copy of one in which `tenon-choose-paths` chose for the target
    that the module is named after. An operation takes the path that it took there.
    If the machine of `tenon.machine` cannot compute that path, the operation keeps its
    default implementation, and its result is perturbed by the path's error: what the
    whole model is off by can then be measured on a machine that is not the target.
    The selection comes from the driver; `paths` are those of all operations that have a
    choice, for tests.
  }];
  let options = [
    ListOption<"paths", "paths", "std::string", "PATH or PATH@ERROR of the operations that have a choice, in order">
  ];
}

#endif // TENON_PASSES_PATHS_TD
