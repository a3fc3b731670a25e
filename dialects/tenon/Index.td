//===- Index.td - operations that read or write where other tensors say -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Indices may be negative: they count from the end. An index outside of the
// tensor ends the run with an error that names the node. `in_range` says that
// all of them are known to be inside, so that nothing is checked
// (`tenon-prove-indices`).
//
//===----------------------------------------------------------------------===//

#ifndef TENON_INDEX_TD
#define TENON_INDEX_TD

include "dialects/tenon/TenonBase.td"

def Tenon_GatherOp : Tenon_InferredOp<"gather", [Tenon_ElementAccess, Tenon_DataMovement, Tenon_ProvableIndices]> {
  let summary = "takes slices along a dimension";
  let description = [{
    The result's shape is the input's with dimension `axis` replaced by the
    shape of `indices`.

    ```mlir
    %2 = tenon.gather %0, %1 {axis = 0 : i64} : (tensor<10x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
    ```
  }];
  let arguments = (ins Tenon_AnyTensor:$input, Tenon_IndexTensor:$indices, I64Attr:$axis, UnitAttr:$in_range);
  let results = (outs Tenon_AnyTensor:$result);
  let hasVerifier = 1;
}

def Tenon_GatherElementsOp : Tenon_InferredOp<"gather_elements", [Tenon_ElementAccess, Tenon_ProvableIndices, DeclareOpInterfaceMethods<Tenon_ExtentRequirements>]> {
  let summary = "takes single elements along a dimension";
  let description = [{
    The result has the shape of `indices`; element [i, j...] is the input's with
    coordinate `axis` replaced by `indices[i, j...]`.

    ```mlir
    %2 = tenon.gather_elements %0, %1 {axis = 1 : i64} : (tensor<3x3xf32>, tensor<3x2xi64>) -> tensor<3x2xf32>
    ```
  }];
  let arguments = (ins Tenon_AnyTensor:$input, Tenon_IndexTensor:$indices, I64Attr:$axis, UnitAttr:$in_range);
  let results = (outs Tenon_AnyTensor:$result);
  let hasVerifier = 1;
}

def Tenon_GatherNDOp : Tenon_InferredOp<"gather_nd", [Tenon_ElementAccess, Tenon_ProvableIndices, DeclareOpInterfaceMethods<Tenon_ExtentRequirements>]> {
  let summary = "takes slices at coordinates";
  let description = [{
    The last dimension of `indices`, which is a constant, holds coordinates that
    follow the first `batch_dims` dimensions, which input and indices share.

    ```mlir
    %2 = tenon.gather_nd %0, %1 {batch_dims = 0 : i64} : (tensor<2x3x4xf32>, tensor<5x2xi64>) -> tensor<5x4xf32>
    ```
  }];
  let arguments = (ins Tenon_AnyTensor:$input, Tenon_IndexTensor:$indices, I64Attr:$batch_dims, UnitAttr:$in_range);
  let results = (outs Tenon_AnyTensor:$result);
  let hasVerifier = 1;
}

def Tenon_ScatterElementsOp : Tenon_InferredOp<"scatter_elements", [Tenon_LoopNest, Tenon_ProvableIndices, DeclareOpInterfaceMethods<Tenon_ExtentRequirements>]> {
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
                       Tenon_AnyTensor:$updates, I64Attr:$axis, UnitAttr:$in_range);
  let extraClassDeclaration = compatible # [{
    ::tenon::OperandFusion getOperandFusion() { return ::tenon::OperandFusion::none; }
    mlir::AffineExpr countFlops() { return ::tenon::getDimConstant(getContext(), 0); }
  }];
  let results = (outs Tenon_AnyTensor:$result);
  let assemblyFormat = "`` $kind `,` operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Tenon_ScatterNDOp : Tenon_InferredOp<"scatter_nd", [Tenon_LoopNest, Tenon_ProvableIndices, DeclareOpInterfaceMethods<Tenon_ExtentRequirements>]> {
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
                       Tenon_AnyTensor:$updates, UnitAttr:$in_range);
  let extraClassDeclaration = compatible # [{
    ::tenon::OperandFusion getOperandFusion() { return ::tenon::OperandFusion::none; }
    mlir::AffineExpr countFlops() { return ::tenon::getDimConstant(getContext(), 0); }
  }];
  let results = (outs Tenon_AnyTensor:$result);
  let assemblyFormat = "`` $kind `,` operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Tenon_CheckRangeOp : Tenon_InferredOp<"check_range", [Tenon_ElementAccess]> {
  let summary = "ends the run with an error where an element is out of range";
  let description = [{
    The result is the input. `limits` are the smallest and the largest value that an
    element may have: what an operation takes for granted of lengths, labels, or
    positions that it does not index with.

    ```mlir
    %1 = tenon.check_range %0 {limits = #tenon.shape<0, N>} : (tensor<4xi64>) -> tensor<4xi64>
    ```
  }];
  let arguments = (ins Tenon_IndexTensor:$input, Tenon_ShapeAttr:$limits);
  let results = (outs Tenon_IndexTensor:$result);
  let hasVerifier = 1;
}

