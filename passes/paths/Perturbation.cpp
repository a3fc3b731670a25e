//===- Perturbation.cpp - results that are off by as much as a path is ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/Perturbation.h"
#include "passes/paths/Numbers.h"

using namespace mlir;
using namespace tenon;

namespace {
/// Builds arithmetic on tensors of one shape.
struct Arithmetic {
  OpBuilder &b;
  Location loc;
  RankedTensorType type;

  Value number(double value) const { return createNumber(b, loc, cast<FloatType>(type.getElementType()), value); }
  Value add(Value x, Value y) const { return AddOp::create(b, loc, type, x, y); }
  Value mul(Value x, Value y) const { return MulOp::create(b, loc, type, x, y); }
};
} // namespace

/// Emits a pseudo-random number between -1 and 1 for each element from its indices: the low digits of a sine, as in
/// shader noise functions.
static Value makeNoise(const Arithmetic &make) {
  // math: any numbers that no small integers relate
  constexpr double kStrides[] = {12.9898, 78.233, 37.719, 93.9895, 51.5317, 27.1828}, kFar = 43758.5453;
  Value phase = make.number(1);
  for (int64_t axis = 0; axis < make.type.getRank(); ++axis) {
    Value index = IotaOp::create(make.b, make.loc, make.type, axis);
    phase = make.add(make.mul(index, make.number(kStrides[axis % std::size(kStrides)])), phase);
  }
  if (make.type.getRank() == 0)
    phase = make.add(make.mul(phase, make.number(kStrides[0])), phase);
  Value digits = make.mul(SinOp::create(make.b, make.loc, make.type, phase), make.number(kFar));
  Value whole = FloorOp::create(make.b, make.loc, make.type, digits);
  Value fraction = SubOp::create(make.b, make.loc, make.type, digits, whole);
  return make.add(make.mul(fraction, make.number(2)), make.number(-1));
}

Value tenon::perturbResult(Operation *op, double error, RewriterBase &rewriter) {
  Value result = op->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  rewriter.setInsertionPointAfter(op);
  Location loc = op->getLoc();
  Arithmetic make{rewriter, loc, type};
  auto magnitudes = AbsOp::create(rewriter, loc, type, result);
  Value largest = magnitudes;
  if (type.getRank() > 0) {
    auto axes = llvm::to_vector(llvm::seq<int64_t>(type.getRank()));
    largest = ReduceOp::create(rewriter, loc, ReduceKind::max, magnitudes, axes, false);
  }
  Value size = MulOp::create(rewriter, loc, largest.getType(), largest, make.number(error));
  Value perturbed = make.add(make.mul(makeNoise(make), size), result);
  rewriter.replaceUsesWithIf(result, perturbed, [&](OpOperand &use) {
    return use.getOwner() != magnitudes && use.getOwner() != perturbed.getDefiningOp();
  });
  return perturbed;
}

void tenon::roundToBf16(Value value, RewriterBase &rewriter) {
  auto type = cast<RankedTensorType>(value.getType());
  rewriter.setInsertionPointAfterValue(value);
  auto rounded = CastOp::create(rewriter, value.getLoc(), type.clone(rewriter.getBF16Type()), value);
  auto widened = CastOp::create(rewriter, value.getLoc(), type, rounded);
  rewriter.replaceAllUsesExcept(value, widened, rounded);
}
