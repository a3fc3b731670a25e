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

def AddSequences : Pass<"tenon-add-sequences", "::mlir::ModuleOp"> {
  let summary = "add programs for runs of several sequences";
  let description = [{
    Copies main, whose batch is 1, for runs of each number of sequences in `counts`. What does not depend on the past of
    one of them stays one operation, on values that have the sequences end to end along a dimension, so that weights are
    read once. Everything else is there once for each sequence, with states and symbols of its own. No operation is
    beyond that: those that are not known to treat each sequence alone are copied.

    Inputs and results get the number of sequences in place of a first dimension of 1. An input that grows with the past,
    as a mask does, has as many elements in that dimension as the longest sequence needs, and each reads the first ones of
    its own.

    Runs after `tenon-pair-states`, and after the facts are applied: an input's dimension is then an expression over the
    live rows wherever it has to be.

    ```mlir
    // counts=2
    tenon.state @past : tensor<512x8xf32> live "n"
    func.func @main(%new: tensor<1x8xf32>) -> tensor<1x8xf32>
      %0 = tenon.contract %new, %weight
      tenon.state.update @past at #tenon.shape<n> extends, %0
    // ==> in addition
    tenon.state @past.1 : tensor<512x8xf32> live "n.1" sequence 1 of @past
    func.func @"main.sequences=2"(%new: tensor<2x8xf32>) -> tensor<2x8xf32>
      %0 = tenon.contract %new, %weight
      %1 = tenon.slice %0 {starts = #tenon.shape<0, 0>}
      tenon.state.update @past at #tenon.shape<n> extends, %1
      %2 = tenon.slice %0 {starts = #tenon.shape<1, 0>}
      tenon.state.update @past.1 at #tenon.shape<n.1> extends, %2
    ```
  }];
  let options = [ListOption<"counts", "counts", "int64_t", "how many sequences runs have, each 2 or more">];
  let dependentDialects = ["::tenon::TenonDialect", "::mlir::func::FuncDialect"];
}

#endif // TENON_PASSES_STATE_TD
