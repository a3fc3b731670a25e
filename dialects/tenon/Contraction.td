//===- Contraction.td - sums of products, reductions, windows -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_CONTRACTION_TD
#define TENON_CONTRACTION_TD

include "dialects/tenon/TenonBase.td"

def Tenon_ContractOp : Tenon_InferredOp<"contract", [Tenon_LoopNest, DeclareOpInterfaceMethods<Tenon_ExtentRequirements>]> {
  let summary = "sums products of elements over shared dimensions";
  let description = [{
    An einsum of two operands, `out[...] = sum lhs[...] * rhs[...]`. Each array
    gives, for each dimension of an operand or of the result, the number of the
    index that runs over it. An index that the result lacks is summed over; one
    index has one extent wherever it occurs, or 1, which stretches.

    Sums of f16 and bf16 are carried in f32. Integers wrap around at the width
    of the result, which is the operands' element type unless `result_type` says
    otherwise.

    ```mlir
    // [b, m, k] x [k, n] -> [b, m, n]
    %2 = tenon.contract %0, %1 {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 3, 2>,
                                result_dims = array<i64: 0, 1, 2>}
      : (tensor<2x4x8xf32>, tensor<8x5xf32>) -> tensor<2x4x5xf32>
    ```
  }];
  let arguments = (ins Tenon_NumberTensor:$lhs, Tenon_NumberTensor:$rhs, DenseI64ArrayAttr:$lhs_dims,
                       DenseI64ArrayAttr:$rhs_dims, DenseI64ArrayAttr:$result_dims,
                       OptionalAttr<TypeAttr>:$result_type);
  let extraClassDeclaration = compatible # [{
    ::tenon::OperandFusion getOperandFusion() { return ::tenon::OperandFusion::movement; }
    mlir::AffineExpr countFlops();
    bool allowsEpilogue() { return true; }
    bool rereadsOperands() { return true; }
  }];
  let results = (outs Tenon_NumberTensor:$result);
  let hasVerifier = 1;
}

def Tenon_ConvolveOp : Tenon_InferredOp<"convolve", [Tenon_LoopNest, DeclareOpInterfaceMethods<Tenon_ExtentRequirements>]> {
  let summary = "slides filters over the spatial dimensions";
  let description = [{
    `input` is [N, C, spatial...], `filter` [F, C / groups, window...], the
    result [N, F, spatial...]. With stride s, dilation d and padding `low`:

        out[n, f, o...] = sum over c, w of input[n, c, o * s + w * d - low...] * filter[f, c, w...]

    where the input reads as 0 outside of its bounds. A result extent is
    `(in + low + high - ((window - 1) * d + 1)) floordiv s + 1`.

    With `channels_last` the input is [N, spatial..., C], the filter [window..., C / groups, F] and the result
    [N, spatial..., F].

    ```mlir
    %2 = tenon.convolve %0, %1 {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>,
                                low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64}
      : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32>
    ```
  }];
  let arguments = (ins Tenon_NumberTensor:$input, Tenon_NumberTensor:$filter, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high,
                       I64Attr:$groups, OptionalAttr<TypeAttr>:$result_type, UnitAttr:$channels_last);
  let extraClassDeclaration = [{
    ::tenon::OperandFusion getOperandFusion() { return ::tenon::OperandFusion::movement; }
    mlir::AffineExpr countFlops();
    bool allowsEpilogue() { return true; }
    bool rereadsOperands() { return true; }
    /// The positions of the channels and of the first spatial dimension in the operands.
    int64_t getChannelDim() { return getChannelsLast() ? getType().getRank() - 1 : 1; }
    int64_t getFirstSpatialDim() { return getChannelsLast() ? 1 : 2; }
    /// The dimensions of the filter for the channels of a group, for the filters, and the first one of the window.
    int64_t getFilterChannelDim() { return getChannelsLast() ? getType().getRank() - 2 : 1; }
    int64_t getFilterDim() { return getChannelsLast() ? getType().getRank() - 1 : 0; }
    int64_t getFirstWindowDim() { return getChannelsLast() ? 0 : 2; }
  }];
  let results = (outs Tenon_NumberTensor:$result);
  let hasVerifier = 1;
}

