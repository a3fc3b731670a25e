//===- NvptxPipeline.h - kernels on buffers to the NVVM dialect ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_NVPTX_NVPTXPIPELINE_H
#define TENON_COMPILER_BACKEND_NVPTX_NVPTXPIPELINE_H

namespace mlir {
class DialectRegistry;
class OpPassManager;
} // namespace mlir

namespace tenon {

/// Registers the dialects that the pipeline creates.
void registerNvptxDialects(mlir::DialectRegistry &registry);
/// Lowers kernels on buffers, without register blocks for a CPU, to the LLVM and NVVM dialects.
void buildNvvmPipeline(mlir::OpPassManager &pm);

} // namespace tenon

#endif // TENON_COMPILER_BACKEND_NVPTX_NVPTXPIPELINE_H
