//===- LaunchGraph.cpp - a block as a graph of launches -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/LaunchGraph.h"
#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/Views.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tenon;

bool tenon::isFree(Operation *op) { return isa<WeightOp, SizesOp>(op) || op->hasTrait<ViewLike>(); }

int64_t LaunchGraph::getTypicalBytes(Value value, const MemoryPolicy &policy) {
  llvm::DenseMap<AffineExpr, AffineExpr> typical;
  Dims dims = getDims(value);
  for (AffineExpr &dim : dims) {
    dim.walk([&](AffineExpr e) {
      if (isa<AffineSymbolExpr>(e))
        typical[e] = getDimConstant(e.getContext(), policy.typicalExtent);
    });
    dim = simplifyDim(dim.replace(typical));
  }
  int64_t count = getConstant(getElementCount(value.getContext(), dims)).value_or(0), bytes = 0;
  int64_t width = llvm::divideCeil(getElementTypeOrSelf(value).getIntOrFloatBitWidth(), 8);
  // Sizes whose sum could overflow are replaced by 0.
  bool tooLarge = count < 0 || llvm::MulOverflow(count, width, bytes) || bytes > int64_t(1) << 45;
  return tooLarge ? 0 : bytes;
}

/// Collects the inputs of concats that are computed directly in the concat's result.
void LaunchGraph::collectParts() {
  for (auto concat : block.getOps<ConcatOp>())
    for (Value input : concat.getInputs())
      if (Operation *definition = getReshaped(input).getDefiningOp(); definition && definition->hasTrait<LaunchLike>())
        wholeOf.try_emplace(getReshaped(input), concat.getResult());
}

uint32_t LaunchGraph::getBuffer(Value value) {
  value = getViewed(value);
  assert(isa<RankedTensorType>(value.getType()) && "buffers are those of tensors");
  while (Value whole = wholeOf.lookup(value))
    value = whole;
  auto [it, isNew] = buffers.try_emplace(value, graph.buffers.size());
  if (isNew) {
    // Only what this block computes comes and goes.
    Operation *definition = value.getDefiningOp();
    bool isOwn = definition && definition->getBlock() == &block && !isFree(definition) && !isa<StateReadOp>(definition);
    graph.buffers.push_back({isOwn ? getTypicalBytes(value) : 0, !isOwn, false});
  }
  return it->second;
}

/// Returns false if a symbol is bound twice, because a use would depend on the order.
bool LaunchGraph::collectBinders() {
  for (auto binder : block.getOps<SymbolBinderOpInterface>())
    if (ArrayAttr symbols = binder.getSymbolsAttr())
      for (StringRef name : symbols.getAsValueRange<StringAttr>())
        if (!name.empty() && !binders.try_emplace(getDimSymbol(binder.getContext(), name), binder).second)
          return false;
  return true;
}

/// Visits the symbols of an operation, of its regions, and of the free operations that move with it.
void LaunchGraph::visitSymbols(Operation *root, llvm::function_ref<void(AffineExpr)> visit) {
  auto visitDims = [&](ArrayRef<AffineExpr> dims) {
    for (AffineExpr dim : dims)
      dim.walk([&](AffineExpr part) {
        if (isa<AffineSymbolExpr>(part))
          visit(part);
      });
  };
  root->walk([&](Operation *op) {
    for (NamedAttribute attribute : op->getAttrs())
      if (auto shape = dyn_cast<ShapeAttr>(attribute.getValue()))
        visitDims(shape.getDims());
    for (Value result : op->getResults())
      visitDims(getDims(result));
    for (Value operand : op->getOperands()) {
      visitDims(getDims(operand));
      Operation *definition = operand.getDefiningOp();
      if (definition && isFree(definition) && definition->getBlock() == &block)
        visitSymbols(definition, visit);
    }
  });
}

/// Orders an operation after those that bind its symbols, unless it stood before them.
void LaunchGraph::addSymbols(Operation *op, ordering::Node &node) {
  uint32_t number = graph.nodes.size();
  visitSymbols(op, [&](AffineExpr symbol) {
    Operation *binder = binders.lookup(symbol);
    if (!binder || binder == op)
      return;
    if (auto bound = numbers.find(binder); bound != numbers.end())
      node.after.push_back(bound->second);
    else
      users[symbol].push_back(number);
  });
  for (auto [symbol, binder] : binders)
    if (binder == op)
      llvm::append_range(node.after, users.lookup(symbol));
}

/// Operations with effects keep their order, and the operations that a check protects stay after it.
void LaunchGraph::addEffects(Operation *op, ordering::Node &node) {
  uint32_t number = graph.nodes.size();
  if (lastRequire)
    node.after.push_back(*lastRequire);
  if (!op->hasTrait<Ordered>())
    return;
  if (lastEffect)
    node.after.push_back(*lastEffect);
  lastEffect = number;
  if (isa<RequireOp>(op))
    lastRequire = number;
}

/// Collects the values of this block that branches and bodies read, and the peak of live bytes within them.
void LaunchGraph::addRegions(Operation *op, ordering::Node &node) {
  if (op->getNumRegions() == 0)
    return;
  hasRegions = true;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    node.reads.push_back(getBuffer(value));
  int64_t inside = 0;
  for (Region &region : op->getRegions()) {
    LaunchGraph launches(region.front());
    if (launches.build())
      inside = std::max(inside, ordering::getPeak(launches.graph, ordering::getGivenOrder(launches.graph)));
  }
  node.writes.push_back(graph.buffers.size());
  graph.buffers.push_back({inside, false, false});
}

void LaunchGraph::addNode(Operation *op) {
  ordering::Node node;
  for (Value operand : op->getOperands())
    node.reads.push_back(getBuffer(operand));
  for (Value result : op->getResults())
    node.writes.push_back(getBuffer(result));
  addRegions(op, node);
  addSymbols(op, node);
  addEffects(op, node);
  numbers[op] = graph.nodes.size();
  graph.nodes.push_back(std::move(node));
  nodes.push_back(op);
}

bool LaunchGraph::build() {
  collectParts();
  if (!collectBinders() || !block.getOps<AppendOp>().empty())
    return false;
  for (Operation &op : block.without_terminator())
    if (!isFree(&op))
      addNode(&op);
  for (Value operand : block.getTerminator()->getOperands()) {
    ordering::Buffer &buffer = graph.buffers[getBuffer(operand)];
    buffer.isLiveAfter = true;
    // A launch that computes an output writes it to memory of the caller.
    Operation *definition = getReshaped(operand).getDefiningOp();
    if (isa<func::ReturnOp>(block.getTerminator()) && definition && definition->hasTrait<LaunchLike>())
      buffer.size = 0;
  }
  return nodes.size() > 2;
}
