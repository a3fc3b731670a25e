//===- SpirvPipeline.cpp - kernels on buffers to SPIR-V modules ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/spirv/SpirvPipeline.h"
#include "compiler/pipeline/Pipeline.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/SPIRV/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"

using namespace mlir;
using namespace tenon;

void tenon::registerSpirvDialects(DialectRegistry &registry) {
  registry.insert<gpu::GPUDialect, spirv::SPIRVDialect>();
}

void tenon::buildSpirvPipeline(OpPassManager &pm) {
  pm.addPass(createDropIndexChecks());
  buildElementLoopPipeline(pm);
  pm.addPass(createExpandShaderMath());
  pm.addPass(createFlattenBuffers());
  pm.addPass(createLowerAffinePass());
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createKernelsToGpu());
  // The conversion of the gpu dialect covers all dialects but math, whose own conversion reads the target's
  // capabilities from the operation it runs on.
  pm.nest<gpu::GPUModuleOp>().addPass(createConvertMathToSPIRVPass());
  pm.addPass(createConvertGPUToSPIRVPass(/*mapMemorySpace=*/false));
  OpPassManager &modules = pm.nest<spirv::ModuleOp>();
  modules.addPass(spirv::createSPIRVLowerABIAttributesPass());
  modules.addPass(spirv::createSPIRVUpdateVCEPass());
  pm.addPass(createFinishSpirv());
}
