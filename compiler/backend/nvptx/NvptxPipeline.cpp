//===- NvptxPipeline.cpp - kernels on buffers to the NVVM dialect --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/nvptx/NvptxPipeline.h"
#include "compiler/pipeline/Pipeline.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"

using namespace mlir;
using namespace tenon;

void tenon::registerNvptxDialects(DialectRegistry &registry) { registry.insert<gpu::GPUDialect, NVVM::NVVMDialect>(); }

void tenon::buildNvvmPipeline(OpPassManager &pm) {
  pm.addPass(createDropIndexChecks());
  buildElementLoopPipeline(pm);
  pm.addPass(createKernelsToNvvm());
  buildToLLVMPipeline(pm, /*mathPrefix=*/"__nv_");
}
