//===- LlvmPipeline.cpp - kernels on buffers to the LLVM dialect ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/llvm/LlvmPipeline.h"
#include "compiler/pipeline/Pipeline.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"

using namespace mlir;
using namespace tenon;

void tenon::buildLoopPipeline(OpPassManager &pm, const Machine &machine) {
  pm.addPass(createExpandWinograd({machine.vectorBytes}));
  VectorizeContractionsOptions options;
  options.vectorBytes = machine.vectorBytes;
  options.registers = machine.vectorRegisters;
  options.l1Ways = machine.l1Ways;
  options.int8Dot = machine.int8Dot;
  options.bf16Pairs = machine.bf16Pairs != 0;
  pm.addPass(createVectorizeContractions(options));
  pm.addPass(createVectorizeTransposes({machine.vectorBytes}));
  pm.addPass(createConvertLinalgToLoopsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createSplitLoops());
  pm.addPass(createCSEPass());
  pm.addPass(createPlaceAllocations());
  pm.addPass(createVerifyKernels({/*loops=*/true}));
}

void tenon::buildLLVMPipeline(OpPassManager &pm) {
  pm.addPass(createKernelAbi());
  buildToLLVMPipeline(pm, /*mathPrefix=*/"");
}
