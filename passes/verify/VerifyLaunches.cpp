//===- VerifyLaunches.cpp - check that launches and kernels agree ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/DiscardableAttributes.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/verify/InternalError.h"

namespace tenon {
#define GEN_PASS_DEF_VERIFYLAUNCHES
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

static LogicalResult verifyKernel(func::FuncOp kernel) {
  if (!kernel.isPrivate())
    return emitInternalError(kernel, "is a kernel, but not private");
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    if (!op->hasTrait<LaunchLike>())
      return WalkResult::advance();
    emitInternalError(op, "is in a kernel").attachNote(kernel.getLoc()) << "the kernel is here";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

static LogicalResult verifyLaunch(LaunchOp launch, mlir::SymbolTable &symbols) {
  auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
  if (!kernel)
    return emitInternalError(launch, "launches '" + launch.getKernel() + "', which is no function of its module");
  auto refuse = [&](const Twine &message) {
    InFlightDiagnostic diagnostic = emitInternalError(launch, message);
    diagnostic.attachNote(kernel.getLoc()) << "the kernel is here";
    return diagnostic;
  };
  if (!kernel->hasAttr(kKernelAttr))
    return refuse("launches a function without '" + kKernelAttr + "'");
  if (kernel.getNumArguments() != launch.getInputs().size() || kernel.getNumResults() != launch.getNumResults())
    return refuse("has " + Twine(launch.getInputs().size()) + " operands and " + Twine(launch.getNumResults()) +
                  " results for a kernel with " + Twine(kernel.getNumArguments()) + " and " +
                  Twine(kernel.getNumResults()));
  auto names = kernel->getAttrOfType<ArrayAttr>(kSymbolsAttr);
  size_t count = names ? names.size() : 0, sizes = launch.getSizes().getDims().size();
  if (count != sizes)
    return refuse("has " + Twine(sizes) + " sizes for a kernel with " + Twine(count) + " symbols");
  return success();
}

namespace {
struct VerifyLaunches : public tenon::impl::VerifyLaunchesBase<VerifyLaunches> {
  void runOnOperation() override {
    mlir::SymbolTable symbols(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(kKernelAttr) && failed(verifyKernel(function)))
        return signalPassFailure();
    WalkResult result = getOperation().walk([&](Operation *op) {
      if (isa<DispatchOp>(op)) {
        emitInternalError(op, "was not outlined into a kernel");
        return WalkResult::interrupt();
      }
      auto launch = dyn_cast<LaunchOp>(op);
      return launch ? WalkResult(verifyLaunch(launch, symbols)) : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
