//===- NonNegative.cpp - values that have no elements below zero ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/NonNegative.h"
#include "dialects/tenon/Tenon.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tenon;

/// Operations that are looked through on the way to those that decide.
static constexpr int kMaxDepth = 12; // limit: of time, where values are shared

/// True for a constant of floats that are all alike, and not below 0.
static bool isPositiveSplat(WeightOp weight) {
  auto splat = dyn_cast<SplatElementsAttr>(weight.getValue());
  if (!splat || !isa<FloatType>(weight.getType().getElementType()))
    return false;
  auto number = splat.getSplatValue<APFloat>();
  return !number.isNaN() && (number.isZero() || !number.isNegative());
}

static bool isNeverNegative(Value value, int depth) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  auto is = [&](Value operand) { return isNeverNegative(operand, depth - 1); };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<ReluOp, AbsOp, ExpOp, SqrtOp, SigmoidOp, SoftmaxOp>([](auto) { return true; })
      .Case<MaxOp>([&](MaxOp max) { return is(max.getLhs()) || is(max.getRhs()); })
      .Case<AddOp, MulOp, DivOp, MinOp>([&](auto both) { return is(both.getLhs()) && is(both.getRhs()); })
      .Case<SelectOp>([&](SelectOp select) { return is(select.getLhs()) && is(select.getRhs()); })
      .Case<ReshapeOp, TransposeOp, BroadcastOp, SliceOp, PoolOp>([&](auto moved) { return is(moved.getInput()); })
      .Case<PadOp, ConcatOp>([&](auto parts) { return llvm::all_of(parts->getOperands(), is); })
      .Case<ReduceOp>([&](ReduceOp reduce) { return is(reduce.getInput()); })
      .Case<WeightOp>(isPositiveSplat)
      .Default(false);
}

bool tenon::isNeverNegative(Value value) { return ::isNeverNegative(value, kMaxDepth); }
