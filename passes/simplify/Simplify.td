//===- Simplify.td - passes of simplification -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_SIMPLIFY_TD
#define TENON_PASSES_SIMPLIFY_TD

include "mlir/Pass/PassBase.td"

def Decompose : Pass<"tenon-decompose", "::mlir::func::FuncOp"> {
  let summary = "decompose composite operations";
  let description = [{
    Always takes apart what kernels have no form of its own for: batch
    normalisations (two weights, that then fold), kept dimensions of reductions,
    products of matrices without elements. With `all` also the composites that a kernel
    can compute whole: the alternative path, and the meaning they are tested by.
  }];
  let options = [
    Option<"all", "all", "bool", "false", "leave no composite operation">
  ];
}

def Simplify : Pass<"tenon-simplify", "::mlir::func::FuncOp"> {
  let summary = "fold scales into convolutions and reduce the strength of operations";
  let description = [{
    - A product of a convolution and one constant a channel (what is left of a
      batch normalisation) becomes part of the filter, which `tenon-fold-constants`
      computes; sums before it are multiplied out.
    - Zeros around the input of convolutions become padding of theirs.
    - A convolution of an input with zeros between its pixels, as a transposed convolution is, becomes one
      of the pixels that gives several results for each.
    - Products of the same rows with a matrix and with the factors of a low-rank update, x W + s (x A) B, become one with
      W + s A B (LowRankUpdates.h).
    - Powers with small exponents become products and roots.
    - A transpose that moves nothing but dimensions of 1 becomes a reshape, which
      costs nothing.
    - A scatter that assigns to a range of indices, as exporters write an assignment to a slice, becomes a concat of
      what lies before the range, the updates, and what lies behind it; a gather from a range becomes a slice. Indices are a range
      if they are an affine function of their position (a constant, or sums and products of iotas, sizes and constants)
      and in bounds for all sizes. Transposes around such a scatter cancel.

    Runs after `tenon-decompose` and before `tenon-fold-constants`.

    ```mlir
    %1 = tenon.convolve %x, %w ...
    %2 = tenon.mul %1, %scale          // %scale : tensor<4x1x1xf32>, constant
    // ==>
    %0 = tenon.mul %w, %scale'         // %scale' : tensor<4x1x1x1xf32>
    %2 = tenon.convolve %x, %0 ...
    ```
  }];
}

def LowerQuantizedMatmuls : Pass<"tenon-lower-quantized-matmuls", "::mlir::func::FuncOp"> {
  let summary = "rewrite quantized matmuls and convolutions to integer arithmetic";
  let description = [{
    A contraction or an ungrouped convolution of dequantized 8-bit values and a constant becomes an integer one of u8
    and i8 operands, for which processors have dot-product instructions. Zero points are factored out:

        sum (x - p) (w - q) = sum x w - p sum (w - q) - q sum x

    where sums of constants are left to `tenon-fold-constants`. So does a contraction of 32 bits of which neither factor is
    a constant: the one that has the columns of the result becomes signed. Signed inputs and unsigned weights are
    shifted by 128 with their zero points. These products are exact modulo 2^32, as those before. A convolution whose
    input has a zero point other than 0 gets that as its border. One whose filters have a zero point takes that times the sums of what
    windows see from the result.

    Scales are taken out of a product of dequantised numbers: the sum of integers is exact and rounded once, where sums of
    f32 round for each product; and a division by a constant that follows, or whose quotient is rounded to an integer, as a
    quantisation has it, becomes a multiplication. So a result differs by some units in the last place of the f32 before
    it is quantised again, and what lies at a half may go either way.

    Runs after `tenon-simplify`, which leaves transposes of weights to contractions, and before
    `tenon-choose-layouts`.

    ```mlir
    %1 = tenon.mul %x', %s : f32             // %x' = f32(i32(%x) - %p)
    %3 = tenon.mul %w', %t : f32             // %w' = f32(i32(%w))
    %4 = tenon.contract %1, %3 ... f32
    // ==>
    %1 = tenon.contract %x, %w ... {result_type = i32} : (tensor<4x8xui8>, tensor<8x5xi8>) -> tensor<4x5xi32>
    %2 = tenon.sub %1, %c                    // %c = %p * (sums of the columns of %w)
    %4 = tenon.mul %2', %st                  // %2' = f32(%2), %st = %s * %t
    ```
  }];
}

