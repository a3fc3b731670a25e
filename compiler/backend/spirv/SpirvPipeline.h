//===- SpirvPipeline.h - kernels on buffers to SPIR-V modules ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_SPIRV_SPIRVPIPELINE_H
#define TENON_COMPILER_BACKEND_SPIRV_SPIRVPIPELINE_H

namespace mlir {
class DialectRegistry;
class OpPassManager;
} // namespace mlir

namespace tenon {

/// Registers the dialects that the pipeline creates.
void registerSpirvDialects(mlir::DialectRegistry &registry);
/// Lowers kernels on buffers, without register blocks for a CPU, to SPIR-V modules for Vulkan, one per kernel.
void buildSpirvPipeline(mlir::OpPassManager &pm);

} // namespace tenon

#endif // TENON_COMPILER_BACKEND_SPIRV_SPIRVPIPELINE_H
