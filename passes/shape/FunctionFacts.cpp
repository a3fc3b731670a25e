//===- FunctionFacts.cpp - what a function says of its symbols ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/shape/FunctionFacts.h"
#include "dialects/tenon/Tenon.h"
#include "passes/Kernel.h"

using namespace mlir;
using namespace tenon;

llvm::SetVector<AffineExpr> tenon::getInputSymbols(func::FuncOp function) {
  llvm::SetVector<AffineExpr> symbols;
  for (Type type : function.getArgumentTypes())
    for (AffineExpr dim : getDims(cast<RankedTensorType>(type)))
      if (isa<AffineSymbolExpr>(dim) && !isUnknownDim(dim))
        symbols.insert(dim);
  return symbols;
}

static void addBinding(Facts &facts, BindOp bind) {
  MLIRContext *context = bind.getContext();
  for (auto [i, name] : llvm::enumerate(bind.getSymbols().getAsValueRange<StringAttr>())) {
    AffineExpr symbol = getDimSymbol(context, name), bound;
    if (bind.getBounds() && !isUnknownDim(bind.getBounds()->getDims()[i]))
      bound = bind.getBounds()->getDims()[i];
    facts.addRange(symbol, {static_cast<int64_t>(bind.getMin()), bound ? facts.getRange(bound).max : INT64_MAX});
    facts.addBound(symbol, bound);
  }
}

Facts tenon::collectFacts(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  Facts facts(context);
  if (auto ranges = function->getAttrOfType<DictionaryAttr>(kRangesAttr))
    for (NamedAttribute range : ranges)
      if (auto ends = dyn_cast<DenseI64ArrayAttr>(range.getValue()))
        facts.addRange(getDimSymbol(context, range.getName()), {std::max<int64_t>(ends[0], 0), ends[1]});
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto bind = dyn_cast<BindOp>(op))
      addBinding(facts, bind);
    else if (auto symbols = op->getAttrOfType<ArrayAttr>("symbols"); symbols && isa<IfOp, LoopOp>(op))
      for (StringRef name : symbols.getAsValueRange<StringAttr>())
        facts.addBound(getDimSymbol(context, name), {});
  });
  return facts;
}
