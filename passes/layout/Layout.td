//===- Layout.td - passes of layouts of operands --------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_LAYOUT_TD
#define TENON_PASSES_LAYOUT_TD

include "mlir/Pass/PassBase.td"

def ChooseLayouts : Pass<"tenon-choose-layouts", "::mlir::func::FuncOp"> {
  let summary = "choose a channels-last layout for convolutions";
  let description = [{
    Convolutions of f32 work on [N, spatial..., C]: the channels of a pixel are
    neighbours, so that vectors of them need no border, and each convolution is
    a matrix product with an operand that has to be packed once. Transposes sink
    through elementwise operations, pads, pools, concats, slices, gathers, reductions, and reshapes of images to lengths.

    ```mlir
    %1 = tenon.convolve %x, %f ...
    // ==>
    %0 = tenon.transpose %x {permutation = array<i64: 0, 2, 3, 1>} ...
    %1 = tenon.transpose %f {permutation = array<i64: 2, 3, 1, 0>} ...
    %2 = tenon.convolve %0, %1 ... {channels_last}
    %3 = tenon.transpose %2 {permutation = array<i64: 0, 3, 1, 2>} ...
    ```
  }];
}

def FlattenBatchDims : Pass<"tenon-flatten-batch-dims", "::mlir::func::FuncOp"> {
  let summary = "flatten the batch dimensions of matmuls";
  let description = [{
    A contraction of [m..., k] with a matrix gets a single dimension of rows, and a 1 x 1
    convolution (channels last) becomes such a contraction. Elementwise operations that
    follow are flattened, too.

    ```mlir
    %1 = tenon.contract %x, %w ... : (tensor<2x5x8xf32>, tensor<8x64xf32>) -> tensor<2x5x64xf32>
    // ==>
    %0 = tenon.reshape %x : (tensor<2x5x8xf32>) -> tensor<10x8xf32>
    %1 = tenon.contract %0, %w ... : (tensor<10x8xf32>, tensor<8x64xf32>) -> tensor<10x64xf32>
    %2 = tenon.reshape %1 : (tensor<10x64xf32>) -> tensor<2x5x64xf32>
    ```
  }];
}

def HoistReshapes : Pass<"tenon-hoist-reshapes", "::mlir::func::FuncOp"> {
  let summary = "hoist reshapes above slices and transposes";
  let description = [{
    A reshape of a tensor in memory is a view of it. After a slice or a transpose it
    would prevent their fusion into the kernel that reads them.

    ```mlir
    %1 = tenon.slice %x {starts = #tenon.shape<0, 64>, ...} : (tensor<7x192xf32>) -> tensor<7x64xf32>
    %2 = tenon.reshape %1 : (tensor<7x64xf32>) -> tensor<7x4x16xf32>
    // ==>
    %1 = tenon.reshape %x : (tensor<7x192xf32>) -> tensor<7x12x16xf32>
    %2 = tenon.slice %1 {starts = #tenon.shape<0, 4, 0>, ...} : (tensor<7x12x16xf32>) -> tensor<7x4x16xf32>
    ```
  }];
}

def TransposeMatmulOperands : Pass<"tenon-transpose-matmul-operands", "::mlir::func::FuncOp"> {
  let summary = "transpose matmul operands that are not contiguous along the columns";
  let description = [{
    Kernels vectorize float matmuls along the columns, the last dimension of the result. If the columns are contiguous in
    neither operand, the one that has them is transposed: one pass over it instead of gathers. A vector-matrix product whose
    matrix is contiguous along the sum is left alone, since it is vectorized along the sum. A large matrix is packed into
    panels as weights are, and so is the signed operand of an int8 matmul, interleaved by four.

    Runs after `tenon-fuse-attention`, whose kernels read keys as they lie.

    ```mlir
    %1 = tenon.contract %x, %y {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
      : (tensor<64x32xf32>, tensor<48x32xf32>) -> tensor<64x48xf32>
    // ==>
    %0 = tenon.transpose %y {permutation = array<i64: 1, 0>} : (tensor<48x32xf32>) -> tensor<32x48xf32>
    %1 = tenon.contract %x, %0 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
      : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
    ```
  }];
}

def TransposeMasks : Pass<"tenon-transpose-masks", "::mlir::func::FuncOp"> {
  let summary = "transpose constant attention masks to the layout of the scores";
  let description = [{
    Kernels of attention keep scores as [key][query], with queries along the vectors. A weight that is added to them, a bias
    of positions or a mask, is stored as [..., keys, queries], queries up to a multiple of those that are done
    together, so that a kernel reads it where it lies instead of transposing it again and again.

    Runs after `tenon-fuse-attention`.

    ```mlir
    ^bb0(%s: tensor<1x4x49x49xf32>):
      %0 = tenon.add %s, %bias : (tensor<1x4x49x49xf32>, tensor<4x49x49xf32>) -> tensor<1x4x49x49xf32>
    // ==>
    ^bb0(%s: tensor<1x4x49x49xf32>):
      %0 = tenon.transpose %mask {permutation = array<i64: 0, 2, 1>} : (tensor<4x49x64xf32>) -> tensor<4x64x49xf32>
      %1 = tenon.slice %0 {starts = #tenon.shape<0, 0, 0>, ...} : (tensor<4x64x49xf32>) -> tensor<4x49x49xf32>
      %2 = tenon.add %s, %1 : (tensor<1x4x49x49xf32>, tensor<4x49x49xf32>) -> tensor<1x4x49x49xf32>
    ```
  }];
}

def PadConvolutions : Pass<"tenon-pad-convolutions", "::mlir::func::FuncOp"> {
  let summary = "materialize the padding of convolutions without border handling";
  let description = [{
    A convolution that becomes register-blocked loops (channels last, a constant
    filter, one group or one a channel) never reads beyond the border. For
    any other one a copy of the input with its border costs less than a test for
    each element that it reads.

    Runs after `tenon-fold-constants`, which makes filters weights, and before
    `tenon-prepack-weights`.

    ```mlir
    %1 = tenon.convolve %x, %f {low = array<i64: 1>, high = array<i64: 1>, ...} : (tensor<1x4x6xf16>, ...
    // ==>
    %0 = tenon.pad constant, %x, %zero ... -> tensor<1x4x8xf16>
    %1 = tenon.convolve %0, %f {low = array<i64: 0>, high = array<i64: 0>, ...} : (tensor<1x4x8xf16>, ...
    ```
  }];
}

def PrepackWeights : Pass<"tenon-prepack-weights", "::mlir::func::FuncOp"> {
  let summary = "pack weights into the layout that kernels read";
  let description = [{
    A weight that a contraction or a convolution (channels last) reads along the
    innermost loop of its result is stored in panels of that dimension: a kernel
    reads each from one end to the other. An unpack tells what the operand was.
    Signed bytes that are multiplied with unsigned ones are stored four of the innermost summed dimension together. What is
    dequantised or widened for a product is packed as it is, with scales and zero points beside it; eight numbers of four
    bits that are summed one after the other share a word. On the paths `fixed24` to `fixed8` the weight
    becomes integers of so many bits, groups of which share words, and a scale for each column.

    ```mlir
    %2 = tenon.contract %x, %w ... : (tensor<4x8xf32>, tensor<8x64xf32>) -> tensor<4x64xf32>
    // ==>
    %0 = tenon.weight ... : tensor<2x8x32xf32>
    %1 = tenon.unpack %0 {axis = 1 : i64} : (tensor<2x8x32xf32>) -> tensor<8x64xf32>
    %2 = tenon.contract %x, %1 ...
    ```
  }];
}

#endif // TENON_PASSES_LAYOUT_TD
