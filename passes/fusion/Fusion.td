//===- Fusion.td - passes of fusion to dispatch regions -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_FUSION_TD
#define TENON_PASSES_FUSION_TD

include "mlir/Pass/PassBase.td"

def FuseAttention : Pass<"tenon-fuse-attention", "::mlir::func::FuncOp"> {
  let summary = "fuse contraction, softmax and contraction to attention";
  let description = [{
    Scores that nothing else reads need not be in memory: with the softmax done as the keys pass by, a kernel holds but
    a few rows and columns of them. What changes the scores element by element moves into the body, and so does what
    is cheap and has an element for each of them, as a mask of positions: it is computed where it is wanted.

    Sizes have to be constant but for the numbers of queries and keys. A few queries are left alone: they read all
    keys, and the kernel's vectors, which run along the queries, would be empty.

    ```mlir
    %0 = tenon.contract %queries, %keys ...
    %1 = tenon.mul %0, %scale
    %2 = tenon.softmax %1 ...
    %3 = tenon.contract %2, %values ...
    // ==>
    %3 = tenon.attention %queries, %keys, %values {
    ^bb0(%scores):
      %4 = tenon.mul %scores, %scale
      tenon.yield %4
    } ...
    ```
  }];
}

def Fuse : Pass<"tenon-fuse", "::mlir::func::FuncOp"> {
  let summary = "fuse operations into dispatch regions, one kernel each";
  let description = [{
    From the last operation to the first, each one joins the region of its
    users where all of them are in one and computing it there repeats no
    costly work; else it starts a region. A region has at most one loop nest
    (contraction, convolution, reduction...), with what is cheap before it, and
    what changes its result element by element after it; or two, of which the
    second one alone reads, tile by tile, what the first one gives (Chains.h),
    if `tenon-choose-forms` has marked the reshape between them with the tile.

    It may mark other operations, too: a result with `tenon.materialized`
    starts a region although it could join that of its users; one with
    `tenon.recomputed` is cheap, and copied to each region that reads it, if
    all of them can compute it. A mark that cannot be obeyed is ignored.

    ```mlir
    %0 = tenon.contract %a, %b ...
    %1 = tenon.relu %0
    // ==>
    %1 = tenon.dispatch -> ... {
      %2 = tenon.contract %a, %b ...
      %3 = tenon.relu %2
      tenon.yield %3
    }
    ```
  }];
  let options = [
    Option<"maxOps", "max-ops", "int64_t", "48", "operations that a region may have">
  ];
}

def Outline : Pass<"tenon-outline", "::mlir::ModuleOp"> {
  let summary = "outline dispatch regions into kernels and launches";
  let description = [{
    Each region becomes a private function of the module, and a launch of it.
    Symbols are renamed s0, s1... in a kernel, and equal regions share one
    kernel: the layers of a network differ in their weights, which are operands.
    Scales and zero points of one element are a part of the kernel, unless
    they are all that some regions differ in, as in the layers of a quantised
    network: then those that differ are operands, too.
  }];
}

def KeepResults : Pass<"tenon-keep-results", "::mlir::func::FuncOp"> {
  let summary = "make the results of launches model outputs";
  let description = [{
    After the model's own outputs there is one for each result of a launch, named
    after the number of the launch, its kernel and the nodes that the kernel
    computes: "3 k1_contract: fc2 + act2". Nothing is fused otherwise for that.
    Launches in branches and loops are left out. Runs after `tenon-outline`.
  }];
  let statistics = [Statistic<"numKept", "kept", "results that become outputs">];
}

#endif // TENON_PASSES_FUSION_TD