def Tenon_WinogradOp : Tenon_InferredOp<"winograd", [Tenon_LoopNest]> {
  let summary = "convolves with the Winograd algorithm";
  let description = [{
    A tenon.convolve of two spatial dimensions, channels last, strides and dilations of 1, one group, whose square
    filter of `window` elements a side was transformed for squares of `outputs` x `outputs` result elements (Lavin and
    Gray, "Fast Algorithms for Convolutional Neural Networks", 2016). With a = outputs + window - 1 the filter is
    [panels, a * a, C, columns]: its filters in panels, zeros beyond the last of the `filters` that there are.
    `tile` says how many rows, columns and filters of the result are to be computed at a time, whole squares and panels.

    An input of unsigned bytes has a filter of i32, [panels, a * a, (C + 1) / 2, columns], each of which holds two words: those of
    two neighbouring channels, the first one lower. The result is of i32 then, and exact.

    An input of f32 may have a filter of bf16, [panels, a * a, pairs, 2 * columns]: for each filter of a panel the elements of two
    neighbouring channels, zeros beyond the last channel. The transformed input is rounded to bf16 then, too, and the sums of the
    products are f32, as the result is.

    Or it has a filter of i32 as unsigned bytes have: the transformed input is rounded to i16 then, with a scale for each point of each
    square, so that no sum of products exceeds i32. The result is of f32; what its filters are scaled by is applied to it afterwards.

    ```mlir
    %2 = tenon.winograd %0, %1 {filters = 48 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>,
                                outputs = 4 : i64, tile = array<i64: 4, 56, 64>, window = 3 : i64}
      : (tensor<1x56x56x64xf32>, tensor<2x36x64x32xf32>) -> tensor<1x56x56x48xf32>
    ```
  }];
  let arguments = (ins Tenon_NumberTensor:$input, Tenon_NumberTensor:$filter, DenseI64ArrayAttr:$low,
                       DenseI64ArrayAttr:$high, I64Attr:$outputs, I64Attr:$window, I64Attr:$filters,
                       DenseI64ArrayAttr:$tile);
  let extraClassDeclaration = compatible # [{
    ::tenon::OperandFusion getOperandFusion() { return ::tenon::OperandFusion::none; }
    mlir::AffineExpr countFlops();
    bool allowsEpilogue() { return true; }
    bool rereadsOperands() { return true; }
  }];
  let results = (outs Tenon_NumberTensor:$result);
  let hasVerifier = 1;
}

