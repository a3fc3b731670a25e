//===- Region.td - dispatch regions, kernels and launches ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_REGION_TD
#define TENON_REGION_TD

include "dialects/tenon/TenonBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

def Tenon_DispatchOp : Op<Tenon_Dialect, "dispatch", [Pure, SingleBlock]> {
  let summary = "operations that one kernel computes together";
  let description = [{
    A dispatch region, as the pass `tenon-fuse` makes it. The body reads values
    from around it; what it yields are the results.

    ```mlir
    %1 = tenon.dispatch -> tensor<4xf32> {
      %2 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
      tenon.yield %2 : tensor<4xf32>
    }
    ```
  }];
  let results = (outs Variadic<Tenon_AnyTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`->` type($results)^)? $body attr-dict";
}

def Tenon_YieldOp : Op<Tenon_Dialect, "yield", [Pure, Terminator, ReturnLike, ParentOneOf<["DispatchOp", "IfOp", "LoopOp"]>]> {
  let summary = "what a dispatch region, a branch or the body of a loop results in";
  let arguments = (ins Variadic<Tenon_AnyTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Tenon_LaunchOp : Op<Tenon_Dialect, "launch", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "computes an outlined dispatch region";
  let description = [{
    `kernel` is a private function of the module that takes the operands and
    gives the results. Equal regions share one kernel: `sizes` are the values,
    here, of the kernel's symbols.

    ```mlir
    %1 = tenon.launch @kernel_0(%0) {sizes = #tenon.shape<N>}
      : (tensor<?xf32, #tenon.shape<N>>) -> tensor<?xf32, #tenon.shape<N>>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Tenon_AnyTensor>:$inputs, Tenon_ShapeAttr:$sizes);
  let results = (outs Variadic<Tenon_AnyTensor>:$results);
  let assemblyFormat = "$kernel `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)";
}

#endif // TENON_REGION_TD
