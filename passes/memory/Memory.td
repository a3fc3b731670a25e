//===- Memory.td - passes that order launches and place their buffers -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_MEMORY_TD
#define TENON_PASSES_MEMORY_TD

include "mlir/Pass/PassBase.td"

def OrderLaunches : Pass<"tenon-order-launches", "::mlir::func::FuncOp"> {
  let summary = "reorder launches to lower the peak of live bytes";
  let description = [{
    Another order that respects what depends on what, from passes/memory/ordering;
    the given one stays where none is better. Blocks with instructions that bind
    symbols, branches or loops keep their order.
  }];
  let options = [
    Option<"steps", "steps", "int64_t", "4000000", "effort of the search, in steps of some nanoseconds">
  ];
  let statistics = [
    Statistic<"bytesBefore", "bytes-before", "largest sum of live bytes">,
    Statistic<"bytesAfter", "bytes-after", "largest sum of live bytes in the new order">
  ];
}

def Rematerialize : Pass<"tenon-rematerialize", "::mlir::ModuleOp"> {
  let summary = "rematerialize cheap activations to lower the peak of live bytes";
  let description = [{
    An activation that is live but unused at the peak, and that an elementwise kernel
    computes from operands which are available later, is computed again right before its
    next use. The activation that frees most bytes per computed element is taken first.
    Runs after `tenon-order-launches`.

    ```mlir
    %1 = tenon.launch @k0_exp(%0)
    %2 = tenon.launch @k1_contract(%1, %w)
    %3 = tenon.launch @k2_contract(%2, %w)
    %4 = tenon.launch @k3_add(%3, %1)
    // ==>
    %1 = tenon.launch @k0_exp(%0)
    %2 = tenon.launch @k1_contract(%1, %w)
    %3 = tenon.launch @k2_contract(%2, %w)
    %5 = tenon.launch @k0_exp(%0)
    %4 = tenon.launch @k3_add(%3, %5)
    ```
  }];
  let options = [
    Option<"limit", "limit", "int64_t", "0", "largest number of rematerialized activations per block">
  ];
  let statistics = [
    Statistic<"numRecomputed", "recomputed", "rematerialized activations">
  ];
}

def InPlaceOperands : Pass<"tenon-in-place-operands", "::mlir::ModuleOp"> {
  let summary = "let kernels write their results in place of dead operands";
  let description = [{
    A launch that is the last user of an activation, and computes each element of
    its result from the element at the same index, calls a variant of its kernel
    with `tenon.reused`. Launches are not reordered after this pass.

    ```mlir
    %1 = tenon.launch @k0_exp(%0) ...
    // ==>
    %1 = tenon.launch @k0_exp_in_place0(%0) ...
    func.func private @k0_exp_in_place0(%arg0: tensor<4xf32> {tenon.reused = 0 : i64}) -> tensor<4xf32> ...
    ```
  }];
}

def AssignOffsets : Pass<"plan-assign-offsets", "::tenon::plan::ProgramOp"> {
  let summary = "assign offsets in one arena to all activations";
  let description = [{
    Live ranges are computed from the instruction list, and placed by passes/memory/placement.
    Groups of concurrent launches are formed first (passes/memory/ConcurrentGroups.h), since
    the operands of a group are live at the same time.
    For symbolic sizes, the order of activations in the arena is chosen for samples of the
    symbols, and offsets are expressions that hold for all values. A data-dependent size is
    replaced by its upper bound if the arena does not grow much; otherwise the activation
    gets a block of its own. A program whose activations have their places is left alone.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numActivations", "activations", "activations placed">,
    Statistic<"bytes", "bytes", "bytes of the arena, or of its first sample">,
    Statistic<"lowerBoundBytes", "lower-bound-bytes", "bytes that it needs at least">
  ];
}

def StreamWeights : Pass<"plan-stream-weights", "::tenon::plan::ProgramOp"> {
  let summary = "release weights after their last use in a run";
  let description = [{
    The largest weights go first, until the bytes of weights that are needed at one
    time come to no more than `budget`; they are read from the artifact again in the
    next run. What a loop uses goes after the loop.
  }];
  let options = [
    Option<"budget", "budget", "int64_t", "0", "bytes of weights that may be in memory at one time">
  ];
  let statistics = [
    Statistic<"numStreamed", "streamed", "weights that are let go of">
  ];
}

#endif // TENON_PASSES_MEMORY_TD
