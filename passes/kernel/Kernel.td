//===- Kernel.td - passes of kernels --------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_TD
#define TENON_PASSES_KERNEL_TD

include "mlir/Pass/PassBase.td"

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
             clEnumValN(::tenon::Int8Dot::vnni, "vnni", "sums of four u8 x i8 products (VNNI)"))}]>,
    Option<"bf16Pairs", "bf16-pairs", "bool", "false", "dot products of two bf16 (AVX512-BF16)">
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

#endif // TENON_PASSES_KERNEL_TD
