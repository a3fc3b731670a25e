//===- VerifyKernels.cpp - check that kernels work on buffers -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "passes/verify/InternalError.h"

namespace tenon {
#define GEN_PASS_DEF_VERIFYKERNELS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

static LogicalResult verifySignature(func::FuncOp kernel) {
  if (kernel.getNumResults() != 0)
    return emitInternalError(kernel, "is a kernel with results, expected destinations instead");
  for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes()))
    if (!isa<MemRefType, IndexType>(type))
      return emitInternalError(kernel, "is a kernel whose argument " + Twine(i) + " is neither buffer nor size")
             << ": " << type;
  return success();
}

/// The scratch that a kernel uses must be within the size that the launch requests from the runtime.
static LogicalResult verifyScratch(kernel::ScratchOp scratch, func::FuncOp kernel) {
  auto type = cast<MemRefType>(scratch.getMemory().getType());
  auto bytes = kernel->getAttrOfType<IntegerAttr>(kScratchAttr);
  int64_t available = bytes ? bytes.getInt() : 0;
  int64_t end = scratch.getOffset() + type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8);
  if (end <= available)
    return success();
  InFlightDiagnostic diagnostic = emitInternalError(scratch, "ends at byte " + Twine(end) + " of scratch, of which '" +
                                                                 kScratchAttr + "' has " + Twine(available));
  diagnostic.attachNote(kernel.getLoc()) << "the kernel is here";
  return diagnostic;
}

namespace {
struct VerifyKernels : public tenon::impl::VerifyKernelsBase<VerifyKernels> {
  using VerifyKernelsBase::VerifyKernelsBase;
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (kernel->hasAttr(kKernelAttr) && (failed(verifySignature(kernel)) || failed(verifyBody(kernel))))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }

private:
  LogicalResult verifyBody(func::FuncOp kernel) {
    WalkResult result = kernel.getBody().walk([&](Operation *op) { return WalkResult(verifyOp(op, kernel)); });
    return failure(result.wasInterrupted());
  }

  LogicalResult verifyOp(Operation *op, func::FuncOp kernel) {
    if (llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType>) ||
        llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>))
      return emitInternalError(op, "works on tensors in a kernel on buffers");
    if (loops && (isa<linalg::LinalgOp, kernel::WinogradOp>(op)))
      return emitInternalError(op, "was not lowered to loops");
    if (loops && isa<memref::AllocOp>(op))
      return emitInternalError(op, "allocates on the heap in a kernel");
    if (auto scratch = dyn_cast<kernel::ScratchOp>(op))
      return verifyScratch(scratch, kernel);
    return success();
  }
};
} // namespace
