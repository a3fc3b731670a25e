//===- Passes.td - every pass of Tenon ------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//


#ifndef TENON_PASSES_TD
#define TENON_PASSES_TD

include "mlir/Pass/PassBase.td"
include "passes/forms/Forms.td"
include "passes/memory/Memory.td"
include "passes/precision/Precision.td"
include "passes/verify/Verify.td"

//===----------------------------------------------------------------------===//
// shape
//===----------------------------------------------------------------------===//

def InferShapes : Pass<"tenon-infer-shapes", "::mlir::func::FuncOp"> {
  let summary = "refine result shapes from operand shapes";
  let description = [{
    The types of arguments may have been written by hand, or made more precise.
    From first to last operation, results whose extents are unknown or symbolic
    get what type inference derives from the operands; what is known already
    stays. Shapes that contradict each other are errors.

    ```mlir
    %1 = tenon.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<?xf32>
    // ==>
    %1 = tenon.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let statistics = [Statistic<"numRefined", "refined", "results of which more is known">];
}

def CollectRequirements : Pass<"tenon-collect-requirements", "::mlir::ModuleOp"> {
  let summary = "collect the equalities of symbols that operations require";
  let description = [{
    Where two extents that meet in an operation are different expressions, none
    of them known to be 1, the operation can only work if they are equal. That
    becomes a requirement of the program, checked when sizes are bound: no
    kernel tests it again, and none reads beyond a tensor.

    What the module says of symbols, `tenon.ranges` and `tenon.requires`, moves to
    each of its public functions. Relies on shapes being inferred; runs before
    `tenon-specialize`.
  }];
}

def ProveIndices : Pass<"tenon-prove-indices", "::mlir::func::FuncOp"> {
  let summary = "prove that indices are in range";
  let description = [{
    Gathers and scatters whose indices are in range however the model runs get
    `in_range`: constants, positions along the dimension, the smaller of an index
    and the last position, indices that a search or a sort gives. Their kernels
    check nothing. A `tenon.check_range` that always holds disappears.

    ```mlir
    %1 = tenon.arg_reduce max, %0 {axis = 1 : i64, ...} : (tensor<4x8xf32>) -> tensor<4xi64>
    %2 = tenon.gather %table, %1 {axis = 0 : i64} : (tensor<8x16xf32>, tensor<4xi64>) -> tensor<4x16xf32>
    // ==>
    %2 = tenon.gather %table, %1 {axis = 0 : i64, in_range} : (tensor<8x16xf32>, tensor<4xi64>) -> tensor<4x16xf32>
    ```
  }];
  let statistics = [Statistic<"numProven", "proven", "operations whose indices are in range">];
}

def ApplyFacts : Pass<"tenon-apply-facts", "::mlir::func::FuncOp"> {
  let summary = "simplify extents by known ranges and equalities of symbols";
  let description = [{
    A function's facts are its `tenon.ranges` and `tenon.requires`, and what its
    operations bind (dialects/tenon/Facts.h). With them

    - a symbol that has one value, or is bound to a known one, becomes that value;
    - of two symbols of inputs that have to be equal, one stays: binding it
      compares the inputs;
    - extents that are equal are written the same;
    - a requirement that always holds disappears;
    - what `tenon.bind` binds gets a bound, where one follows from how it is computed
      (`ValueBounds`): the smaller of two, a remainder, an index, a count.

    Runs after `tenon-collect-requirements`; `tenon-infer-shapes` then finds what
    follows for results.

    ```mlir
    func.func @main(%a: tensor<?xf32, #tenon.shape<N>>, %b: tensor<?xf32, #tenon.shape<M>>)
        attributes {tenon.requires = #tenon.shape<N + M * -1, M + N * -1>}
    // ==>
    func.func @main(%a: tensor<?xf32, #tenon.shape<N>>, %b: tensor<?xf32, #tenon.shape<N>>)
    ```
  }];
  let statistics = [
    Statistic<"numReplaced", "replaced", "symbols that something else stands for">,
    Statistic<"numProven", "proven", "requirements that always hold">
  ];
}

def Specialize : Pass<"tenon-specialize", "::mlir::ModuleOp"> {
  let summary = "specialize main for ranges of sizes";
  let description = [{
    Each of `programs` becomes a copy of main with these ranges besides its own,
    before it in the module, in the order in which they are given: the runtime
    takes the first whose ranges hold the sizes at hand, and main where there is
    none. Ranges are written as `--range` has them, joined by `;`, and may say a size
    hint, `N=1..512@128`: choices for the copy are made for that value, and choices
    for main for the first hint. Sizes that main can never run get no copy, but a warning.

    Runs after what does not depend on sizes, and before `tenon-apply-facts`.

    ```mlir
    // programs=N=128;N=1..512
    func.func @main(...)
    // ==>
    func.func @"main.N=128"(...) attributes {tenon.program = "N=128", tenon.ranges = {N = array<i64: 128, 128>}}
    func.func @"main.N=1..512"(...) attributes {tenon.program = "N=1..512", tenon.ranges = {N = array<i64: 1, 512>}}
    func.func @main(...)
    ```
  }];
  let options = [ListOption<"programs", "programs", "std::string", "ranges of one copy">];
}

//===----------------------------------------------------------------------===//
// state
//===----------------------------------------------------------------------===//

def PairStates : Pass<"tenon-pair-states", "::mlir::ModuleOp"> {
  let summary = "keep outputs as states that the next run reads in place of inputs";
  let description = [{
    Each of `pairs`, an input's and an output's name, becomes a state. A pair of the same constant shape is written as a
    whole. A pair of which one dimension is dynamic grows along it, up to `capacity`: where the output is a concat of the
    input and of what is new, that alone is written, and what reads the concat reads the state.

    Runs on imported modules after `tenon-infer-shapes`, which says how the dimensions of outputs follow from those of
    inputs.

    ```mlir
    // pairs=past=present capacity=512
    func.func @main(%new: tensor<1x8xf32>, %past: tensor<?x8xf32, #tenon.shape<n, 8>> {tenon.name = "past"})
        -> (tensor<?x8xf32, #tenon.shape<n + 1, 8>> {tenon.name = "present"})
      %0 = tenon.concat %past, %new {axis = 0 : i64}
      return %0
    // ==>
    tenon.state @past : tensor<512x8xf32> live "n"
    func.func @main(%new: tensor<1x8xf32>)
      tenon.state.update @past at #tenon.shape<n> extends, %new
      %0 = tenon.state.read @past : tensor<?x8xf32, #tenon.shape<n + 1, 8>>
      return
    ```
  }];
  let options = [ListOption<"pairs", "pairs", "std::string", "INPUT=OUTPUT">,
                 Option<"capacity", "capacity", "int64_t", "0", "rows of states that grow">];
  let statistics = [Statistic<"numStates", "states", "pairs that became states">];
}

//===----------------------------------------------------------------------===//
// simplify
//===----------------------------------------------------------------------===//

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

def WidenFloats : Pass<"tenon-widen-floats", "::mlir::func::FuncOp"> {
  let summary = "promote all floating-point computation to f64";
  let description = [{
    Makes of a model the reference that its errors are measured against: f32, f16
    and bf16 tensors become f64, and casts among them nothing. Arguments stay as
    they are, with a cast behind each, so that both take the same inputs; results
    are f64. A large weight stays too, and is cast when the model runs, so that it
    takes no more memory. What looks at bits (`bitcast`, kernels of the library) gets
    and gives the model's own types. Floats of eight and four bits stay: to round to
    them is what the model means.

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

//===----------------------------------------------------------------------===//
// layout
//===----------------------------------------------------------------------===//

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

def ChoosePaths : Pass<"tenon-choose-paths", "::mlir::func::FuncOp"> {
  let summary = "choose the fastest implementation of each operation within the error budget";
  let description = [{
    A path is an implementation of an operation (passes/paths/Path.h). It tells whether it
    applies, and estimates its cycles and its error on the machine of `tenon.machine`. Each
    operation takes the fastest path whose error is within the budget; where all together
    exceed theirs, those that save the most for their error do. A path is considered only if
    all operations together save a share of the cycles by it. What is left of the budget goes
    to activations that paths round to bf16, and that elementwise operations then read so.

    Where real runs are known (passes/paths/PathTimes.h), their times take the place of
    estimates, and the operation keeps them as `tenon.path_times` and `tenon.region`.

    `force` and `exclude` (passes/paths/PathPins.h) leave operations fewer paths. What is
    forced needs no budget.

    Relies on channels last; runs before `tenon-prepack-weights`.
  }];
  let options = [
    Option<"budget", "budget", "double", "2.5e-6", "largest error of a result, relative to its largest element">,
    Option<"totalBudget", "total-budget", "double", "std::numeric_limits<double>::infinity()",
           "root of the sum of squared errors of all results">,
    ListOption<"force", "force", "std::string", "REGION=PATH or NODE=PATH that operations have to take">,
    ListOption<"exclude", "exclude", "std::string", "paths, or REGION=PATH, that operations must not take">
  ];
  let statistics = [Statistic<"numTaken", "taken", "operations with another than the default implementation">];
}

def RepeatPaths : Pass<"tenon-repeat-paths", "::mlir::func::FuncOp"> {
  let summary = "apply the paths that were chosen for another target";
  let description = [{
    The graph is a copy of one in which `tenon-choose-paths` chose for the target
    that the module is named after. An operation takes the path that it took there.
    If the machine of `tenon.machine` cannot compute that path, the operation keeps its
    default implementation, and its result is perturbed by the path's error: what the
    whole model is off by can then be measured on a machine that is not the target.
    The selection comes from the driver; `paths` are those of all operations that have a
    choice, for tests.
  }];
  let options = [
    ListOption<"paths", "paths", "std::string", "PATH or PATH@ERROR of the operations that have a choice, in order">
  ];
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

//===----------------------------------------------------------------------===//
// fusion
//===----------------------------------------------------------------------===//

def FuseAttention : Pass<"tenon-fuse-attention", "::mlir::func::FuncOp"> {
  let summary = "fuse contraction, softmax and contraction to attention";
  let description = [{
    Scores that nothing else reads need not be in memory: with the softmax done as the keys pass by, a kernel holds but
    a few rows and columns of them. What changes the scores element by element moves into the body, and so does what
    is cheap and has an element for each of them, as a mask of positions: it is computed where it is wanted.

    Sizes have to be constant but for the numbers of queries and keys. A few queries are left alone: they read all
    keys, and the kernel's vectors, which run along the queries, would be empty.

    ```mlir
    %0 = tenon.contract %queries, %keys ...
    %1 = tenon.mul %0, %scale
    %2 = tenon.softmax %1 ...
    %3 = tenon.contract %2, %values ...
    // ==>
    %3 = tenon.attention %queries, %keys, %values {
    ^bb0(%scores):
      %4 = tenon.mul %scores, %scale
      tenon.yield %4
    } ...
    ```
  }];
}

def Fuse : Pass<"tenon-fuse", "::mlir::func::FuncOp"> {
  let summary = "fuse operations into dispatch regions, one kernel each";
  let description = [{
    From the last operation to the first, each one joins the region of its
    users where all of them are in one and computing it there repeats no
    costly work; else it starts a region. A region has at most one loop nest
    (contraction, convolution, reduction...), with what is cheap before it, and
    what changes its result element by element after it; or two, of which the
    second one alone reads, tile by tile, what the first one gives (Chains.h).
    The reshape between them says how large tiles are.

    ```mlir
    %0 = tenon.contract %a, %b ...
    %1 = tenon.relu %0
    // ==>
    %1 = tenon.dispatch -> ... {
      %2 = tenon.contract %a, %b ...
      %3 = tenon.relu %2
      tenon.yield %3
    }
    ```
  }];
  let options = [
    Option<"maxOps", "max-ops", "int64_t", "48", "operations that a region may have">
  ];
}

def Outline : Pass<"tenon-outline", "::mlir::ModuleOp"> {
  let summary = "outline dispatch regions into kernels and launches";
  let description = [{
    Each region becomes a private function of the module, and a launch of it.
    Symbols are renamed s0, s1... in a kernel, and equal regions share one
    kernel: the layers of a network differ in their weights, which are operands.
    Scales and zero points of one element are a part of the kernel, unless
    they are all that some regions differ in, as in the layers of a quantised
    network: then those that differ are operands, too.
  }];
}

def KeepResults : Pass<"tenon-keep-results", "::mlir::func::FuncOp"> {
  let summary = "make the results of launches model outputs";
  let description = [{
    After the model's own outputs there is one for each result of a launch, named
    after the number of the launch, its kernel and the nodes that the kernel
    computes: "3 k1_contract: fc2 + act2". Nothing is fused otherwise for that.
    Launches in branches and loops are left out. Runs after `tenon-outline`.
  }];
  let statistics = [Statistic<"numKept", "kept", "results that become outputs">];
}

//===----------------------------------------------------------------------===//
// lower/tenon-to-linalg
//===----------------------------------------------------------------------===//

def TenonToLinalg : Pass<"tenon-to-linalg", "::mlir::ModuleOp"> {
  let summary = "lower kernels to chains of linalg.generic on tensors";
  let description = [{
    Rewrites each function with `tenon.kernel`: reductions, contractions,
    windows and scatters become stages (linalg.generic, or loops where
    iterations depend on each other), and everything between them is computed
    element by element inside the stage that reads it. Results are written to
    destination arguments; every symbol becomes an index argument.

    Relies on `tenon-decompose` (no kept dimensions of reductions) and
    `tenon-outline`.

    ```mlir
    %0 = tenon.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32>
    // ==>
    %0 = linalg.generic {...} ins(%arg0) outs(%arg1) {
    ^bb0(%in: f32, %out: f32):
      %1 = math.exp %in : f32
      linalg.yield %1 : f32
    } -> tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::tenon::kernel::KernelDialect"];
}

def TenonToPlan : Pass<"tenon-to-plan", "::mlir::ModuleOp"> {
  let summary = "lower main to a flat list of instructions on buffers";
  let description = [{
    Launches become instructions, tensors become buffers: inputs and outputs in
    the caller's memory, weights, and activations that have no place yet.
    Reshapes vanish, since they share memory. A launch whose result is an output
    writes it there. Runs after `tenon-tile-kernels`, which knows how many tiles
    a launch has.
  }];
  let dependentDialects = ["::tenon::plan::PlanDialect", "::mlir::arith::ArithDialect"];
}

//===----------------------------------------------------------------------===//
// kernel
//===----------------------------------------------------------------------===//

def FormContractions : Pass<"tenon-form-contractions", "::mlir::ModuleOp"> {
  let summary = "convert loop nests of products to kernel.contract";
  let description = [{
    A linalg.generic that is a matrix product or convolution which registers can be blocked for becomes a `kernel.contract`:
    how it reads its operands is recognized here alone. The path that was chosen names its micro-kernel.

    ```mlir
    %0 = linalg.generic {...} ins(%a, %b) outs(%c) { ... }
    // ==>
    %0 = kernel.contract <kind = product, row = 0, panel = 32> ins(%a, %b) init(%c) attributes {...} { ... }
    ```
  }];
  let dependentDialects = ["::tenon::kernel::KernelDialect"];
}

def TileKernels : Pass<"tenon-tile-kernels", "::mlir::ModuleOp"> {
  let summary = "split the work of each kernel into tiles";
  let description = [{
    Tiles the operation that writes a kernel's result, and fuses the stages
    before it into the tile. The function gets two more arguments, the range of
    tiles that one call computes, and says in `tenon.tiles` how many there are
    for given symbols. A kernel whose last stage cannot be tiled is one tile.
    What is chosen for a contraction is its `schedule`.

    ```mlir
    %0 = linalg.generic ... outs(%out : tensor<64x128xf32>)
    // ==>
    %0 = scf.for %t = %begin to %end ... { ... tensor.insert_slice ... }
    ```
  }];
  let options = [
    Option<"tileElements", "tile-elements", "int64_t", "8192", "elements of a result that a tile aims at">
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::tenon::kernel::KernelDialect"];
}

def BufferizeKernels : Pass<"tenon-bufferize-kernels", "::mlir::ModuleOp"> {
  let summary = "make the tensors of kernels buffers";
  let description = [{
    MLIR's one-shot bufferization, with results written to their destination
    arguments.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def VectorizeContractions : Pass<"tenon-vectorize-contractions", "::mlir::ModuleOp"> {
  let summary = "block matrix products and convolutions for registers";
  let description = [{
    A `kernel.contract` on buffers becomes loops around a register block: a block of rows and vectors of the result that
    stays in registers while the summed loops run. The block is chosen for the extents at hand; the remainder is done with
    fewer rows, or with masked vectors. A micro-kernel, the one that `schedule` names or the first one that fits the
    operands and the target, emits the products of a step. A contraction without one stays as it is: its loops are over
    elements.
  }];
  let options = [
    Option<"vectorBytes", "vector-bytes", "int64_t", "64", "bytes of a vector register">,
    Option<"registers", "registers", "int64_t", "32", "vector registers">,
    Option<"l1Ways", "l1-ways", "int64_t", "8", "associativity of L1">,
    Option<"int8Dot", "int8-dot", "::tenon::Int8Dot", "::tenon::Int8Dot::scalar",
           "instructions for int8 dot products", [{::llvm::cl::values(
             clEnumValN(::tenon::Int8Dot::scalar, "scalar", "32-bit multiplications"),
             clEnumValN(::tenon::Int8Dot::pmaddWd, "pmaddwd", "sums of two i16 products (AVX2, AVX-512BW)"),
             clEnumValN(::tenon::Int8Dot::vnni, "vnni", "sums of four u8 x i8 products (VNNI)"))}]>
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect",
                           "::tenon::kernel::KernelDialect"];
}

def ExpandWinograd : Pass<"tenon-expand-winograd", "::mlir::ModuleOp"> {
  let summary = "lower Winograd convolutions of tiles to loops";
  let description = [{
    kernel.winograd on buffers becomes the transform of what the tile reads, in
    vectors along the channels; a matrix product for each point, left to
    `tenon-vectorize-contractions`; and the inverse transform. Intermediate
    results are stored in the thread's scratch.
  }];
  let options = [Option<"vectorBytes", "vector-bytes", "int64_t", "64", "bytes of a vector register">];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect", "::tenon::kernel::KernelDialect"];
}

def VectorizeTransposes : Pass<"tenon-vectorize-transposes", "::mlir::ModuleOp"> {
  let summary = "transpose blocks of a matrix in registers";
  let description = [{
    A linalg.generic on buffers that only copies, whose input and output are contiguous along different loops, becomes
    loops over square blocks, of as many rows as a vector has elements: a block is read in vectors along one loop,
    transposed by shuffles, and written in vectors along the other. The last block along a loop overlaps the one before
    it, so that no vector is masked. Of dynamic extents, the largest block that fits both is chosen at run time.

    Loops that are contiguous on both sides are collapsed, and loops of one step dropped. A short loop is continued by the next
    one in memory on its side: rows of a block (or columns) are then enumerated over several loops. Where memory
    is of dynamic strides, whether it continues is decided at run time, as for a batch that may be 1.

    Bytes and halves are transposed within lanes of 128 bits: each lane of a vector has other rows, so that vectors are written whole.
    Wider elements are transposed within lanes first, and lanes are exchanged at last. Blocks follow each other along that side
    where they have parts of cache lines. Where rows of the input are a multiple of 4096 bytes apart (of 512 bytes, for bytes and
    halves), their lines evict each other from L1: some rows are copied to scratch before, and transposed from there.

    A block may have more rows than there are: a column that is written has units of the next one then, which the next store
    overwrites; in the same way, a row that is read has units of the next one, which are dropped. The last block reaches backward, so
    that nothing outside of the operands is read or written. Two to four rows, and boxes of a few vectors that are contiguous
    on both sides, are permuted by shuffles of whole vectors.

    A short innermost loop of both sides, of a power of two, is a unit that blocks move as one number; another one is copied by
    vectors, of which the last overlaps the one before it, or by one vector that is longer than it. Longer loops, and rows of bytes and
    halves too few for a block whose number is static, are left to LLVM.

    ```mlir
    linalg.generic ... ins(%in : memref<8x5x3xf32>) outs(%out : memref<3x5x8xf32>)   // (d2, d1, d0) -> (d0, d1, d2)
    // ==>
    scf.for %column = %c0 to %c15 step %c4 {    // over 5 and 3
      scf.for %row = %c0 to %c8 step %c4 {
        vector.load ... vector.shuffle ... vector.store
    ```
  }];
  let options = [
    Option<"vectorBytes", "vector-bytes", "int64_t", "64", "bytes of a vector register">
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def SplitLoops : Pass<"tenon-split-loops", "::mlir::ModuleOp"> {
  let summary = "split loops into parts without conditions";
  let description = [{
    An innermost loop of a kernel, of constant bounds, whose body branches on whether the loop is before a constant place,
    or between two, becomes a loop for each part: of tensors that are joined along it each gets a loop of its own, and so
    does a border.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PlaceAllocations : Pass<"tenon-place-allocations", "::mlir::ModuleOp"> {
  let summary = "replace allocations in kernels by stack memory";
  let description = [{
    Every allocation that is left in a kernel after linalg became loops turns
    into stack memory, reserved once at entry. Its size must be known at compile
    time and small: a kernel that would need more is refused.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

//===----------------------------------------------------------------------===//
// lower/kernels-to-llvm
//===----------------------------------------------------------------------===//

def MathToCalls : Pass<"tenon-math-to-calls", "::mlir::ModuleOp"> {
  let summary = "lower math operations to instructions or calls by their C names";
  let description = [{
    What every target has an instruction for (square root, rounding, fused
    multiply-add, absolute value) becomes an LLVM intrinsic. The rest becomes a
    call of the C function of that name (`expf`, `tanh`...), which the backend
    links in from the math library beside it and inlines: kernels import
    nothing. Vectors are not expected here. Another library of the same
    functions puts its `prefix` before their names (`__nv_expf`).
  }];
  let options = [
    Option<"prefix", "prefix", "std::string", "\"\"", "comes before the C names">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect"];
}

def KernelAbi : Pass<"tenon-kernel-abi", "::mlir::ModuleOp"> {
  let summary = "give kernels the runtime's calling convention";
  let description = [{
    A kernel on memrefs becomes two functions. The outer one has the signature
    of runtime/format/Kernel.h and takes pointers and sizes out of their tables.
    The inner one has a pointer argument for each buffer, marked as aliasing
    nothing, which is what lets LLVM vectorise; it is inlined, and the marks
    stay. Descriptors are built from the dimensions in `tenon.dims`, and so is a
    constant `<kernel>_facts`: how many buffers and sizes the kernel takes, how
    many tiles a launch has, and how many bytes each buffer has at least. The
    runtime refuses a launch that does not fit it.

    Runs after linalg became loops and before anything becomes the LLVM dialect.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::func::FuncDialect"];
}

//===----------------------------------------------------------------------===//
// lower/kernels-to-gpu
//===----------------------------------------------------------------------===//

def DropIndexChecks : Pass<"tenon-drop-index-checks", "::mlir::ModuleOp"> {
  let summary = "remove checks of indices from kernels for GPUs";
  let description = [{
    A kernel on a GPU has no status to return. Indices are clamped there all the
    same. The loops that found the ends of the indices are dead then, which the
    canonicalizer sees.
  }];
}

def KernelsToNvvm : Pass<"tenon-kernels-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "give kernels an entry point for NVIDIA GPUs";
  let description = [{
    A kernel on memrefs becomes a body on pointers, the same as for a CPU, and
    an entry with `nvvm.kernel` that has a pointer for each buffer, an i64 for
    each size, and the number of tiles. One thread computes one tile: the
    thread that has the tile's number in the grid.

    Runs after linalg became loops and before anything becomes the LLVM dialect.

    ```mlir
    func.func private @k(%in: memref<4xf32>, %out: memref<4xf32>, %begin: index, %end: index) { ... }
    // ==>
    func.func private @k_body(%in: !llvm.ptr, %out: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) -> i32
    llvm.func @k(%in: !llvm.ptr, %out: !llvm.ptr, %tiles: i64) attributes {nvvm.kernel}
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect"];
}

def ExpandShaderMath : Pass<"tenon-expand-shader-math"> {
  let summary = "express mathematical functions that Vulkan lacks by others";
  let description = [{
    Vulkan's instructions have no error function, leave sine, cosine and arc
    tangent to be imprecise, and say nothing of 0 to the power of 0. Such
    functions of f32 become polynomials; of f64, which has no functions at all,
    they are refused. Runs before `convert-math-to-spirv`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def FlattenBuffers : Pass<"tenon-flatten-buffers", "::mlir::ModuleOp"> {
  let summary = "make the buffers of kernels one-dimensional";
  let description = [{
    Shaders have no pointers into the middle of a buffer, and MLIR lowers no
    buffer of two unknown dimensions. So each access computes its place from
    the start of an argument or a stack allocation, through the subviews and
    casts between. Copies become loops. Elements of bf16 are stored as i16.

    ```mlir
    %0 = memref.load %arg0[%i, %j] : memref<?x40xf32>
    // ==>
    %1 = arith.muli %i, %c40 : index
    %2 = arith.addi %1, %j : index
    %0 = memref.load %arg0[%2] : memref<?xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def KernelsToGpu : Pass<"tenon-kernels-to-gpu", "::mlir::ModuleOp"> {
  let summary = "give kernels an entry point for Vulkan";
  let description = [{
    A kernel on flat buffers becomes a `gpu.func` in a `gpu.module` of its own,
    which says what Vulkan devices have to offer. Buffers are storage buffers;
    the sizes and the number of tiles are push constants. One invocation
    computes one tile. Kernels on types that Vulkan has not, or with indices
    that do not fit into 32 bits, are refused: MLIR would lower them wrongly.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::spirv::SPIRVDialect"];
}

def FinishSpirv : Pass<"tenon-finish-spirv", "::mlir::ModuleOp"> {
  let summary = "fix SPIR-V modules that MLIR emits for Vulkan drivers";
  let description = [{
    Raises the version to 1.3, which storage buffers need, and takes push
    constants out of descriptor sets. Runs after `spirv-update-vce`.
  }];
}

#endif // TENON_PASSES_TD
