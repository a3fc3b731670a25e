//===- Bf16Activations.cpp - activations that are stored as bf16 --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/Bf16Activations.h"
#include "passes/cost/ProductShape.h"
#include "passes/cost/SizeHints.h"

using namespace mlir;
using namespace tenon;

/// Estimates the elements of a value; dynamic dimensions have their size hints or a default.
static double countElements(Value value, const SizeHints &hints) {
  double count = 1;
  for (AffineExpr dim : getDims(value))
    count *= estimateExtent(hints, dim);
  return count;
}

/// True if the kernel that computes the activation can round it before it stores it.
static bool isComputed(Value activation) {
  Operation *definition = activation.getDefiningOp();
  return definition && (definition->hasTrait<Elementwise>() || isa<LoopNestOpInterface>(definition));
}

SmallVector<Bf16Activation> tenon::listBf16Activations(func::FuncOp function, const Machine &machine) {
  SizeHints hints(function);
  SmallVector<Bf16Activation> found;
  function.walk([&](CastOp cast) {
    Value activation = cast.getInput();
    if (!cast.getType().getElementType().isBF16() || !getElementTypeOrSelf(activation).isF32() ||
        !isComputed(activation) || activation.hasOneUse())
      return;
    double readers = 0;
    for (Operation *user : activation.getUsers()) {
      // Other operations would need a cast of their own.
      if (user != cast && (!user->hasTrait<Elementwise>() || isa<CastOp>(user)))
        return;
      readers += user != cast;
    }
    // Without the change, the value is written once as f32 and read by the cast; with it, each reader reads half the
    // bytes.
    double bytes = 2 * sizeof(float) + readers * (sizeof(float) - sizeof(uint16_t));
    found.push_back({cast, countElements(activation, hints) * bytes / machine.llcBytesPerCycle + machine.launchCycles});
  });
  return found;
}

void tenon::storeAsBf16(const Bf16Activation &activation, RewriterBase &rewriter) {
  CastOp rounding = activation.rounding;
  Value exact = rounding.getInput();
  rewriter.moveOpAfter(rounding, exact.getDefiningOp());
  rewriter.setInsertionPointAfter(rounding);
  auto widened = CastOp::create(rewriter, rounding.getLoc(), exact.getType(), rounding.getResult());
  rewriter.replaceAllUsesExcept(exact, widened.getResult(), rounding);
}