def KeepWeightsQuantized : Pass<"tenon-keep-weights-quantized", "::mlir::func::FuncOp"> {
  let summary = "keep the weights of float matmuls quantized (weight-only dequantization)";
  let description = [{
    A constant matrix of bytes less zero points, times scales, that a product of floats reads becomes a
    `tenon.dequantize`, and so does what a gather reads: kernels dequantise what they have just
    loaded. A dequantised embedding is gathered first. Numbers of four bits become unsigned
    ones, with zero points.

    Runs after `tenon-lower-quantized-matmuls`, which makes products of bytes where both factors are quantised, and before
    `tenon-fold-constants`.

    ```mlir
    %2 = tenon.mul %w', %s                 // %w' = f32(i32(%w) - %z), constants
    %3 = tenon.contract %x, %2 ...
    // ==>
    %2 = tenon.dequantize %w, %s', %z' {axis = 0 : i64, block = 64 : i64}
    %3 = tenon.contract %x, %2 ...
    ```
  }];
}

def PromoteAccumulators : Pass<"tenon-promote-accumulators", "::mlir::func::FuncOp"> {
  let summary = "promote the accumulators of f16 and bf16 matmuls to f32";
  let description = [{
    An f16 or bf16 contraction with a weight becomes an f32 one whose operands are casts. The weight keeps its type in
    memory, and kernels convert elements as they load them. Sums were accumulated in f32 before, and are rounded to the
    same type.

    If an f32 contraction shares the cast of its weight with others, the cast is duplicated, so that each kernel converts
    what it loads.

    Runs after `tenon-fold-constants`, which would fold the cast, and before `tenon-prepack-weights`; with `all` also after
    `tenon-fuse-attention`, which matches reduced-precision contractions without a weight.

    ```mlir
    %1 = tenon.contract %x, %w ... : (tensor<4x8xf16>, tensor<8x64xf16>) -> tensor<4x64xf16>
    // ==>
    %0 = tenon.cast %x : (tensor<4x8xf16>) -> tensor<4x8xf32>
    %1 = tenon.cast %w : (tensor<8x64xf16>) -> tensor<8x64xf32>
    %2 = tenon.contract %0, %1 ...
    %3 = tenon.cast %2 : (tensor<4x64xf32>) -> tensor<4x64xf16>
    ```
  }];
  let options = [Option<"all", "all", "bool", "false", "also matmuls without a weight">];
}

def LowerToLookupTables : Pass<"tenon-lower-to-lookup-tables", "::mlir::func::FuncOp"> {
  let summary = "lower costly functions of 8-bit integers to lookup tables";
  let description = [{
    An elementwise function of one 8-bit tensor and scalar constants that returns an 8-bit tensor has at most 256 results,
    which `tenon-fold-constants` computes with the operations themselves: results are the same. Cheap functions (sums,
    products) are left alone, since vector instructions are as fast.

    Runs after `tenon-flatten-batch-dims`, since rows collapse element by element, and before `tenon-fold-constants`.

    ```mlir
    %5 = tenon.cast %4 : (tensor<8x64xf32>) -> tensor<8x64xui8>    // %4 = ... erf ... f32(%x)
    // ==>
    %5 = tenon.gather %table, %x' {axis = 0 : i64} : (tensor<256xui8>, tensor<8x64xi32>) -> tensor<8x64xui8>
    ```
  }];
}

def FoldConstants : Pass<"tenon-fold-constants", "::mlir::ModuleOp"> {
  let summary = "fold operations whose operands are constant";
  let description = [{
    Collects the operations of main whose operands are all constant, has them
    computed, and puts weights in their place. What computes them is a callback:
    the compiler compiles and runs them like any model. Results that are much
    larger than what they are made of stay as they are, since the artifact would
    grow.
  }];
  let options = [
    Option<"maxGrowthBytes", "max-growth-bytes", "int64_t", "1048576",
           "bytes that a result may have beyond those of its operands">
  ];
  let statistics = [Statistic<"numFolded", "folded", "operations computed">];
}

#endif // TENON_PASSES_SIMPLIFY_TD
