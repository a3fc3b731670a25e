//===- Lower.td - passes of lowering to other dialects --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_LOWER_TD
#define TENON_PASSES_LOWER_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// tenon-to-linalg
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

//===----------------------------------------------------------------------===//
// tenon-to-plan
//===----------------------------------------------------------------------===//

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
// kernels-to-llvm
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
// kernels-to-gpu
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

#endif // TENON_PASSES_LOWER_TD
