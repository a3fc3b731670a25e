//===- State.td - passes of states ----------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_STATE_TD
#define TENON_PASSES_STATE_TD

include "mlir/Pass/PassBase.td"

def PairStates : Pass<"tenon-pair-states", "::mlir::ModuleOp"> {
  let summary = "keep outputs as states that the next run reads in place of inputs";
  let description = [{
    Each of `pairs`, an input's and an output's name, becomes a state. A pair of the same constant shape is written as a
    whole. A pair of which one dimension is dynamic grows along it, up to `capacity`: where the output is a concat of the
    input and of what is new, that alone is written, and what reads the concat reads the state.

    Runs on imported modules after `tenon-infer-shapes`, which says how the dimensions of outputs follow from those of
    inputs.

    ```mlir
    // pairs=past=present capacity=512
    func.func @main(%new: tensor<1x8xf32>, %past: tensor<?x8xf32, #tenon.shape<n, 8>> {tenon.name = "past"})
        -> (tensor<?x8xf32, #tenon.shape<n + 1, 8>> {tenon.name = "present"})
      %0 = tenon.concat %past, %new {axis = 0 : i64}
      return %0
    // ==>
    tenon.state @past : tensor<512x8xf32> live "n"
    func.func @main(%new: tensor<1x8xf32>)
      tenon.state.update @past at #tenon.shape<n> extends, %new
      %0 = tenon.state.read @past : tensor<?x8xf32, #tenon.shape<n + 1, 8>>
      return
    ```
  }];
  let options = [ListOption<"pairs", "pairs", "std::string", "INPUT=OUTPUT">,
                 Option<"capacity", "capacity", "int64_t", "0", "rows of states that grow">];
  let statistics = [Statistic<"numStates", "states", "pairs that became states">];
}

#endif // TENON_PASSES_STATE_TD