def Tenon_TopKOp : Tenon_Op<"top_k", [Tenon_LoopNest, Tenon_Discontinuous, DeclareOpInterfaceMethods<Tenon_ExtentRequirements>]> {
  let summary = "the k largest or smallest elements along a dimension, in order";
  let description = [{
    k is the extent of the results along `axis`, at most the input's; where it is
    the input's, the whole line is sorted. Equal elements keep their order: the
    lower index comes first. NaN counts as larger than every number.

    ```mlir
    %v, %i = tenon.top_k %0 {axis = 1 : i64, largest = true} : (tensor<2x8xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
    ```
  }];
  let arguments = (ins Tenon_NumberTensor:$input, I64Attr:$axis, DefaultValuedAttr<BoolAttr, "true">:$largest);
  let extraClassDeclaration = [{
    ::tenon::OperandFusion getOperandFusion() { return ::tenon::OperandFusion::none; }
    mlir::AffineExpr countFlops() { return ::tenon::getDimConstant(getContext(), 0); }
  }];
  let results = (outs Tenon_NumberTensor:$values, RankedTensorOf<[I64]>:$indices);
  let hasVerifier = 1;
}

def Tenon_SampleOp : Tenon_InferredOp<"sample", [Tenon_LoopNest, Tenon_Discontinuous]> {
  let summary = "an index of each line, drawn with probabilities in proportion to its elements";
  let description = [{
    `weights` is [lines..., elements], `filters` [lines..., 3] and `uniform`, numbers
    in [0, 1), [lines...]. Negative elements and NaN count as 0. What the filters of
    a line leave is drawn from, in their order: the k largest elements; of these the
    smallest set of largest ones with p of their sum; and those that are at least m
    times the largest one. Elements equal to the least of a set are in it. k is
    rounded down. k of less than 1, p outside of (0, 1), m of 0 or less and NaN leave
    all.

    The index is the first one up to which the elements that are left come to more
    than `uniform` of their sum; 0 where all elements are 0.

    ```mlir
    %3 = tenon.sample %0, %1, %2 : (tensor<2x9xf32>, tensor<2x3xf32>, tensor<2xf32>) -> tensor<2xi64>
    ```
  }];
  let arguments = (ins Tenon_FloatTensor:$weights, Tenon_FloatTensor:$filters, Tenon_FloatTensor:$uniform);
  let extraClassDeclaration = compatible # [{
    ::tenon::OperandFusion getOperandFusion() { return ::tenon::OperandFusion::none; }
    mlir::AffineExpr countFlops() { return ::tenon::getDimConstant(getContext(), 0); }
  }];
  let results = (outs RankedTensorOf<[I64]>:$result);
  let hasVerifier = 1;
}

def Tenon_SearchSortedOp : Tenon_InferredOp<"searchsorted", [Tenon_ElementAccess, Tenon_Discontinuous]> {
  let summary = "where each element stands, or would stand, among sorted keys";
  let description = [{
    The number of `keys` that come before the element. Keys ascend, and NaN comes
    after every number; as an element it finds the first NaN.

    ```mlir
    %2 = tenon.searchsorted %0, %1 : (tensor<2x3xf32>, tensor<10xf32>) -> tensor<2x3xi64>
    ```
  }];
  let arguments = (ins Tenon_NumberTensor:$input, Tenon_NumberTensor:$keys);
  let results = (outs RankedTensorOf<[I64]>:$result);
  let hasVerifier = 1;
}

