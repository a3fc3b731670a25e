//===- FuseAttention.cpp - attention without scores in memory -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/fusion/AttentionMatch.h"

namespace tenon {
#define GEN_PASS_DEF_FUSEATTENTION
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {
struct FuseAttention : public tenon::impl::FuseAttentionBase<FuseAttention> {
  void runOnOperation() override {
    SmallVector<ContractOp> contractions;
    getOperation().walk([&](ContractOp op) { contractions.push_back(op); });
    for (ContractOp op : contractions)
      if (std::optional<AttentionMatch> found = matchAttention(op))
        fuseAttention(std::move(*found), policy);
    eraseUnused(getOperation());
  }

private:
  AttentionPolicy policy;
};
} // namespace
