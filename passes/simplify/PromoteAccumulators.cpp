//===- PromoteAccumulators.cpp - products of halves in f32 ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/ReducedPrecision.h"
#include "dialects/tenon/TenonBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tenon-promote-accumulators"

namespace tenon {
#define GEN_PASS_DEF_PROMOTEACCUMULATORS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {
struct PromoteAccumulators : public tenon::impl::PromoteAccumulatorsBase<PromoteAccumulators> {
  using PromoteAccumulatorsBase::PromoteAccumulatorsBase;
  void runOnOperation() override {
    // Values of another function may have been allocated at the same addresses.
    wideOf.clear();
    getOperation().walk([&](ContractOp op) {
      for (OpOperand &operand : op->getOpOperands())
        giveOwnCast(operand);
      bool hasWeight = op.getLhs().getDefiningOp<WeightOp>() || op.getRhs().getDefiningOp<WeightOp>();
      if ((hasWeight || all) && isReducedPrecision(op.getType()) && isReducedPrecision(op.getLhs().getType()))
        widen(op);
    });
  }

private:
  /// Gives each user of a weight its own cast, also in loops and branches, so that it is fused into the user's kernel.
  void giveOwnCast(OpOperand &operand) {
    auto cast = operand.get().getDefiningOp<CastOp>();
    Operation *op = operand.getOwner();
    if (!cast || !isReducedPrecision(cast.getInput().getType()) || !cast.getInput().getDefiningOp<WeightOp>() ||
        (cast->hasOneUse() && cast->getBlock() == op->getBlock()))
      return;
    operand.set(OpBuilder(op).clone(*cast)->getResult(0));
    if (cast->use_empty())
      cast.erase();
  }

  void widen(ContractOp op) {
    LDBG() << "sums the product at " << op.getLoc() << " in f32";
    Type type = op.getType().getElementType();
    OpBuilder b(op);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      if (operand.getDefiningOp<WeightOp>()) {
        operands.push_back(TenonBuilder(b, operand.getLoc()).cast(operand, b.getF32Type()));
        continue;
      }
      // One for all products that read it.
      Value &wide = wideOf[operand];
      if (!wide) {
        OpBuilder after(op);
        after.setInsertionPointAfterValue(operand);
        wide = TenonBuilder(after, operand.getLoc()).cast(operand, b.getF32Type());
      }
      operands.push_back(wide);
    }
    Value sum = ContractOp::create(b, op.getLoc(), operands[0], operands[1], op.getLhsDims(), op.getRhsDims(),
                                   op.getResultDims(), TypeAttr());
    op.replaceAllUsesWith(TenonBuilder(b, op.getLoc()).cast(sum, type));
    op.erase();
  }

  llvm::DenseMap<Value, Value> wideOf;
};
} // namespace
