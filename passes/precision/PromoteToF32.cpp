//===- PromoteToF32.cpp - activations of halves in f32 ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/ReducedPrecision.h"
#include "passes/Passes.h"
#include "passes/precision/FloatWidening.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tenon-promote-to-f32"

namespace tenon {
#define GEN_PASS_DEF_PROMOTETOF32
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

static bool movesElements(Operation *op) {
  return op && op->hasTrait<DataMovement>() && isReducedPrecision(op->getResult(0).getType());
}

namespace {
/// Operations that only move elements whose storage before or after is f16 or bf16: of arguments, of weights, or of
/// results, such as a cache of keys and values.
class MovedReducedPrecision {
public:
  explicit MovedReducedPrecision(func::FuncOp function) {
    function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (movesElements(op) &&
          llvm::all_of(op->getOperands(), [&](Value value) { return isInMemory(value, function); }))
        moved.insert(op);
    });
    for (Value result : function.getBody().front().getTerminator()->getOperands())
      addMakersOf(result);
  }
  bool contains(Operation *op) const { return moved.contains(op); }
  size_t size() const { return moved.size(); }

private:
  bool isInMemory(Value value, func::FuncOp function) const {
    if (!isReducedPrecision(value.getType()))
      return true;
    Operation *definition = value.getDefiningOp();
    return definition ? isa<WeightOp>(definition) || moved.contains(definition)
                      : value.getParentBlock() == &function.getBody().front();
  }

  void addMakersOf(Value value) {
    SmallVector<Value> values = {value};
    while (!values.empty()) {
      Operation *op = values.pop_back_val().getDefiningOp();
      if (movesElements(op) && moved.insert(op))
        llvm::append_range(values, op->getOperands());
    }
  }

  llvm::SetVector<Operation *> moved;
};

struct PromoteToF32 : public tenon::impl::PromoteToF32Base<PromoteToF32> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    MovedReducedPrecision moved(function);
    LDBG() << "leaves f16 and bf16 to " << moved.size() << " operations that move elements";
    auto keepsTypes = [&](Operation *op) {
      return op->hasTrait<FixedElementTypes>() || isa<func::ReturnOp>(op) || moved.contains(op);
    };
    widenFloats(function, {Float32Type::get(&getContext()), isReducedPrecision, keepsTypes});
  }
};
} // namespace
