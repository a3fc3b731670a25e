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

llvm::MapVector<AffineExpr, Interval> tenon::getStateSymbols(func::FuncOp function) {
  llvm::MapVector<AffineExpr, Interval> symbols;
  if (auto module = dyn_cast_or_null<ModuleOp>(function->getParentOp()))
    for (StateOp state : getStates(module, function))
      for (AffineExpr symbol : state.getSymbols())
        symbols[symbol] =
            intersect(symbols.lookup(symbol), {0, state.getRing() ? state.getCapacity() - 1 : state.getCapacity()});
  return symbols;
}

llvm::SetVector<AffineExpr> tenon::getInputSymbols(func::FuncOp function) {
  llvm::SetVector<AffineExpr> symbols;
  llvm::MapVector<AffineExpr, Interval> stateSymbols = getStateSymbols(function);
  for (Type type : function.getArgumentTypes())
    for (AffineExpr dim : getDims(cast<RankedTensorType>(type)))
      if (isa<AffineSymbolExpr>(dim) && !isUnknownDim(dim) && !stateSymbols.contains(dim))
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

/// Returns the values that `types` bind to `symbol`, among the dimensions of `values`, without duplicates.
static llvm::SetVector<AffineExpr> getValuesOf(AffineExpr symbol, TypeRange types, ValueRange values) {
  llvm::SetVector<AffineExpr> found;
  for (auto [type, value] : llvm::zip(types, values))
    for (auto [dim, other] : llvm::zip(getDims(cast<RankedTensorType>(type)), getDims(value)))
      if (dim == symbol)
        found.insert(other);
  return found;
}

/// Returns a common upper bound of the expressions; null if none is known.
static AffineExpr getCommonBound(const Facts &facts, ArrayRef<AffineExpr> exprs) {
  AffineExpr bound;
  for (AffineExpr expr : exprs) {
    AffineExpr own = isUnknownDim(expr) ? AffineExpr() : facts.getUpperBound(expr);
    bound = bound ? facts.getLarger(bound, own) : own;
    if (!bound)
      return {};
  }
  return bound;
}

/// An extent that a branch yields has one of two values.
static void addBranches(Facts &facts, IfOp branch) {
  for (StringRef name : branch.getSymbols()->getAsValueRange<StringAttr>()) {
    AffineExpr symbol = getDimSymbol(branch.getContext(), name);
    llvm::SetVector<AffineExpr> values;
    for (Block *block : {&branch.getThenBody().front(), &branch.getElseBody().front()})
      values.insert_range(getValuesOf(symbol, branch.getResultTypes(), block->getTerminator()->getOperands()));
    facts.addBound(symbol, getCommonBound(facts, values.getArrayRef()));
  }
}

/// Larger trip counts are treated as unbounded.
static constexpr int64_t kManyTrips = 256; // limit: compile time

/// An extent that grows by a constant in each iteration is bounded if the trip count is.
static AffineExpr getBoundInLoop(const Facts &facts, LoopOp loop, AffineExpr symbol) {
  llvm::SetVector<AffineExpr> inits = getValuesOf(symbol, loop.getResultTypes(), loop.getInits());
  ValueRange next = loop.getBody().front().getTerminator()->getOperands().drop_front();
  llvm::SetVector<AffineExpr> values = getValuesOf(symbol, loop.getResultTypes(), next);
  AffineExpr trips = loop.getTrips() ? loop.getTrips()->getDims().front() : AffineExpr();
  if (!trips || isUnknownDim(trips) || !facts.isNotNegative(trips) || values.size() != 1 || isUnknownDim(values[0]))
    return {};
  AffineExpr grown = subDims(values[0], symbol), begun = getCommonBound(facts, inits.getArrayRef());
  trips = facts.getUpperBound(trips);
  if (!trips || getConstant(trips).value_or(0) > kManyTrips || !begun || getConstant(grown).value_or(-1) < 0)
    return {};
  return addDims(begun, mulDims(trips, grown));
}

static void addLoop(Facts &facts, LoopOp loop) {
  for (StringRef name : loop.getSymbols()->getAsValueRange<StringAttr>()) {
    AffineExpr symbol = getDimSymbol(loop.getContext(), name);
    facts.addBound(symbol, getBoundInLoop(facts, loop, symbol));
  }
}

/// Adds the symbols that the block's operations bind, in order.
static void addBindings(Facts &facts, Block &block) {
  for (Operation &op : block) {
    auto loop = dyn_cast<LoopOp>(op);
    if (loop && loop.getSymbols())
      addLoop(facts, loop);
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        addBindings(facts, inner);
    if (auto bind = dyn_cast<BindOp>(op))
      addBinding(facts, bind);
    else if (auto branch = dyn_cast<IfOp>(op); branch && branch.getSymbols())
      addBranches(facts, branch);
  }
}

Facts tenon::collectFacts(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  Facts facts(context);
  if (auto ranges = function->getAttrOfType<DictionaryAttr>(kRangesAttr))
    for (NamedAttribute range : ranges)
      if (auto ends = dyn_cast<DenseI64ArrayAttr>(range.getValue()))
        facts.addRange(getDimSymbol(context, range.getName()), {std::max<int64_t>(ends[0], 0), ends[1]});
  for (auto [symbol, range] : getStateSymbols(function))
    facts.addRange(symbol, range);
  if (!function.isExternal())
    addBindings(facts, function.getBody().front());
  return facts;
}
