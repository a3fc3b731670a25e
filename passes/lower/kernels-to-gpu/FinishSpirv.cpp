//===- FinishSpirv.cpp - what MLIR leaves wrong in shaders ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/SPIRV/IR/SPIRVAttributes.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "passes/Passes.h"

namespace tenon {
#define GEN_PASS_DEF_FINISHSPIRV
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;

/// MLIR infers version 1.0 if no operation requires more, but the storage buffers of Vulkan 1.1 require 1.3 or an
/// extension.
static void raiseVersion(spirv::ModuleOp module) {
  spirv::VerCapExtAttr triple = *module.getVceTriple();
  if (triple.getVersion() >= spirv::Version::V_1_3)
    return;
  auto raised = spirv::VerCapExtAttr::get(spirv::Version::V_1_3, llvm::to_vector(triple.getCapabilities()),
                                          llvm::to_vector(triple.getExtensions()), module.getContext());
  module.setVceTripleAttr(raised);
}

/// Push constants belong to no descriptor set.
static void unbindPushConstants(spirv::ModuleOp module) {
  for (auto variable : module.getOps<spirv::GlobalVariableOp>())
    if (cast<spirv::PointerType>(variable.getType()).getStorageClass() == spirv::StorageClass::PushConstant) {
      variable.removeBindingAttr();
      variable.removeDescriptorSetAttr();
    }
}

namespace {
struct FinishSpirv : public tenon::impl::FinishSpirvBase<FinishSpirv> {
  void runOnOperation() override {
    for (auto module : getOperation().getOps<spirv::ModuleOp>()) {
      if (!module.getVceTriple()) {
        module.emitError("has no version and capabilities; spirv-update-vce has to run first");
        return signalPassFailure();
      }
      raiseVersion(module);
      unbindPushConstants(module);
    }
  }
};
} // namespace
