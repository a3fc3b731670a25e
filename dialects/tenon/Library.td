//===- Library.td - what a kernel written in C computes ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIBRARY_TD
#define TENON_LIBRARY_TD

include "dialects/tenon/TenonBase.td"

def Tenon_CallOp : Tenon_Op<"call", [Tenon_NoKernel, Tenon_LaunchLike, Tenon_FixedElementTypes]> {
  let summary = "calls a library kernel, which computes lists of dynamic length";
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

def Tenon_HostCallOp : Tenon_Op<"host_call", [Tenon_NoKernel, Tenon_LaunchLike, Tenon_FixedElementTypes, Tenon_RunTimeOnly]> {
  let summary = "computes tensors by an operator of a plug-in";
  let description = [{
    A shared library computes the results when the model runs (`tenon/plugin.h`). Like any other operation it is a
    function of its operands and `parameters`, whose values are arrays of i64 or f64, or strings. `present` has one
    boolean for each operand of the operator; those that are false were left out and have no value.

    With `infers` the shape function is called instead, whose one result has the extents of all results, one after
    the other: `outputs` are their types.

    ```mlir
    func.func @main(%x: tensor<?xf32, #tenon.shape<N>>) -> tensor<?xf32, #tenon.shape<N>> {
      %0 = tenon.host_call "example" "com.example" "Scale"(%x) {parameters = {by = array<f64: 2.0>}, present = array<i1: true>}
        : (tensor<?xf32, #tenon.shape<N>>) -> tensor<?xf32, #tenon.shape<N>>
      return %0 : tensor<?xf32, #tenon.shape<N>>
    }
    ```
  }];
  let arguments = (ins StrAttr:$plugin, StrAttr:$domain, StrAttr:$callee, Variadic<Tenon_AnyTensor>:$inputs,
                       DictionaryAttr:$parameters, DenseBoolArrayAttr:$present, OptionalAttr<TypeArrayAttr>:$outputs,
                       UnitAttr:$infers);
  let results = (outs Variadic<Tenon_AnyTensor>:$results);
  let assemblyFormat = "$plugin $domain $callee `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)";
  let hasVerifier = 1;
}

#endif // TENON_LIBRARY_TD