def Tenon_PoolOp : Tenon_InferredOp<"pool", [Tenon_LoopNest]> {
  let summary = "combines the elements of a sliding window";
  let description = [{
    `input` is [N, C, spatial...]. Padding never counts as an element: the
    maximum ignores it, and the average divides by the elements inside, or by
    the window's whole size (what `low` and `high` add included, what a rounded-up
    extent adds not) where `count_padding` is set.
    With `ceil` the extents round up, as long as a window starts inside the
    input or its low padding. With `channels_last` both are [N, spatial..., C].

    ```mlir
    %1 = tenon.pool max, %0 {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>,
                             low = array<i64: 0, 0>, high = array<i64: 0, 0>}
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
    ```
  }];
  let arguments = (ins Tenon_PoolKindAttr:$kind, Tenon_NumberTensor:$input, DenseI64ArrayAttr:$window,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$low,
                       DenseI64ArrayAttr:$high, DefaultValuedAttr<BoolAttr, "false">:$ceil,
                       DefaultValuedAttr<BoolAttr, "false">:$count_padding, UnitAttr:$channels_last);
  let extraClassDeclaration = [{
    ::tenon::OperandFusion getOperandFusion() { return ::tenon::OperandFusion::movement; }
    mlir::AffineExpr countFlops() { return ::tenon::getElementCount(getInput()); }
    bool allowsEpilogue() { return true; }
    bool rereadsOperands() { return true; }
    /// The positions of the channels and of the first spatial dimension in the operands.
    int64_t getChannelDim() { return getChannelsLast() ? getType().getRank() - 1 : 1; }
    int64_t getFirstSpatialDim() { return getChannelsLast() ? 1 : 2; }
  }];
  let results = (outs Tenon_NumberTensor:$result);
  let assemblyFormat = "`` $kind `,` operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Tenon_ReduceOp : Tenon_InferredOp<"reduce", [Tenon_LoopNest]> {
  let summary = "combines the elements along dimensions";
  let description = [{
    `axes` are sorted, distinct and not negative. With `keepdims` each stays as 1.
    Of no elements at all the sum is 0, the product 1, the maximum the lowest and
    the minimum the highest value of the type (infinities for floats). NaN
    propagates. Sums of f16 and bf16 are carried in f32.

    ```mlir
    %1 = tenon.reduce sum, %0 {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
    ```
  }];
  let arguments = (ins Tenon_ReduceKindAttr:$kind, Tenon_NumberTensor:$input, DenseI64ArrayAttr:$axes,
                       DefaultValuedAttr<BoolAttr, "false">:$keepdims);
  let extraClassDeclaration = compatible # [{
    ::tenon::OperandFusion getOperandFusion() { return ::tenon::OperandFusion::any; }
    mlir::AffineExpr countFlops() { return ::tenon::getElementCount(getInput()); }
    bool allowsEpilogue() { return true; }
  }];
  let results = (outs Tenon_NumberTensor:$result);
  let assemblyFormat = "`` $kind `,` operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Tenon_ArgReduceOp : Tenon_InferredOp<"arg_reduce", [Tenon_LoopNest, Tenon_Discontinuous]> {
  let summary = "the index of the largest or smallest element along a dimension";
  let description = [{
    `kind` is `max` or `min`. Of equal elements the first counts, or the last
    where `last` is set. The result is i64.

    ```mlir
    %1 = tenon.arg_reduce max, %0 {axis = 1 : i64, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xi64>
    ```
  }];
  let arguments = (ins Tenon_ReduceKindAttr:$kind, Tenon_NumberTensor:$input, I64Attr:$axis,
                       DefaultValuedAttr<BoolAttr, "false">:$keepdims,
                       DefaultValuedAttr<BoolAttr, "false">:$last);
  let extraClassDeclaration = compatible # [{
    ::tenon::OperandFusion getOperandFusion() { return ::tenon::OperandFusion::any; }
    mlir::AffineExpr countFlops() { return ::tenon::getDimConstant(getContext(), 0); }
  }];
  let results = (outs RankedTensorOf<[I64]>:$result);
  let assemblyFormat = "`` $kind `,` operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Tenon_ScanOp : Tenon_InferredOp<"scan", [Tenon_LoopNest]> {
  let summary = "running sums or products along a dimension";
  let description = [{
    `kind` is `sum` or `prod`. With `exclusive` an element does not count itself;
    with `reverse` the run goes from the end.

    ```mlir
    %1 = tenon.scan sum, %0 {axis = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Tenon_ReduceKindAttr:$kind, Tenon_NumberTensor:$input, I64Attr:$axis,
                       DefaultValuedAttr<BoolAttr, "false">:$exclusive,
                       DefaultValuedAttr<BoolAttr, "false">:$reverse);
  let extraClassDeclaration = compatible # [{
    ::tenon::OperandFusion getOperandFusion() { return ::tenon::OperandFusion::movement; }
    mlir::AffineExpr countFlops() { return ::tenon::getElementCount(getInput()); }
    bool rereadsOperands() { return true; }
  }];
  let results = (outs Tenon_NumberTensor:$result);
  let assemblyFormat = "`` $kind `,` operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Tenon_LuOp : Tenon_InferredOp<"lu", [Tenon_LoopNest, DeclareOpInterfaceMethods<Tenon_ExtentRequirements>]> {
  let summary = "factors square matrices into triangles";
  let description = [{
    The last two dimensions are the matrix. In `factors` the upper triangle with the
    diagonal is U, what lies below is L without its diagonal of ones; L * U is the
    input with rows exchanged so that each pivot is the largest of its column.
    `sign` is 1 where the number of exchanges is even, else -1.

    ```mlir
    %f, %s = tenon.lu %0 : (tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2xf32>)
    ```
  }];
  let arguments = (ins RankedTensorOf<[F32, F64]>:$input);
  let extraClassDeclaration = compatible # [{
    ::tenon::OperandFusion getOperandFusion() { return ::tenon::OperandFusion::none; }
    mlir::AffineExpr countFlops() { return ::tenon::getDimConstant(getContext(), 0); }
  }];
  let results = (outs RankedTensorOf<[F32, F64]>:$factors, RankedTensorOf<[F32, F64]>:$sign);
  let hasVerifier = 1;
}

#endif // TENON_CONTRACTION_TD
