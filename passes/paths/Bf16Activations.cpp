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

/// The elements of a value, with usual sizes of dimensions that are open.
static double countElements(Value value, const SizeHints &hints) {
  double count = 1;
  for (AffineExpr dim : getDims(value))
    count *= estimateExtent(hints, dim);
  return count;
}

/// Whether a kernel can compute the activation and round it before it is stored.
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
      // Other operations would have a cast of their own before them.
      if (user != cast && (!user->hasTrait<Elementwise>() || isa<CastOp>(user)))
        return;
      readers += user != cast;
    }
    // It is written once as f32 and read by the cast, and each reader reads half as much.
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
