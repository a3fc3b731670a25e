//===- DropIndexChecks.cpp - kernels that report nothing ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"

namespace tenon {
#define GEN_PASS_DEF_DROPINDEXCHECKS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {
struct DropIndexChecks : public tenon::impl::DropIndexChecksBase<DropIndexChecks> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (kernel->hasAttr(kKernelAttr))
        kernel.walk([](kernel::CheckIndicesOp check) { check.erase(); });
  }
};
} // namespace
