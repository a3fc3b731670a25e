//===- Pipelines.cpp - dialects and pipelines of backends, for tools -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/registry/Pipelines.h"
#include "compiler/backend/llvm/LlvmPipeline.h"
#include "compiler/backend/nvptx/NvptxPipeline.h"
#include "compiler/backend/spirv/SpirvPipeline.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

void tenon::registerBackendDialects(DialectRegistry &registry) {
  registerNvptxDialects(registry);
  registerSpirvDialects(registry);
}

void tenon::registerBackendPipelines() {
  PassPipelineRegistration<>("tenon-llvm-pipeline", "kernels from loops on buffers to the LLVM dialect",
                             buildLLVMPipeline);
  PassPipelineRegistration<>("tenon-nvvm-pipeline", "kernels from loops on buffers to the NVVM dialect",
                             buildNvvmPipeline);
  PassPipelineRegistration<>("tenon-spirv-pipeline", "kernels from loops on buffers to SPIR-V modules",
                             buildSpirvPipeline);
}
