//===- Library.td - what a kernel written in C computes ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIBRARY_TD
#define TENON_LIBRARY_TD

include "dialects/tenon/TenonBase.td"

def Tenon_CallOp : Tenon_Op<"call"> {
  let summary = "computes lists by a kernel of the library";
  let description = [{
    For what is no arithmetic on elements: text. `kernel` is a function of
    `compiler/backend/llvm/library`; its buffers are the operands, then the results,
    and its sizes the number of elements of each. It runs as one tile, in a launch of
    its own.

    ```mlir
    %2 = tenon.call "tenon_upper_case"(%0) : (tensor<?xui8, #tenon.shape<N>>) -> tensor<?xui8, #tenon.shape<N>>
    ```
  }];
  let arguments = (ins StrAttr:$kernel, Variadic<Tenon_AnyTensor>:$inputs);
  let results = (outs Variadic<Tenon_AnyTensor>:$results);
  let assemblyFormat = "$kernel `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)";
  let hasVerifier = 1;
}

#endif // TENON_LIBRARY_TD
