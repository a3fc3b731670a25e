//===- WidenFloats.cpp - the same model in f64 ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/ReducedPrecision.h"
#include "passes/Passes.h"
#include "passes/precision/FloatWidening.h"

namespace tenon {
#define GEN_PASS_DEF_WIDENFLOATS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {
struct WidenFloats : public tenon::impl::WidenFloatsBase<WidenFloats> {
  using WidenFloatsBase::WidenFloatsBase;
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    auto isNarrow = [](Type element) { return element.isF32() || isReducedPrecision(element); };
    auto looksAtBits = [](Operation *op) { return op->hasTrait<FixedElementTypes>(); };
    auto isReduced = [](Type element) { return isReducedPrecision(element); };
    FloatWidening widening{Float64Type::get(&getContext()), isNarrow, looksAtBits};
    if (roundReducedPrecision)
      widening.isRounded = isReduced;
    widenFloats(function, widening);
    SmallVector<Type> results(function.getBody().front().getTerminator()->getOperandTypes());
    function.setFunctionType(FunctionType::get(&getContext(), function.getArgumentTypes(), results));
  }
};
} // namespace
