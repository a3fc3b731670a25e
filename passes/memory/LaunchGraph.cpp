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

using namespace mlir;
using namespace tenon;

/// What a symbol counts as: orders are compared by the bytes that come of it.
static constexpr int64_t kTypicalExtent = 128;

bool tenon::isFree(Operation *op) { return isa<WeightOp, SizesOp, ReshapeOp, SliceOp>(op); }

int64_t LaunchGraph::getTypicalBytes(Value value) {
  llvm::DenseMap<AffineExpr, AffineExpr> typical;
  Dims dims = getDims(value);
  for (AffineExpr &dim : dims) {
    dim.walk([&](AffineExpr e) {
      if (isa<AffineSymbolExpr>(e))
        typical[e] = getDimConstant(e.getContext(), kTypicalExtent);
    });
    dim = simplifyDim(dim.replace(typical));
  }
  int64_t count = getConstant(getElementCount(value.getContext(), dims)).value_or(0), bytes = 0;
  int64_t width = llvm::divideCeil(getElementTypeOrSelf(value).getIntOrFloatBitWidth(), 8);
  // Sizes that add up to more than an order could tell apart are as good as none.
  bool tooLarge = count < 0 || llvm::MulOverflow(count, width, bytes) || bytes > int64_t(1) << 45;
  return tooLarge ? 0 : bytes;
}

/// Inputs of a concat that are computed where its result lies.
void LaunchGraph::collectParts() {
  for (auto concat : block.getOps<ConcatOp>())
    for (Value input : concat.getInputs())
      if (Operation *definition = getReshaped(input).getDefiningOp(); isa_and_nonnull<LaunchOp, CallOp>(definition))
        wholeOf.try_emplace(getReshaped(input), concat.getResult());
}

uint32_t LaunchGraph::getBuffer(Value value) {
  value = getViewed(value);
  while (Value whole = wholeOf.lookup(value))
    value = whole;
  auto [it, isNew] = buffers.try_emplace(value, graph.buffers.size());
  if (isNew) {
    // Only what this block computes comes and goes.
    Operation *definition = value.getDefiningOp();
    bool isOwn = definition && definition->getBlock() == &block && !isFree(definition);
    graph.buffers.push_back({isOwn ? getTypicalBytes(value) : 0, !isOwn, false});
  }
  return it->second;
}

bool LaunchGraph::build() {
  collectParts();
  for (Operation &op : block.without_terminator()) {
    if (op.getNumRegions() != 0 || isa<BindOp, RequireOp, AppendOp>(op))
      return false;
    if (isFree(&op))
      continue;
    ordering::Node node;
    for (Value operand : op.getOperands())
      node.reads.push_back(getBuffer(operand));
    for (Value result : op.getResults())
      node.writes.push_back(getBuffer(result));
    // Seeds come from one source, one after the other.
    if (isa<RunSeedOp>(op))
      for (auto [i, other] : llvm::enumerate(nodes))
        if (isa<RunSeedOp>(other))
          node.after.push_back(i);
    graph.nodes.push_back(std::move(node));
    nodes.push_back(&op);
  }
  for (Value operand : block.getTerminator()->getOperands()) {
    ordering::Buffer &buffer = graph.buffers[getBuffer(operand)];
    buffer.isLiveAfter = true;
    // What a launch computes for an output, it writes into memory of the caller.
    if (isa<func::ReturnOp>(block.getTerminator()) && isa_and_nonnull<LaunchOp, CallOp>(getReshaped(operand).getDefiningOp()))
      buffer.size = 0;
  }
  return nodes.size() > 2;
}
