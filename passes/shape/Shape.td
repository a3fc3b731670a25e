//===- Shape.td - passes of shapes, ranges and sizes ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_SHAPE_TD
#define TENON_PASSES_SHAPE_TD

include "mlir/Pass/PassBase.td"

def InferShapes : Pass<"tenon-infer-shapes", "::mlir::func::FuncOp"> {
  let summary = "refine result shapes from operand shapes";
  let description = [{
    The types of arguments may have been written by hand, or made more precise.
    From first to last operation, results whose extents are unknown or symbolic
    get what type inference derives from the operands; what is known already
    stays. Shapes that contradict each other are errors.

    ```mlir
    %1 = tenon.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<?xf32>
    // ==>
    %1 = tenon.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let statistics = [Statistic<"numRefined", "refined", "results of which more is known">];
}

def CollectRequirements : Pass<"tenon-collect-requirements", "::mlir::ModuleOp"> {
  let summary = "collect the equalities of symbols that operations require";
  let description = [{
    Where two extents that meet in an operation are different expressions, none
    of them known to be 1, the operation can only work if they are equal. That
    becomes a requirement of the program, checked when sizes are bound: no
    kernel tests it again, and none reads beyond a tensor.

    What the module says of symbols, `tenon.ranges` and `tenon.requires`, moves to
    each of its public functions. Relies on shapes being inferred; runs before
    `tenon-specialize`.
  }];
}

def ProveIndices : Pass<"tenon-prove-indices", "::mlir::func::FuncOp"> {
  let summary = "prove that indices are in range";
  let description = [{
    Gathers and scatters whose indices are in range however the model runs get
    `in_range`: constants, positions along the dimension, the smaller of an index
    and the last position, indices that a search or a sort gives. Their kernels
    check nothing. A `tenon.check_range` that always holds disappears.

    ```mlir
    %1 = tenon.arg_reduce max, %0 {axis = 1 : i64, ...} : (tensor<4x8xf32>) -> tensor<4xi64>
    %2 = tenon.gather %table, %1 {axis = 0 : i64} : (tensor<8x16xf32>, tensor<4xi64>) -> tensor<4x16xf32>
    // ==>
    %2 = tenon.gather %table, %1 {axis = 0 : i64, in_range} : (tensor<8x16xf32>, tensor<4xi64>) -> tensor<4x16xf32>
    ```
  }];
  let statistics = [Statistic<"numProven", "proven", "operations whose indices are in range">];
}

def ApplyFacts : Pass<"tenon-apply-facts", "::mlir::func::FuncOp"> {
  let summary = "simplify extents by known ranges and equalities of symbols";
  let description = [{
    A function's facts are its `tenon.ranges` and `tenon.requires`, and what its
    operations bind (dialects/tenon/Facts.h). With them

    - a symbol that has one value, or is bound to a known one, becomes that value;
    - of two symbols of inputs that have to be equal, one stays: binding it
      compares the inputs;
    - extents that are equal are written the same;
    - a requirement that always holds disappears;
    - what `tenon.bind` binds gets a bound, where one follows from how it is computed
      (`ValueBounds`): the smaller of two, a remainder, an index, a count.

    Runs after `tenon-collect-requirements`; `tenon-infer-shapes` then finds what
    follows for results.

    ```mlir
    func.func @main(%a: tensor<?xf32, #tenon.shape<N>>, %b: tensor<?xf32, #tenon.shape<M>>)
        attributes {tenon.requires = #tenon.shape<N + M * -1, M + N * -1>}
    // ==>
    func.func @main(%a: tensor<?xf32, #tenon.shape<N>>, %b: tensor<?xf32, #tenon.shape<N>>)
    ```
  }];
  let statistics = [
    Statistic<"numReplaced", "replaced", "symbols that something else stands for">,
    Statistic<"numProven", "proven", "requirements that always hold">
  ];
}

def Specialize : Pass<"tenon-specialize", "::mlir::ModuleOp"> {
  let summary = "specialize main for ranges of sizes";
  let description = [{
    Each of `programs` becomes a copy of main with these ranges besides its own,
    before it in the module, in the order in which they are given: the runtime
    takes the first whose ranges hold the sizes at hand, and main where there is
    none. Ranges are written as `--range` has them, joined by `;`, and may say a size
    hint, `N=1..512@128`: choices for the copy are made for that value, and choices
    for main for the first hint. Sizes that main can never run get no copy, but a warning.
    A program that was imported for these sizes, and maybe others, takes the place of a copy.

    Runs after what does not depend on sizes, and before `tenon-apply-facts`.

    ```mlir
    // programs=N=128;N=1..512
    func.func @main(...)
    // ==>
    func.func @"main.N=128"(...) attributes {tenon.program = "N=128", tenon.ranges = {N = array<i64: 128, 128>}}
    func.func @"main.N=1..512"(...) attributes {tenon.program = "N=1..512", tenon.ranges = {N = array<i64: 1, 512>}}
    func.func @main(...)
    ```
  }];
  let options = [ListOption<"programs", "programs", "std::string", "ranges of one copy">];
}

#endif // TENON_PASSES_SHAPE_TD
