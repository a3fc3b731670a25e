//===- Control.td - sizes that data decides, branches and loops ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These are the only operations with an effect: they happen in the order in
// which they stand. A symbol that `bind` gives its value may stand in types and
// attributes of what comes after it.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_CONTROL_TD
#define TENON_CONTROL_TD

include "dialects/tenon/TenonBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Tenon_BindOp : Op<Tenon_Dialect, "bind", [Tenon_NoKernel, Tenon_Ordered, Tenon_SymbolBinder]> {
  let summary = "binds symbols to values that depend on data";
  let description = [{
    Element i of `values`, a vector or a scalar, becomes the value of symbol i. A
    value below `min` ends the run with an error that names the node, and so does
    one above its expression in `bounds`, where `?` stands for none. A symbol
    that is bound again, in a loop, changes at that point.

    ```mlir
    func.func @example(%0: tensor<1xi64>, %1: tensor<?xf32, #tenon.shape<N>>) {
      tenon.bind %0 ["nonzero"] {bounds = #tenon.shape<N>, min = 0 : i64} : tensor<1xi64>
      return
    }
    ```
  }];
  let arguments = (ins RankedTensorOf<[I64]>:$values, StrArrayAttr:$symbols, I64Attr:$min,
                       OptionalAttr<Tenon_ShapeAttr>:$bounds);
  let assemblyFormat = "$values $symbols attr-dict `:` type($values)";
  let hasVerifier = 1;
}

def Tenon_RequireOp : Op<Tenon_Dialect, "require", [Tenon_NoKernel, Tenon_Ordered]> {
  let summary = "ends the run with an error where an expression is negative";
  let description = [{
    What an operation takes for granted of symbols that data binds. `text` says
    what does not fit.

    ```mlir
    tenon.require #tenon.shape<n + -1> "the index is empty"
    ```
  }];
  let arguments = (ins Tenon_ShapeAttr:$values, StrAttr:$text);
  let assemblyFormat = "qualified($values) $text attr-dict";
}

def Tenon_IfOp : Op<Tenon_Dialect, "if", [SingleBlock, RecursiveMemoryEffects, Tenon_NoKernel, Tenon_Ordered, Tenon_SymbolBinder]> {
  let summary = "executes one of two branches";
  let description = [{
    Both read values from around them and yield what the operation results in.
    An extent in which they differ is one of `symbols` in the result's type: it
    takes the value that it has in what was yielded.

    ```mlir
    func.func @example(%0: tensor<i1>, %a: tensor<4xf32>, %b: tensor<4xf32>) {
      %1 = tenon.if %0 : tensor<i1> -> tensor<4xf32> {
        tenon.yield %a : tensor<4xf32>
      } else {
        tenon.yield %b : tensor<4xf32>
      }
      return
    }
    ```
  }];
  let arguments = (ins Tenon_BoolTensor:$condition, OptionalAttr<StrArrayAttr>:$symbols);
  let results = (outs Variadic<Tenon_AnyTensor>:$results);
  let regions = (region SizedRegion<1>:$thenBody, SizedRegion<1>:$elseBody);
  let assemblyFormat = "$condition `:` type($condition) (`->` type($results)^)? $thenBody `else` $elseBody attr-dict";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tenon_LoopOp : Op<Tenon_Dialect, "loop", [SingleBlock, RecursiveMemoryEffects, Tenon_NoKernel, Tenon_Ordered, Tenon_SymbolBinder]> {
  let summary = "repeats its body while a condition holds";
  let description = [{
    The body has one argument for each initial value and yields whether to go on,
    then the values for the next time; `condition` says whether it runs at all.
    Arguments and results have the same types. An extent that changes from one
    time to the next is one of `symbols` there: it takes the value that it has in
    the initial value, and at the end of each time that of what was yielded.
    `trips` is how often the body runs at most, where something says so.

    ```mlir
    func.func @example(%0: tensor<i1>, %1: tensor<i64>, %one: tensor<i64>, %end: tensor<i64>) {
      %2 = tenon.loop %0 (%1) : tensor<i1>, (tensor<i64>) -> tensor<i64> {
      ^bb0(%n: tensor<i64>):
        %3 = tenon.add %n, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
        %4 = tenon.compare lt, %3, %end : (tensor<i64>, tensor<i64>) -> tensor<i1>
        tenon.yield %4, %3 : tensor<i1>, tensor<i64>
      }
      return
    }
    ```
  }];
  let arguments = (ins Tenon_BoolTensor:$condition, Variadic<Tenon_AnyTensor>:$inits, OptionalAttr<StrArrayAttr>:$symbols,
                       OptionalAttr<Tenon_ShapeAttr>:$trips);
  let results = (outs Variadic<Tenon_AnyTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $condition `(` $inits `)` `:` type($condition) `,` functional-type($inits, $results) $body attr-dict
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tenon_AppendOp : Tenon_Op<"append", [Tenon_NoKernel]> {
  let summary = "appends a slice to a tensor";
  let description = [{
    The result is `input` with `slice` behind its last element along the first
    dimension, in the same memory, which grows: `input` has no other use.

    ```mlir
    %2 = tenon.append %0, %1 : (tensor<?x4xf32, #tenon.shape<n, 4>>, tensor<4xf32>) -> tensor<?x4xf32, #tenon.shape<n + 1, 4>>
    ```
  }];
  let arguments = (ins Tenon_AnyTensor:$input, Tenon_AnyTensor:$slice);
  let results = (outs Tenon_AnyTensor:$result);
  let hasVerifier = 1;
}

#endif // TENON_CONTROL_TD