def Tenon_TreeEnsembleOp : Tenon_InferredOp<"tree_ensemble", [Tenon_ElementAccess, Tenon_Discontinuous]> {
  let summary = "the leaf of each tree at which a row of features arrives";
  let description = [{
    `input` is [rows, features]. Trees share the tables `features`, `thresholds`,
    `modes`, `if_true` and `if_false`, which have one element a node; `roots`, of any
    shape, has the first node of each tree. The result is [rows, dimensions of
    `roots`...]. At a node with a negative feature the walk ends;
    else it goes on at `if_true` where the row's feature compares to the threshold
    as the mode says, and at `if_false` otherwise. Modes are 0 `<=`, 1 `<`, 2 `>=`,
    3 `>`, 4 `==` and 5 `!=`; 8 more, and a feature that is NaN counts as true.
    No node may be reached from itself.

    ```mlir
    %7 = tenon.tree_ensemble %x, %roots, %f, %t, %m, %a, %b
      : (tensor<5x3xf32>, tensor<2xi64>, tensor<7xi64>, tensor<7xf32>, tensor<7xi64>, tensor<7xi64>, tensor<7xi64>) -> tensor<5x2xi64>
    ```
  }];
  let arguments = (ins Tenon_FloatTensor:$input, RankedTensorOf<[I64]>:$roots, RankedTensorOf<[I64]>:$features,
                       Tenon_FloatTensor:$thresholds, RankedTensorOf<[I64]>:$modes, RankedTensorOf<[I64]>:$if_true,
                       RankedTensorOf<[I64]>:$if_false);
  let results = (outs RankedTensorOf<[I64]>:$result);
  let hasVerifier = 1;
}

def Tenon_NmsOp : Tenon_InferredOp<"nms", [Tenon_LoopNest, Tenon_Discontinuous, DeclareOpInterfaceMethods<Tenon_ExtentRequirements>]> {
  let summary = "the best boxes, without those that overlap one taken before";
  let description = [{
    `boxes` is [batch, box, 4], each two opposite corners y, x, y, x in any order;
    with `centers` a box is x, y, width, height. `scores` is [batch, class, box]. The
    boxes of a class whose score is above `threshold`, or all where there is none,
    are looked at from the highest score to the lowest, of equal ones in order. A box
    is taken unless the intersection with one taken before, by the union of both,
    exceeds `overlap`; at most `limit` are. Boxes without area overlap nothing.

    `selected` has the shape of `scores`: the boxes taken; `counts` says how many they
    are. The numbers after those mean nothing.

    ```mlir
    %s, %n = tenon.nms %boxes, %scores, %limit, %overlap, %threshold
      : (tensor<1x6x4xf32>, tensor<1x2x6xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> (tensor<1x2x6xi64>, tensor<1x2xi64>)
    ```
  }];
  let arguments = (ins Tenon_FloatTensor:$boxes, Tenon_FloatTensor:$scores, RankedTensorOf<[I64]>:$limit,
                       Tenon_FloatTensor:$overlap, Optional<Tenon_FloatTensor>:$threshold,
                       DefaultValuedAttr<BoolAttr, "false">:$centers);
  let extraClassDeclaration = compatible # [{
    ::tenon::OperandFusion getOperandFusion() { return ::tenon::OperandFusion::none; }
    mlir::AffineExpr countFlops() { return ::tenon::getDimConstant(getContext(), 0); }
  }];
  let results = (outs RankedTensorOf<[I64]>:$selected, RankedTensorOf<[I64]>:$counts);
  let hasVerifier = 1;
}

def Tenon_RoiAlignKind : Tenon_Enum<"RoiAlignKind", "how the samples of a cell are joined", [
  I32EnumCase<"average", 0>, I32EnumCase<"max", 1>]>;
def Tenon_RoiAlignKindAttr : Tenon_EnumAttr<Tenon_RoiAlignKind, "roi_align_kind">;

def Tenon_RoiAlignOp : Tenon_Op<"roi_align", [Tenon_ElementAccess, DeclareOpInterfaceMethods<Tenon_ExtentRequirements>]> {
  let summary = "samples regions of a feature map on grids of one size";
  let description = [{
    `input` is [batch, C, H, W], `rois` [R, 4] with two corners x, y, x, y, and
    `batches` [R] the image of each; the result is [R, C, cells of y, cells of x].
    Corners are multiplied by `scale`; `shift` is subtracted then, and where it is 0
    a region is at least 1 wide and high. A cell is sampled at `samples` points in
    each direction, evenly, or where that is 0 at as many as it covers elements,
    rounded up. A sample is bilinear; more than 1 outside of the map it is 0.
    `max` takes the largest of the samples' four weighted corners.

    ```mlir
    %3 = tenon.roi_align average, %x, %rois, %batches {scale = 1.0 : f64, shift = 0.5 : f64, samples = 2 : i64}
      : (tensor<1x3x10x10xf32>, tensor<2x4xf32>, tensor<2xi64>) -> tensor<2x3x5x5xf32>
    ```
  }];
  let arguments = (ins Tenon_RoiAlignKindAttr:$kind, Tenon_FloatTensor:$input, Tenon_FloatTensor:$rois,
                       Tenon_IndexTensor:$batches, F64Attr:$scale, F64Attr:$shift, I64Attr:$samples);
  let results = (outs Tenon_FloatTensor:$result);
  let assemblyFormat = "`` $kind `,` operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // TENON_INDEX_TD
