//===- WidenFloats.cpp - the same model in f64 ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/ReducedPrecision.h"
#include "dialects/tenon/Tenon.h"
#include "passes/Passes.h"
#include "passes/precision/FloatWidening.h"
#include "llvm/ADT/StringSet.h"

namespace tenon {
#define GEN_PASS_DEF_WIDENFLOATS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

static RankedTensorType withElement(RankedTensorType type, Type element) {
  return RankedTensorType::get(type.getShape(), element, type.getEncoding());
}

/// Makes states of f16 and bf16 ones of f32, with casts to and from the model's types behind reads and before updates.
static void widenStates(ModuleOp module) {
  Type wide = Float32Type::get(module.getContext());
  llvm::StringSet<> widened;
  for (auto state : module.getOps<StateOp>())
    if (isReducedPrecision(state.getTensorType().getElementType()) && !state.getInitial()) {
      state.setType(withElement(state.getTensorType(), wide));
      widened.insert(state.getSymName());
    }
  OpBuilder b(module.getContext());
  module.walk([&](Operation *op) {
    if (auto read = dyn_cast<StateReadOp>(op); read && widened.contains(read.getState())) {
      auto own = cast<RankedTensorType>(read.getResult().getType());
      read.getResult().setType(withElement(own, wide));
      b.setInsertionPointAfter(read);
      auto cast = CastOp::create(b, read.getLoc(), own, read.getResult());
      read.getResult().replaceAllUsesExcept(cast.getResult(), cast);
    } else if (auto update = dyn_cast<StateUpdateOp>(op); update && widened.contains(update.getState())) {
      b.setInsertionPoint(update);
      auto own = cast<RankedTensorType>(update.getValue().getType());
      update.getValueMutable().assign(CastOp::create(b, update.getLoc(), withElement(own, wide), update.getValue()));
    }
  });
}

namespace {
struct WidenFloats : public tenon::impl::WidenFloatsBase<WidenFloats> {
  using WidenFloatsBase::WidenFloatsBase;
  void runOnOperation() override {
    widenStates(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        widen(function);
  }

private:
  void widen(func::FuncOp function) {
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
