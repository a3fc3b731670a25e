//===- Shape.td - weights, sizes, and operations that move elements -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_SHAPE_TD
#define TENON_SHAPE_TD

include "dialects/tenon/TenonBase.td"

def Tenon_WeightOp : Tenon_Op<"weight", [ConstantLike, Tenon_ElementAccess, Tenon_NoKernel, AllTypesMatch<["value", "result"]>]> {
  let summary = "a constant tensor";
  let description = [{
    `value` is a dense attribute for a few elements, and a resource blob, which
    is never copied, for many. `name` is the initializer's name.

    ```mlir
    %0 = tenon.weight dense<[1.0, 2.0]> : tensor<2xf32> {name = "bias"}
    ```
  }];
  let arguments = (ins ElementsAttr:$value, OptionalAttr<StrAttr>:$name);
  let results = (outs Tenon_AnyTensor:$result);
  let assemblyFormat = "$value attr-dict";
  let hasFolder = 1;
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::ElementsAttr":$value, CArg<"::llvm::StringRef", "\"\"">:$name)>];
}

def Tenon_SizesOp : Tenon_Op<"sizes", [Tenon_ElementAccess, Tenon_NoKernel]> {
  let summary = "a tensor of integers that depend only on symbols";
  let description = [{
    The shape of a tensor, or arithmetic on such, as a value.

    ```mlir
    %0 = tenon.sizes #tenon.shape<N, 3, H * 2> -> tensor<3xi64>
    ```
  }];
  let arguments = (ins Tenon_ShapeAttr:$values);
  let results = (outs Tenon_NumberTensor:$result);
  let assemblyFormat = "qualified($values) attr-dict `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tenon_ReshapeOp : Tenon_Op<"reshape", [Tenon_ElementAccess, Tenon_NoKernel, Tenon_DataMovement, Tenon_ViewLike,
                                            DeclareOpInterfaceMethods<Tenon_IndexMap>, DeclareOpInterfaceMethods<Tenon_ExtentRequirements>]> {
  let summary = "reshapes a tensor, keeping the row-major order of its elements";
  let description = [{
    ```mlir
    %1 = tenon.reshape %0 : (tensor<2x6xf32>) -> tensor<3x4xf32>
    ```
  }];
  let arguments = (ins Tenon_AnyTensor:$input);
  let results = (outs Tenon_AnyTensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tenon_TransposeOp : Tenon_InferredOp<"transpose", [Tenon_ElementAccess, Tenon_DataMovement, Tenon_Recomputable, DeclareOpInterfaceMethods<Tenon_IndexMap>]> {
  let summary = "permutes dimensions";
  let description = [{
    Dimension i of the result is dimension `permutation[i]` of the input.

    ```mlir
    %1 = tenon.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
    ```
  }];
  let arguments = (ins Tenon_AnyTensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs Tenon_AnyTensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tenon_BroadcastOp : Tenon_Op<"broadcast", [Tenon_ElementAccess, Tenon_DataMovement, Tenon_Recomputable, DeclareOpInterfaceMethods<Tenon_IndexMap>]> {
  let summary = "broadcasts dimensions of extent 1, and adds leading dimensions";
  let description = [{
    ```mlir
    %1 = tenon.broadcast %0 : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
    ```
  }];
  let arguments = (ins Tenon_AnyTensor:$input);
  let results = (outs Tenon_AnyTensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tenon_SliceOp : Tenon_Op<"slice", [Tenon_ElementAccess, Tenon_DataMovement, Tenon_Recomputable, Tenon_ViewLike,
                                        DeclareOpInterfaceMethods<Tenon_IndexMap, ["keepsAllElements"]>, DeclareOpInterfaceMethods<Tenon_ExtentRequirements>]> {
  let summary = "takes a strided slice of a tensor";
  let description = [{
    Element i of a dimension of the result is element `start + i * step` of the
    input. Steps may be negative; every element read lies inside the input.

    ```mlir
    %1 = tenon.slice %0 {starts = #tenon.shape<0, 2>, steps = array<i64: 1, 2>} : (tensor<4x8xf32>) -> tensor<4x3xf32>
    ```
  }];
  let arguments = (ins Tenon_AnyTensor:$input, Tenon_ShapeAttr:$starts, DenseI64ArrayAttr:$steps);
  let results = (outs Tenon_AnyTensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tenon_PadOp : Tenon_Op<"pad", [Tenon_ElementAccess]> {
  let summary = "pads a tensor";
  let description = [{
    Along each dimension `low` elements come before the input's, `interior` ones
    between each two of them, and as many after as the result's type asks for.
    `low` may be negative, which cuts. In mode `constant` the new elements are
    `value`; `edge` repeats the border, `reflect` mirrors without repeating it,
    `wrap` starts again from the other side (`interior` is 0 in these).

    ```mlir
    %2 = tenon.pad constant, %0, %v {low = #tenon.shape<1, 0>, interior = array<i64: 0, 0>}
      : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x3xf32>
    ```
  }];
  let arguments = (ins Tenon_PadModeAttr:$mode, Tenon_AnyTensor:$input, Tenon_AnyTensor:$value, Tenon_ShapeAttr:$low,
                       DenseI64ArrayAttr:$interior);
  let results = (outs Tenon_AnyTensor:$result);
  let assemblyFormat = "`` $mode `,` operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Tenon_ConcatOp : Tenon_InferredOp<"concat", [Tenon_ElementAccess, Tenon_DataMovement, DeclareOpInterfaceMethods<Tenon_ExtentRequirements>]> {
  let summary = "concatenates tensors along a dimension";
  let description = [{
    ```mlir
    %2 = tenon.concat %0, %1 {axis = 0 : i64} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
    ```
  }];
  let arguments = (ins Variadic<Tenon_AnyTensor>:$inputs, I64Attr:$axis);
  let results = (outs Tenon_AnyTensor:$result);
  let hasFolder = 1;
}

def Tenon_UnpackOp : Tenon_Op<"unpack", [Tenon_ElementAccess, Tenon_Recomputable, Tenon_Unpacking]> {
  let summary = "undoes the packing of a dimension into panels";
  let description = [{
    The input stores dimension `axis` of the result in panels of `b` elements: its shape is
    [ceil(extent / b), the other dimensions in their order..., b], and element n along
    `axis` is element `n mod b` of panel `n floordiv b`. The elements of the last panel
    beyond the extent are not read. A kernel that processes one panel after the other reads
    contiguous memory.

    `k4_axis` names the last of the other dimensions. Groups of four elements along it are
    interleaved for each element of a panel, the layout of instructions that sum four int8
    products (VNNI packing): the input is [ceil(extent / b), the dimensions before it...,
    ceil(its extent / 4), 4 * b], and element (q, n) is element
    `n mod b * 4 + q mod 4`. Elements beyond its extent are zero.

    With `packed_i32_axis`, eight elements of type ui4, four of i8 or ui8, or two of i16 along that dimension are
    packed into an i32: the input has ceil(its extent / n) elements along it for n in an i32.
    Byte b of it is element b, with element b + 4 in its upper half if these are ui4: masked, each half
    is the operand of an instruction that sums four int8 products. Half h of it is element h if these are i16.
    Elements beyond the extent are zero.

    With `bits` as well, the elements are i32 of which the upper ones, 8 to 24, are significant
    and the lower ones are arbitrary. Groups that fill a whole number of i32 are packed
    (dialects/tenon/FixedNumbers.h); the extent of `packed_i32_axis` is a multiple of such a group.

    ```mlir
    %1 = tenon.unpack %0 {axis = 1 : i64} : (tensor<3x8x32xf32>) -> tensor<8x70xf32>
    %3 = tenon.unpack %2 {axis = 1 : i64, k4_axis = 0 : i64} : (tensor<3x2x128xi8>) -> tensor<7x70xi8>
    %5 = tenon.unpack %4 {axis = 0 : i64, packed_i32_axis = 1 : i64} : (tensor<3x2x32xi32>) -> tensor<70x16xui4>
    %7 = tenon.unpack %6 {axis = 1 : i64, packed_i32_axis = 0 : i64, bits = 20 : i64} : (tensor<3x10x32xi32>) -> tensor<16x70xi32>
    ```
  }];
  let arguments = (ins Tenon_AnyTensor:$input, I64Attr:$axis, OptionalAttr<I64Attr>:$k4_axis,
                       OptionalAttr<I64Attr>:$packed_i32_axis, OptionalAttr<I64Attr>:$bits);
  let results = (outs Tenon_AnyTensor:$result);
  let extraClassDeclaration = [{
    /// The number of elements along `axis` in a panel.
    int64_t getPanelColumns() { return getInput().getType().getShape().back() / (getK4Axis() ? 4 : 1); }
    /// Returns the number of elements along `dim`, which is not `axis`, that are packed or interleaved as a group.
    int64_t getNeighbours(int64_t dim);
    /// Returns the number of elements of the input that store such a group.
    int64_t getPackedI32s(int64_t dim);
    /// True if several integers of the result share an i32 and have no `bits` of their own.
    bool hasSmallIntegers() { return getPackedI32Axis() && !getBits(); }
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// f32 as sums of terms of bf16 or i8
//===----------------------------------------------------------------------===//

def Tenon_SplitTermsOp : Tenon_Op<"split_terms", [Tenon_ElementAccess]> {
  let summary = "split each f32 into a sum of terms of bf16 or i8";
  let description = [{
    The result has three dimensions in place of the last one: [steps, terms, step]. Element k of the last dimension is in step
    `k floordiv step`, at index `k mod step`, the largest term first. The last step is padded with zeros.

    The sum of terms of bf16 is the element. Three terms are exact: each holds the eight bits that follow those of the one before,
    without rounding. Two terms are rounded to nearest, with a relative error of at most 2^-17. Of an infinity, all terms but
    the first are NaN. Products of such terms are exact in f32: Henry, Tang and Heinecke, "Leveraging the bfloat16 Artificial
    Intelligence Datatype For Higher-Precision Computations" (2019).

    Terms of i8 are the digits of a fixed-point number: the sum of term i times 256^-i is the element, rounded to nearest. Elements
    beyond 127 in magnitude become 127, and NaN becomes a number. Sums of their products are exact in i32: Ootomo, Ozaki
    and Yokota, "DGEMM on Integer Matrix Multiplication Unit" (2024).

    ```mlir
    %1 = tenon.split_terms %0 : (tensor<7x60xf32>) -> tensor<7x2x3x30xbf16>
    ```
  }];
  let arguments = (ins Tenon_AnyTensor:$input);
  let results = (outs Tenon_AnyTensor:$result);
  let hasVerifier = 1;
}

def Tenon_MergeTermsOp : Tenon_Op<"merge_terms", [Tenon_ElementAccess, Tenon_Recomputable, Tenon_Unpacking]> {
  let summary = "sum the terms of each f32";
  let description = [{
    The inverse of `tenon.split_terms`. A kernel of a contraction reads the terms through it instead of their sum. An input of f32 or f16
    has one term, the element itself, which the kernel splits when it reads it.

    ```mlir
    %1 = tenon.merge_terms %0 : (tensor<7x2x3x30xbf16>) -> tensor<7x60xf32>
    ```
  }];
  let arguments = (ins Tenon_AnyTensor:$input);
  let results = (outs Tenon_AnyTensor:$result);
  let hasVerifier = 1;
}

def Tenon_UnpackTermsOp : Tenon_Op<"unpack_terms", [Tenon_ElementAccess, Tenon_Recomputable, Tenon_Unpacking]> {
  let summary = "sum the terms of a weight that is packed in panels";
  let description = [{
    The input holds dimension `axis` of the result in panels of b columns, and dimension `depth_axis` in steps of terms:
    it is [ceil(extent / b), the other dimensions in their order..., steps, terms, step / g, g * b]. Of g neighbours along `depth_axis`,
    two, or four of i8, all are adjacent, as instructions for dot products need them: the terms of element (k, n) are at step
    `k floordiv step`, row `k mod step floordiv g`, index `g * (n mod b) + k mod g` of panel `n floordiv b`. Both extents are
    padded with zeros. An input of f32 has one term, the element itself, which a kernel splits when it reads it.

    ```mlir
    %1 = tenon.unpack_terms %0 {axis = 1 : i64, depth_axis = 0 : i64} : (tensor<3x2x3x15x32xbf16>) -> tensor<60x40xf32>
    ```
  }];
  let arguments = (ins Tenon_AnyTensor:$input, I64Attr:$axis, I64Attr:$depth_axis);
  let results = (outs Tenon_AnyTensor:$result);
  let extraClassDeclaration = [{
    /// Of the last dimensions of the input.
    int64_t getNumTerms() { return getInput().getType().getShape().end()[-3]; }
    int64_t getStep() { return getNeighbours() * getInput().getType().getShape().end()[-2]; }
    int64_t getPanelColumns() { return getInput().getType().getShape().back() / getNeighbours(); }
    /// Elements along `depth_axis` that are adjacent.
    int64_t getNeighbours() { return getInput().getType().getElementType().isInteger(8) ? 4 : 2; }
  }];
  let hasVerifier = 1;
}

def Tenon_IotaOp : Tenon_Op<"iota", [Tenon_ElementAccess, Tenon_Recomputable]> {
  let summary = "fills a tensor with indices along a dimension";
  let description = [{
    Each element is its own index along `axis`.

    ```mlir
    %0 = tenon.iota {axis = 1 : i64} : () -> tensor<2x3xi64>
    ```
  }];
  let arguments = (ins I64Attr:$axis);
  let results = (outs Tenon_NumberTensor:$result);
  let assemblyFormat = "attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // TENON_SHAPE_TD
