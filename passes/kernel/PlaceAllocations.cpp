//===- PlaceAllocations.cpp - intermediate buffers of kernels on the stack ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "passes/Unsupported.h"
#include "passes/cost/StackPolicy.h"

namespace tenon {
#define GEN_PASS_DEF_PLACEALLOCATIONS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

/// Turns allocations into stack memory that is reserved once at entry.
static LogicalResult placeAllocations(func::FuncOp kernel, const StackPolicy &policy) {
  int64_t total = 0;
  WalkResult result = kernel.walk([&](memref::AllocOp alloc) {
    if (alloc->use_empty()) {
      alloc.erase();
      return WalkResult::advance();
    }
    MemRefType type = alloc.getType();
    int64_t bytes = type.hasStaticShape() ? type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8) : -1;
    if (bytes < 0 || (total += bytes) > policy.kernelBytes) {
      emitUnsupported(kernel, "needs an intermediate buffer of type ") << type << ", which no tile can hold";
      return WalkResult::interrupt();
    }
    OpBuilder builder(&kernel.getBody().front(), kernel.getBody().front().begin());
    auto stack = memref::AllocaOp::create(builder, alloc.getLoc(), type, builder.getI64IntegerAttr(64));
    alloc.replaceAllUsesWith(stack.getResult());
    alloc.erase();
    return WalkResult::advance();
  });
  kernel.walk([](memref::DeallocOp dealloc) { dealloc.erase(); });
  return failure(result.wasInterrupted());
}

namespace {
struct PlaceAllocations : public tenon::impl::PlaceAllocationsBase<PlaceAllocations> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (kernel->hasAttr(kKernelAttr) && failed(placeAllocations(kernel, StackPolicy())))
        return signalPassFailure();
  }
};
} // namespace
