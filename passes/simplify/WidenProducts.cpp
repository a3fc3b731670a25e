//===- WidenProducts.cpp - products of halves in f32 ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"

namespace tenon {
#define GEN_PASS_DEF_WIDENPRODUCTS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

static Value castTo(OpBuilder &b, Value value, Type type) {
  return CastOp::create(b, value.getLoc(), getTensorType(getDims(value), type), value);
}

static bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

namespace {
struct WidenProducts : public tenon::impl::WidenProductsBase<WidenProducts> {
  using WidenProductsBase::WidenProductsBase;
  void runOnOperation() override {
    getOperation().walk([&](ContractOp op) {
      bool hasWeight = op.getLhs().getDefiningOp<WeightOp>() || op.getRhs().getDefiningOp<WeightOp>();
      if ((hasWeight || all) && isHalf(op.getType().getElementType()) && isHalf(getElementTypeOrSelf(op.getLhs())))
        widen(op);
    });
  }

private:
  void widen(ContractOp op) {
    Type type = op.getType().getElementType();
    OpBuilder b(op);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      // One for all products that read it; a weight's is a part of each kernel.
      Value &wide = wideOf[operand];
      if (!wide || operand.getDefiningOp<WeightOp>()) {
        OpBuilder after(op);
        after.setInsertionPointAfterValue(operand);
        wide = castTo(after, operand, b.getF32Type());
      }
      operands.push_back(wide);
    }
    Value sum = ContractOp::create(b, op.getLoc(), operands[0], operands[1], op.getLhsDims(), op.getRhsDims(),
                                   op.getResultDims(), TypeAttr());
    op.replaceAllUsesWith(castTo(b, sum, type));
    op.erase();
  }

  llvm::DenseMap<Value, Value> wideOf;
};
} // namespace
