//===- FloatWidening.cpp - a function in wider floats ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/precision/FloatWidening.h"
#include "dialects/tenon/Tenon.h"

using namespace mlir;
using namespace tenon;

namespace {
class Widener {
public:
  Widener(func::FuncOp function, const FloatWidening &widening) : function(function), widening(widening) {}
  void run();

private:
  bool isNarrow(Type type) const { return widening.isNarrow(getElementTypeOrSelf(type)); }
  Type widen(Type type) const;
  void widenUses(Value value, OpBuilder &b) const;
  void widenWeight(WeightOp weight) const;
  void keepTypes(Operation *op, ArrayRef<Type> types) const;
  void widenOperation(Operation *op) const;
  void roundResult(Value result, Type type) const;

  func::FuncOp function;
  const FloatWidening &widening;
};
} // namespace

/// Returns a scalar or tensor type with wide elements in place of narrow ones.
Type Widener::widen(Type type) const {
  if (!isNarrow(type))
    return type;
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? Type(tensor.clone(widening.wide)) : Type(widening.wide);
}

/// Casts `value`, and replaces all other uses by the cast.
void Widener::widenUses(Value value, OpBuilder &b) const {
  auto cast = CastOp::create(b, value.getLoc(), widen(value.getType()), value);
  value.replaceAllUsesExcept(cast, cast);
}

/// Weights of few elements, or splats, are widened here, where folders see them.
void Widener::widenWeight(WeightOp weight) const {
  constexpr int64_t kFew = 1024; // limit: memory of the compiler
  OpBuilder b(weight->getContext());
  b.setInsertionPointAfter(weight);
  auto dense = dyn_cast<DenseElementsAttr>(weight.getValue());
  if (!dense || (!dense.isSplat() && dense.getNumElements() > kFew))
    return widenUses(weight, b);
  DenseElementsAttr wide = dense.mapValues(widening.wide, [&](const APFloat &element) {
    APFloat value = element;
    bool losesInfo;
    value.convert(widening.wide.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    return value.bitcastToAPInt();
  });
  auto replacement = WeightOp::create(b, weight.getLoc(), wide);
  replacement.setNameAttr(weight.getNameAttr());
  weight.replaceAllUsesWith(replacement.getResult());
  weight.erase();
}

/// `types` are those of its operands in the model.
void Widener::keepTypes(Operation *op, ArrayRef<Type> types) const {
  OpBuilder b(op);
  for (auto [operand, type] : llvm::zip(op->getOpOperands(), types)) {
    if (operand.get().getType() == type)
      continue;
    auto cast = operand.get().getDefiningOp<CastOp>();
    bool wasOfType = cast && cast.getInput().getType() == type;
    operand.set(wasOfType ? cast.getInput() : CastOp::create(b, op->getLoc(), type, operand.get()).getResult());
  }
  b.setInsertionPointAfter(op);
  for (Value result : op->getResults())
    if (isNarrow(result.getType()))
      widenUses(result, b);
}

/// Rounds a wide result to its type in the model for all of its users.
void Widener::roundResult(Value result, Type type) const {
  OpBuilder b(result.getContext());
  b.setInsertionPointAfterValue(result);
  auto narrow = CastOp::create(b, result.getLoc(), type, result);
  result.replaceAllUsesExcept(CastOp::create(b, result.getLoc(), result.getType(), narrow), narrow);
}

/// Gives an operation with wide operands wide results and region arguments.
void Widener::widenOperation(Operation *op) const {
  for (Value result : op->getResults()) {
    Type type = result.getType();
    result.setType(widen(type));
    // What only moves elements finds them rounded.
    if (widening.isRounded && widening.isRounded(getElementTypeOrSelf(type)) && !op->hasTrait<DataMovement>())
      roundResult(result, type);
  }
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

void Widener::run() {
  SmallVector<Operation *> operations;
  llvm::DenseMap<Operation *, SmallVector<Type>> keptTypes;
  function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    operations.push_back(op);
    if (widening.keepsTypes(op))
      keptTypes[op] = llvm::to_vector<0>(op->getOperandTypes());
  });
  OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
  for (BlockArgument argument : function.getArguments())
    if (isNarrow(argument.getType()))
      widenUses(argument, b);
  for (Operation *op : operations) {
    if (auto it = keptTypes.find(op); it != keptTypes.end())
      keepTypes(op, it->second);
    else if (auto weight = dyn_cast<WeightOp>(op); weight && isNarrow(weight.getType()))
      widenWeight(weight);
    else
      widenOperation(op);
  }
}

void tenon::widenFloats(func::FuncOp function, const FloatWidening &widening) { Widener(function, widening).run(); }
