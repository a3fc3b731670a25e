//===- WidenFloats.cpp - the same model in f64 ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"

namespace tenon {
#define GEN_PASS_DEF_WIDENFLOATS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

static bool isNarrow(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF32() || element.isF16() || element.isBF16();
}

/// A type of numbers or of tensors with f64 in place of fewer bits.
static Type widen(Type type) {
  if (!isNarrow(type))
    return type;
  Type f64 = Float64Type::get(type.getContext());
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.clone(f64) : f64;
}

/// A cast of `value`, whose other uses read the cast.
static void widenUses(Value value, OpBuilder &b) {
  auto cast = CastOp::create(b, value.getLoc(), widen(value.getType()), value);
  value.replaceAllUsesExcept(cast, cast);
}

/// A few elements, or one for all, become f64 here, where folders see them.
static void widenWeight(WeightOp weight) {
  constexpr int64_t kFew = 1024;
  OpBuilder b(weight->getContext());
  b.setInsertionPointAfter(weight);
  auto dense = dyn_cast<DenseElementsAttr>(weight.getValue());
  if (!dense || (!dense.isSplat() && dense.getNumElements() > kFew))
    return widenUses(weight, b);
  DenseElementsAttr wide = dense.mapValues(b.getF64Type(), [](const APFloat &element) {
    APFloat value = element;
    bool losesInfo;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
    return value.bitcastToAPInt();
  });
  auto replacement = WeightOp::create(b, weight.getLoc(), wide);
  replacement.setNameAttr(weight.getNameAttr());
  weight.replaceAllUsesWith(replacement.getResult());
  weight.erase();
}

/// An operation on bits: `types` are those of its operands in the model.
static void keepTypes(Operation *op, ArrayRef<Type> types) {
  OpBuilder b(op);
  for (auto [operand, type] : llvm::zip(op->getOpOperands(), types))
    if (operand.get().getType() != type)
      operand.set(CastOp::create(b, op->getLoc(), type, operand.get()));
  b.setInsertionPointAfter(op);
  for (Value result : op->getResults())
    if (isNarrow(result.getType()))
      widenUses(result, b);
}

/// Gives an operation, whose operands are wide, wide results and arguments of its bodies.
static void widenOperation(Operation *op) {
  for (Value result : op->getResults())
    result.setType(widen(result.getType()));
  for (Region &region : op->getRegions())
    for (BlockArgument argument : region.getArguments())
      argument.setType(widen(argument.getType()));
  for (NamedAttribute attribute : op->getAttrs())
    if (auto type = dyn_cast<TypeAttr>(attribute.getValue()))
      op->setAttr(attribute.getName(), TypeAttr::get(widen(type.getValue())));
  auto cast = dyn_cast<CastOp>(op);
  if (!cast || cast.getInput().getType() != cast.getType())
    return;
  cast.replaceAllUsesWith(cast.getInput());
  cast.erase();
}

namespace {
struct WidenFloats : public tenon::impl::WidenFloatsBase<WidenFloats> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    SmallVector<Operation *> operations;
    llvm::DenseMap<Operation *, SmallVector<Type>> typesOfBits;
    function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      operations.push_back(op);
      if (isa<BitcastOp, CallOp>(op))
        typesOfBits[op] = llvm::to_vector<0>(op->getOperandTypes());
    });
    OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
    for (BlockArgument argument : function.getArguments())
      if (isNarrow(argument.getType()))
        widenUses(argument, b);
    for (Operation *op : operations) {
      if (auto it = typesOfBits.find(op); it != typesOfBits.end())
        keepTypes(op, it->second);
      else if (auto weight = dyn_cast<WeightOp>(op); weight && isNarrow(weight.getType()))
        widenWeight(weight);
      else
        widenOperation(op);
    }
    SmallVector<Type> results(function.getBody().front().getTerminator()->getOperandTypes());
    function.setFunctionType(FunctionType::get(&getContext(), function.getArgumentTypes(), results));
  }
};
} // namespace
