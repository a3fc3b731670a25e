//===- LowerBound.cpp - what no element of a tensor is below --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/LowerBound.h"
#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/WeightBytes.h"
#include "llvm/ADT/TypeSwitch.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace tenon;

/// Operations that are looked through on the way to those that decide.
static constexpr int kMaxDepth = 12; // limit: of time, where values are shared

static constexpr double kNone = -std::numeric_limits<double>::infinity(); // format: of a bound

/// The least element of a constant of f32; none if one is not finite.
static double findLowerBound(WeightOp weight) {
  if (!weight.getType().getElementType().isF32())
    return kNone;
  if (auto splat = dyn_cast<SplatElementsAttr>(weight.getValue())) {
    auto number = splat.getSplatValue<APFloat>();
    return number.isFinite() ? number.convertToDouble() : kNone;
  }
  constexpr size_t kMost = size_t(1) << 16; // limit: of time: scalars and biases are meant
  std::optional<ArrayRef<char>> bytes = getBytes(weight.getValue());
  if (!bytes || bytes->empty() || bytes->size() > kMost * sizeof(float))
    return kNone;
  ArrayRef<float> elements(reinterpret_cast<const float *>(bytes->data()), bytes->size() / sizeof(float));
  bool isFinite = llvm::all_of(elements, [](float element) { return std::isfinite(element); });
  return isFinite ? *llvm::min_element(elements) : kNone;
}

/// True for x * sigmoid(x).
static bool isSilu(MulOp op) {
  auto isGate = [](Value gate, Value x) {
    auto sigmoid = gate.getDefiningOp<SigmoidOp>();
    return sigmoid && sigmoid.getInput() == x;
  };
  return isGate(op.getLhs(), op.getRhs()) || isGate(op.getRhs(), op.getLhs());
}

static double findLowerBound(Value value, int depth) {
  constexpr double kSilu = -0.27847, kGelu = -0.17005; // math: the minima of SiLU, and of GELU in either form
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return kNone;
  auto find = [&](Value operand) { return findLowerBound(operand, depth - 1); };
  // A product, a quotient or a sum of any number is not negative if what it is of is not.
  auto ifNotNegative = [](double x, double y = 0) { return x >= 0 && y >= 0 ? 0 : kNone; };
  auto findLeast = [&](ValueRange operands) {
    double least = std::numeric_limits<double>::infinity();
    for (Value operand : operands)
      least = std::min(least, find(operand));
    return least;
  };
  return llvm::TypeSwitch<Operation *, double>(op)
      .Case<ReluOp, AbsOp, ExpOp, SqrtOp, SigmoidOp, SoftmaxOp>([](auto) { return 0; })
      .Case<GeluOp>([&](auto) { return kGelu; })
      .Case<MaxOp>([&](MaxOp max) { return std::max(find(max.getLhs()), find(max.getRhs())); })
      .Case<MinOp>([&](MinOp min) { return findLeast(min->getOperands()); })
      .Case<AddOp>([&](AddOp add) { return find(add.getLhs()) + find(add.getRhs()); })
      .Case<MulOp>(
          [&](MulOp mul) { return isSilu(mul) ? kSilu : ifNotNegative(find(mul.getLhs()), find(mul.getRhs())); })
      .Case<DivOp>([&](DivOp div) { return ifNotNegative(find(div.getLhs()), find(div.getRhs())); })
      .Case<SelectOp>([&](SelectOp select) { return std::min(find(select.getLhs()), find(select.getRhs())); })
      .Case<ReshapeOp, TransposeOp, BroadcastOp, SliceOp>([&](auto moved) { return find(moved.getInput()); })
      .Case<PadOp, ConcatOp>([&](auto parts) { return findLeast(parts->getOperands()); })
      .Case<PoolOp>([&](PoolOp pool) {
        // Averages may count a border of zeros.
        double bound = find(pool.getInput());
        return pool.getKind() == PoolKind::sum ? ifNotNegative(bound) : std::min(bound, 0.0);
      })
      .Case<ReduceOp>([&](ReduceOp reduce) {
        double bound = find(reduce.getInput());
        bool isSelection = reduce.getKind() == ReduceKind::max || reduce.getKind() == ReduceKind::min;
        return isSelection ? bound : ifNotNegative(bound);
      })
      .Case<WeightOp>([](WeightOp weight) { return ::findLowerBound(weight); })
      .Default(kNone);
}

double tenon::findLowerBound(Value value) { return ::findLowerBound(value, kMaxDepth); }
