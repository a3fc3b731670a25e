//===- OrderLaunches.cpp - an order in which fewer bytes are live ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "passes/memory/LaunchGraph.h"
#include "passes/memory/ordering/FindOrder.h"
#include "llvm/Support/DebugLog.h"
#include <functional>

#define DEBUG_TYPE "tenon-order-launches"

namespace tenon {
#define GEN_PASS_DEF_ORDERLAUNCHES
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

/// Reorders the nodes of the graph, and moves free operations with their users.
static void apply(Block &block, const LaunchGraph &graph, const ordering::Order &order) {
  assert(order.size() == graph.nodes.size() && "an order has each launch once");
  Operation *terminator = block.getTerminator();
  llvm::SmallPtrSet<Operation *, 32> moved;
  std::function<void(Operation *)> move = [&](Operation *op) {
    if (!op || op->getBlock() != &block || !moved.insert(op).second)
      return;
    llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), used);
    for (Value value : used)
      if (Operation *definition = value.getDefiningOp(); definition && isFree(definition))
        move(definition);
    op->moveBefore(terminator);
  };
  for (uint32_t node : order)
    move(graph.nodes[node]);
  for (Value operand : terminator->getOperands())
    move(operand.getDefiningOp());
  // What nothing uses stays in front.
}

namespace {
struct OrderLaunches : public tenon::impl::OrderLaunchesBase<OrderLaunches> {
  using OrderLaunchesBase::OrderLaunchesBase;
  void runOnOperation() override {
    if (getOperation()->hasAttr(kKernelAttr) || getOperation().isExternal())
      return;
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks) {
      LaunchGraph launches(*block);
      if (!launches.build())
        continue;
      ordering::FoundOrder found = ordering::findOrder(launches.graph, steps);
      int64_t before = ordering::getPeak(launches.graph, ordering::getGivenOrder(launches.graph));
      LDBG() << "orders " << launches.graph.nodes.size() << " launches: " << before << " bytes as they stand, "
             << found.peak << " at best";
      bytesBefore += before;
      bytesAfter += found.peak;
      if (found.peak < before)
        apply(*block, launches, found.order);
    }
  }
};
} // namespace
