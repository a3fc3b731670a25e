//===- Verify.td - passes that check what holds between phases ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_VERIFY_TD
#define TENON_PASSES_VERIFY_TD

include "mlir/Pass/PassBase.td"

def VerifyImport : Pass<"tenon-verify-import", "::mlir::ModuleOp"> {
  let summary = "check that a module is what importers produce";
  let description = [{
    Holds at the start of the pipeline: the bodies of functions are operations of the
    tenon dialect on ranked tensors, and neither kernels nor launches of them are there
    yet. An MLIR file may break this, and so it is an error of the input.
  }];
}

def VerifyLaunches : Pass<"tenon-verify-launches", "::mlir::ModuleOp"> {
  let summary = "check that launches and kernels agree";
  let description = [{
    Holds after `tenon-outline`: no dispatch region is left, and each launch names a
    private kernel of this module, passes as many operands as that has arguments and as
    many sizes as it has symbols. A violation is a defect of the compiler.
  }];
}

def VerifyPlan : Pass<"tenon-verify-plan", "::mlir::ModuleOp"> {
  let summary = "check that programs fit the kernels that they launch";
  let description = [{
    Holds after `tenon-to-plan`: all functions are kernels, programs consist of
    instructions and of arithmetic on sizes, and each launch passes the buffers and
    sizes that its kernel has arguments for. With `placed`, it also holds that each
    activation has its memory, as after `plan-assign-offsets`. A violation is a defect
    of the compiler.
  }];
  let options = [Option<"placed", "placed", "bool", "false", "no activation is without memory">];
}

def VerifyKernels : Pass<"tenon-verify-kernels", "::mlir::ModuleOp"> {
  let summary = "check that kernels work on buffers";
  let description = [{
    Holds after `tenon-bufferize-kernels`: kernels take buffers and sizes, give no
    results, use no tensors, and what they use of the thread's scratch lies within
    `tenon.scratch`. With `loops`, it also holds that they are loops, as after
    `tenon-place-allocations`: neither structured operations nor allocations on the
    heap are left. A violation is a defect of the compiler.
  }];
  let options = [Option<"loops", "loops", "bool", "false", "kernels are loops">];
}

#endif // TENON_PASSES_VERIFY_TD
