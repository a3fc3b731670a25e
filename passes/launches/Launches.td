//===- Launches.td - passes that merge launches ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_LAUNCHES_TD
#define TENON_PASSES_LAUNCHES_TD

include "mlir/Pass/PassBase.td"

def MergeLaunches : Pass<"plan-merge-launches", "::mlir::ModuleOp"> {
  let summary = "merge launches of programs where threads wait for each other in between";
  let description = [{
    Between launches all threads wait for the last one, and while one thread runs a small launch, all
    others wait. The kernels of launches that follow each other become the parts of a `kernel.merged`:

    * Each thread computes small launches for itself, in its scratch, if only the launches behind them
      read the results: a norm, and the products of its rows with several matrices.
    * Launches that do not depend on each other are computed side by side.
    * A launch of which each tile reads no more of the one before than the tile of the same number is
      computed tile by tile along with that.
    * Small launches between large ones become one, of a single tile.

    By default only programs with states are changed, whose runs are short steps.
    Kernels stay as they are. Their schedules are not changed, and programs share packed weights.

    ```mlir
    plan.launch @k0_rms_norm(%x) -> (%0) ...
    plan.launch @k1_contract(%w0, %0) -> (%1) ...
    plan.launch @k1_contract(%w1, %0) -> (%2) ...
    // ==>
    plan.launch @k1_contract_merged(%x, %w0, %w1) -> (%1, %2) ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tenon::kernel::KernelDialect"];
  let options = [
    ListOption<"force", "force", "std::string", "NODE=merged_launches or NODE=separate_launches">,
    ListOption<"exclude", "exclude", "std::string", "likewise, or merged_launches">
  ];
  let statistics = [
    Statistic<"numMerged", "merged", "launches that have become parts of others">
  ];
}

#endif // TENON_PASSES_LAUNCHES_TD
