//===- VerifyImport.cpp - check that a module is what importers produce ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/DiscardableAttributes.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"

namespace tenon {
#define GEN_PASS_DEF_VERIFYIMPORT
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

static LogicalResult verifyOp(Operation *op) {
  if (isa<LaunchOp>(op))
    return op->emitOpError("is made by the compiler and cannot be imported");
  if (!isa<TenonDialect>(op->getDialect()) && !isa<func::ReturnOp>(op))
    return op->emitOpError("is not an operation of the tenon dialect, which models are imported to");
  return success();
}

static LogicalResult verifyFunction(func::FuncOp function) {
  if (function->hasAttr(kKernelAttr))
    return function.emitOpError("is a kernel, which is made by the compiler and cannot be imported");
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    if (!isa<RankedTensorType>(type))
      return function.emitOpError("has argument ") << i << " of type " << type << ", expected a ranked tensor";
  WalkResult result = function.getBody().walk([](Operation *op) { return WalkResult(verifyOp(op)); });
  return failure(result.wasInterrupted());
}

namespace {
struct VerifyImport : public tenon::impl::VerifyImportBase<VerifyImport> {
  void runOnOperation() override {
    for (Operation &op : *getOperation().getBody()) {
      if (isa<StateOp>(op))
        continue;
      auto function = dyn_cast<func::FuncOp>(op);
      if (!function) {
        op.emitOpError("is neither a function nor a state, which is all that an imported module has");
        return signalPassFailure();
      }
      if (failed(verifyFunction(function)))
        return signalPassFailure();
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
