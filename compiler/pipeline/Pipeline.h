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

/// Kernels in tenon operations become tiled loops on buffers: what all targets share.
void buildKernelPipeline(mlir::OpPassManager &pm);
/// Kernels on buffers become the LLVM dialect, for a CPU.
void buildLLVMPipeline(mlir::OpPassManager &pm);

} // namespace tenon

#endif // TENON_COMPILER_PIPELINE_PIPELINE_H
