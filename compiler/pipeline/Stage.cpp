//===- Stage.cpp - how far IR has come -------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/Stage.h"
#include "dialects/plan/Plan.h"
#include "dialects/tenon/DiscardableAttributes.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace tenon;

namespace {
/// What there is in a module.
struct Contents {
  bool hasFunction = false; ///< that is the model's, and no kernel
  bool hasLaunch = false;
  bool hasProgram = false;
  bool hasKernelModule = false;
  Stage kernels = Stage::model; ///< the stage of the kernel that has come farthest
};
} // namespace

bool tenon::isKernelModule(ModuleOp module) {
  return module.getName() && mlir::SymbolTable::lookupSymbolIn(module, *module.getName());
}

/// Returns the stage of a kernel in the module that launches it.
static Stage findKernelStage(func::FuncOp kernel) {
  auto hasArgument = [&](StringRef attribute) {
    return llvm::any_of(llvm::seq(kernel.getNumArguments()),
                        [&](unsigned i) { return static_cast<bool>(kernel.getArgAttr(i, attribute)); });
  };
  if (kernel->hasAttr(kTilesAttr))
    return Stage::tiledKernels;
  // Each result has a destination from then on.
  if (hasArgument(kOutputAttr))
    return Stage::loweredKernels;
  return hasArgument(kReusedAttr) ? Stage::inPlaceOperands : Stage::launches;
}

static Contents findContents(ModuleOp module) {
  Contents contents;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto inner = dyn_cast<ModuleOp>(op)) {
      contents.hasKernelModule |= isKernelModule(inner);
      return WalkResult::advance();
    }
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      bool isKernel = function->hasAttr(kKernelAttr);
      contents.hasFunction |= !isKernel;
      if (isKernel)
        contents.kernels = std::max(contents.kernels, findKernelStage(function));
      return isKernel ? WalkResult::skip() : WalkResult::advance();
    }
    contents.hasLaunch |= isa<LaunchOp>(op);
    contents.hasProgram |= isa<plan::ProgramOp>(op);
    return isa<plan::ProgramOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  return contents;
}

Stage tenon::findStage(ModuleOp module) {
  Contents contents = findContents(module);
  if (contents.hasProgram)
    return contents.hasKernelModule ? Stage::buffers : Stage::programs;
  bool hasKernel = contents.kernels != Stage::model;
  if (contents.hasKernelModule || (hasKernel && !contents.hasFunction))
    return Stage::kernelsAlone;
  return hasKernel ? contents.kernels : contents.hasLaunch ? Stage::launches : Stage::model;
}
