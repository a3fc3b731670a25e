//===- BoundSizes.cpp - what sizes that data decides are at most ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/shape/BoundSizes.h"
#include "passes/shape/FunctionFacts.h"
#include "passes/shape/ValueBounds.h"

using namespace mlir;
using namespace tenon;

/// Returns the symbols of a bind that may be extents and have no bound.
static SmallVector<int64_t> getUnbounded(BindOp bind) {
  SmallVector<int64_t> found;
  if (static_cast<int64_t>(bind.getMin()) < 0)
    return found;
  for (auto [i, name] : llvm::enumerate(bind.getSymbols().getAsValueRange<StringAttr>()))
    if (!name.empty() && (!bind.getBounds() || isUnknownDim(bind.getBounds()->getDims()[i])))
      found.push_back(static_cast<int64_t>(i));
  return found;
}

/// Whether a symbol got a bound.
static bool addBounds(BindOp bind, const Facts &facts) {
  MLIRContext *context = bind.getContext();
  Dims bounds(bind.getSymbols().size(), getUnknownDim(context));
  if (bind.getBounds())
    bounds.assign(bind.getBounds()->getDims().begin(), bind.getBounds()->getDims().end());
  bool isBounded = false;
  for (int64_t i : getUnbounded(bind))
    if (AffineExpr max = ValueBounds(facts).get(bind.getValues(), i).max) {
      bounds[i] = max;
      isBounded = true;
    }
  if (isBounded)
    bind.setBoundsAttr(ShapeAttr::get(context, bounds));
  return isBounded;
}

void tenon::boundSizes(func::FuncOp function) {
  std::optional<Facts> facts;
  function.walk<WalkOrder::PreOrder>([&](BindOp bind) {
    if (getUnbounded(bind).empty())
      return;
    if (!facts)
      facts = collectFacts(function);
    // What comes later may be bounded by these.
    if (addBounds(bind, *facts))
      facts.reset();
  });
}
