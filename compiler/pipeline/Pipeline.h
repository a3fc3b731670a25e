//===- Pipeline.h - the phases of a compilation, in order -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//


#ifndef TENON_COMPILER_PIPELINE_PIPELINE_H
#define TENON_COMPILER_PIPELINE_PIPELINE_H

namespace mlir {
class OpPassManager;
}

namespace tenon {

/// An imported module becomes a program with kernels that are tiled, on tensors.
void buildGraphPipeline(mlir::OpPassManager &pm);
/// Tiled kernels become loops on buffers: what all targets share.
void buildBufferPipeline(mlir::OpPassManager &pm);
/// Kernels in tenon operations become loops on buffers.
void buildKernelPipeline(mlir::OpPassManager &pm);
/// Kernels on buffers become the LLVM dialect, for a CPU.
void buildLLVMPipeline(mlir::OpPassManager &pm);

/// What the modules inside of isolateKernels' result go through; `toLLVM` says how far.
void buildIsolatedKernelPipeline(mlir::OpPassManager &pm, bool toLLVM);

} // namespace tenon

#endif // TENON_COMPILER_PIPELINE_PIPELINE_H
