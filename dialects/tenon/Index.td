//===- Index.td - operations that read or write where other tensors say -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Indices may be negative: they count from the end. An index outside of the
// tensor ends the run with an error that names the node.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_INDEX_TD
#define TENON_INDEX_TD

include "dialects/tenon/TenonBase.td"

def Tenon_GatherOp : Tenon_InferredOp<"gather"> {
  let summary = "takes slices along a dimension";
  let description = [{
    The result's shape is the input's with dimension `axis` replaced by the
    shape of `indices`.

    ```mlir
    %2 = tenon.gather %0, %1 {axis = 0 : i64} : (tensor<10x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
    ```
  }];
  let arguments = (ins Tenon_AnyTensor:$input, Tenon_IndexTensor:$indices, I64Attr:$axis);
  let results = (outs Tenon_AnyTensor:$result);
  let hasVerifier = 1;
}

def Tenon_GatherElementsOp : Tenon_InferredOp<"gather_elements"> {
  let summary = "takes single elements along a dimension";
  let description = [{
    The result has the shape of `indices`; element [i, j...] is the input's with
    coordinate `axis` replaced by `indices[i, j...]`.

    ```mlir
    %2 = tenon.gather_elements %0, %1 {axis = 1 : i64} : (tensor<3x3xf32>, tensor<3x2xi64>) -> tensor<3x2xf32>
    ```
  }];
  let arguments = (ins Tenon_AnyTensor:$input, Tenon_IndexTensor:$indices, I64Attr:$axis);
  let results = (outs Tenon_AnyTensor:$result);
  let hasVerifier = 1;
}

def Tenon_GatherNDOp : Tenon_InferredOp<"gather_nd"> {
  let summary = "takes slices at coordinates";
  let description = [{
    The last dimension of `indices`, which is a constant, holds coordinates that
    follow the first `batch_dims` dimensions, which input and indices share.

    ```mlir
    %2 = tenon.gather_nd %0, %1 {batch_dims = 0 : i64} : (tensor<2x3x4xf32>, tensor<5x2xi64>) -> tensor<5x4xf32>
    ```
  }];
  let arguments = (ins Tenon_AnyTensor:$input, Tenon_IndexTensor:$indices, I64Attr:$batch_dims);
  let results = (outs Tenon_AnyTensor:$result);
  let hasVerifier = 1;
}

def Tenon_ScatterElementsOp : Tenon_InferredOp<"scatter_elements"> {
  let summary = "writes single elements along a dimension into a copy";
  let description = [{
    The result is the input with element [i, j...] of `updates` joined, as
    `kind` says, to the element whose coordinate `axis` is `indices[i, j...]`.
    Updates happen in row-major order.

    ```mlir
    %3 = tenon.scatter_elements assign, %0, %1, %2 {axis = 0 : i64}
      : (tensor<3x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<3x3xf32>
    ```
  }];
  let arguments = (ins Tenon_ScatterKindAttr:$kind, Tenon_AnyTensor:$input, Tenon_IndexTensor:$indices,
                       Tenon_AnyTensor:$updates, I64Attr:$axis);
  let results = (outs Tenon_AnyTensor:$result);
  let assemblyFormat = "$kind `,` operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Tenon_ScatterNDOp : Tenon_InferredOp<"scatter_nd"> {
  let summary = "writes slices at coordinates into a copy";
  let description = [{
    The last dimension of `indices`, which is a constant, holds coordinates of
    slices of the input; `updates` has the other dimensions of `indices`, then
    the slice's. Updates happen in row-major order.

    ```mlir
    %3 = tenon.scatter_nd add, %0, %1, %2 : (tensor<8xf32>, tensor<4x1xi64>, tensor<4xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Tenon_ScatterKindAttr:$kind, Tenon_AnyTensor:$input, Tenon_IndexTensor:$indices,
                       Tenon_AnyTensor:$updates);
  let results = (outs Tenon_AnyTensor:$result);
  let assemblyFormat = "$kind `,` operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Tenon_TopKOp : Tenon_InferredOp<"top_k"> {
  let summary = "the k largest or smallest elements along a dimension, in order";
  let description = [{
    Equal elements keep their order: the lower index comes first.

    ```mlir
    %v, %i = tenon.top_k %0 {axis = 1 : i64, k = 3 : i64, largest = true} : (tensor<2x8xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
    ```
  }];
  let arguments = (ins Tenon_NumberTensor:$input, I64Attr:$axis, I64Attr:$k,
                       DefaultValuedAttr<BoolAttr, "true">:$largest);
  let results = (outs Tenon_NumberTensor:$values, RankedTensorOf<[I64]>:$indices);
  let hasVerifier = 1;
}

#endif // TENON_INDEX_TD
