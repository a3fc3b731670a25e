//===- Precision.td - passes that choose the types of weights --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PRECISION_TD
#define TENON_PASSES_PRECISION_TD

include "mlir/Pass/PassBase.td"

def QuantizeWeights : Pass<"tenon-quantize-weights", "::mlir::ModuleOp"> {
  let summary = "store constant matrices in the formats that rules name";
  let description = [{
    A constant matrix of floats that products multiply by, and an embedding that rows are looked up in, becomes
    one of bf16, f16 or f32 and a cast, or one of integers of eight or four bits and a `tenon.dequantize`
    (passes/precision/GroupQuantizer.h). Kernels convert what they have just loaded. An embedding that is also
    the output's matrix stays one weight. Groups run along the dimension that products sum over.

    A rule is `FORMAT` or `PATTERN=FORMAT` (passes/precision/WeightFormat.h), and of those that match the name of a
    weight the last one decides. Weights that anything else reads, and those that have few elements, stay as they are,
    the latter unless a pattern names them.

    Runs on the model as imported, which the reference in f64 is made of, too: what a user wants of weights is
    the model, and the tolerance bounds what computing it adds.

    ```mlir
    %0 = tenon.weight dense_resource<w> : tensor<64x128xf32>
    %1 = tenon.contract %x, %0 ...
    // ==> int4
    %0 = tenon.weight dense_resource<int4...> : tensor<64x128xui4>
    %1 = tenon.weight dense_resource<scales...> : tensor<64x4xf16>
    %2 = tenon.dequantize %0, %1, %8 {axis = 1 : i64, block = 32 : i64, result_type = f32}
    %3 = tenon.contract %x, %2 ...
    ```
  }];
  let options = [ListOption<"rules", "rules", "std::string", "FORMAT or PATTERN=FORMAT">];
  let statistics = [Statistic<"numStored", "stored", "matrices that have another format">];
}

def WidenFloats : Pass<"tenon-widen-floats", "::mlir::ModuleOp"> {
  let summary = "promote all floating-point computation to f64";
  let description = [{
    Makes of a model the reference that its errors are measured against: f32, f16
    and bf16 tensors become f64, and casts among them nothing. Arguments stay as
    they are, with a cast behind each, so that both take the same inputs; results
    are f64. A large weight stays too, and is cast when the model runs, so that it
    takes no more memory. What looks at bits (`bitcast`, kernels of the library) gets
    and gives the model's own types. Floats of eight and four bits stay: to round to
    them is what the model means. States of f16 and bf16 become ones of f32.

    Belongs first, before anything is computed of weights.

    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = tenon.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    ==>
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf64> {
      %0 = tenon.cast %x : (tensor<4xf32>) -> tensor<4xf64>
      %1 = tenon.exp %0 : (tensor<4xf64>) -> tensor<4xf64>
    ```

    With `round-reduced-precision`, what is f16 or bf16 in the model is rounded to it where it is
    computed: how far the model's own types are off, with operations that are exact.
  }];
  let options = [Option<"roundReducedPrecision", "round-reduced-precision", "bool", "false", "round results to f16 and bf16 where they are">];
}

def PromoteToF32 : Pass<"tenon-promote-to-f32", "::mlir::func::FuncOp"> {
  let summary = "promote f16 and bf16 computation to f32";
  let description = [{
    For processors without arithmetic on f16 and bf16, which compute in f32 anyway: what operations hand to each other
    stays f32, rather than to be rounded and widened again. Results are closer to what the model means by that, and errors within
    the tolerance of a model of f32. Arguments and results keep their types. So do weights, which are cast where they are
    read, and what is only moved on its way from an argument or to a result, such as a cache of keys and values.

    Belongs first, as `tenon-widen-floats` does: layouts and fusion then see the model of f32.

    ```mlir
    func.func @main(%x: tensor<4xf16>) -> tensor<4xf16> {
      %0 = tenon.exp %x : (tensor<4xf16>) -> tensor<4xf16>
      %1 = tenon.neg %0 : (tensor<4xf16>) -> tensor<4xf16>
    ==>
      %0 = tenon.cast %x : (tensor<4xf16>) -> tensor<4xf32>
      %1 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
      %2 = tenon.neg %1 : (tensor<4xf32>) -> tensor<4xf32>
      %3 = tenon.cast %2 : (tensor<4xf32>) -> tensor<4xf16>
    ```
  }];
}

def SplitLargeWeights : Pass<"tenon-split-large-weights", "::mlir::func::FuncOp"> {
  let summary = "split matmuls with f64 casts of large weights";
  let description = [{
    A matmul with an f64 cast of a large weight is split along the first dimension of the weight: the f64 copy of the
    whole weight is never in memory, and each part is still in cache when it is read. Partial results are concatenated,
    or added if the dimension is summed. The parts are weights that share the memory of the whole.

    Runs last: a part has no bytes of its own, and folding would materialize them.

    ```mlir
    %0 = tenon.weight dense_resource<w> : tensor<50257x768xf32>
    %1 = tenon.cast %0 : (tensor<50257x768xf32>) -> tensor<50257x768xf64>
    %2 = tenon.contract %x, %1 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    ==>
    %0 = tenon.weight dense_resource<part> : tensor<1365x768xf32>
    %1 = tenon.cast %0 : (tensor<1365x768xf32>) -> tensor<1365x768xf64>
    %2 = tenon.contract %x, %1 ...
    ...
    %n = tenon.concat %2, ... {axis = 1 : i64}
    ```
  }];
  let options = [Option<"maxBytes", "max-bytes", "int64_t", "8388608", "bytes of f64 that are made at a time">];
}

#endif // TENON_PASSES_PRECISION_TD
