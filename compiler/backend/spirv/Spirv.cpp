//===- Spirv.cpp - kernels on buffers to SPIR-V ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/spirv/Spirv.h"
#include "compiler/backend/spirv/SpirvPipeline.h"
#include "compiler/errors/CompileError.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/SPIRV/Serialization.h"
#include "passes/Kernel.h"

using namespace mlir;
using namespace tenon;

static FailureOr<SpirvKernel> emitKernel(func::FuncOp kernel) {
  OwningOpRef<ModuleOp> copy = ModuleOp::create(kernel.getLoc());
  OpBuilder::atBlockEnd(copy->getBody()).clone(*kernel);
  PassManager pm(kernel.getContext());
  buildSpirvPipeline(pm);
  if (failed(pm.run(*copy)))
    return failure();
  SpirvKernel result{kernel.getName().str(), {}};
  SmallVector<uint32_t> words;
  for (auto module : copy->getOps<spirv::ModuleOp>())
    if (failed(spirv::serialize(module, words)))
      return failure();
  if (words.empty())
    return failure();
  result.words.assign(words.begin(), words.end());
  return result;
}

llvm::Expected<std::vector<SpirvKernel>> tenon::emitSpirv(ModuleOp kernels) {
  std::vector<SpirvKernel> result;
  std::string failed, reason; // the kernel's name, and the first diagnostic
  ScopedDiagnosticHandler handler(kernels.getContext(), [&](Diagnostic &diagnostic) {
    if (reason.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      reason = diagnostic.str();
    return success();
  });
  WalkResult walk = kernels.walk([&](func::FuncOp kernel) {
    if (!kernel->hasAttr(kKernelAttr))
      return WalkResult::advance();
    FailureOr<SpirvKernel> module = emitKernel(kernel);
    if (mlir::failed(module)) {
      failed = kernel.getName().str();
      return WalkResult::interrupt();
    }
    result.push_back(std::move(*module));
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return makeError(CompileStatus::unsupported,
                     "kernel '" + failed + "': " + (reason.empty() ? "cannot be written as SPIR-V" : reason));
  return result;
}
