//===- OrderLaunches.cpp - an order in which fewer bytes are live ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/Views.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "passes/memory/ordering/FindOrder.h"
#include <functional>
#include <numeric>

namespace tenon {
#define GEN_PASS_DEF_ORDERLAUNCHES
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

/// Some 20 ms.
static constexpr int64_t kOrderingSteps = 4'000'000;
/// What a symbol counts as: orders are compared by the bytes that come of it.
static constexpr int64_t kTypicalExtent = 128;

/// Computes nothing when the model runs: it moves along with those that use it.
static bool isFree(Operation *op) { return isa<WeightOp, SizesOp, ReshapeOp, SliceOp>(op); }

/// The bytes of a value where each symbol is `kTypicalExtent`.
static int64_t getTypicalBytes(Value value) {
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

namespace {

class BlockOrder {
public:
  explicit BlockOrder(Block &block) : block(block) {}
  bool build();
  void apply(const ordering::Order &order);

  ordering::Graph graph;

private:
  uint32_t getBuffer(Value value);
  void collectParts();

  Block &block;
  SmallVector<Operation *> nodes;
  llvm::DenseMap<Value, uint32_t> buffers;
  llvm::DenseMap<Value, Value> wholeOf; ///< of the inputs of a concat: its result
};

} // namespace

/// Inputs of a concat that are computed where its result lies.
void BlockOrder::collectParts() {
  for (auto concat : block.getOps<ConcatOp>())
    for (Value input : concat.getInputs())
      if (Operation *definition = getReshaped(input).getDefiningOp(); isa_and_nonnull<LaunchOp, CallOp>(definition))
        wholeOf.try_emplace(getReshaped(input), concat.getResult());
}

uint32_t BlockOrder::getBuffer(Value value) {
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

/// False where the block has to keep its order.
bool BlockOrder::build() {
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
    // An output lies in memory of the caller, wherever it is computed.
    ordering::Buffer &buffer = graph.buffers[getBuffer(operand)];
    buffer.isLiveAfter = true;
  }
  return nodes.size() > 2;
}

void BlockOrder::apply(const ordering::Order &order) {
  Operation *terminator = block.getTerminator();
  llvm::SmallPtrSet<Operation *, 32> moved;
  std::function<void(Operation *)> move = [&](Operation *op) {
    if (!op || op->getBlock() != &block || !moved.insert(op).second)
      return;
    for (Value operand : op->getOperands())
      if (Operation *definition = operand.getDefiningOp(); definition && isFree(definition))
        move(definition);
    op->moveBefore(terminator);
  };
  for (uint32_t node : order)
    move(nodes[node]);
  for (Value operand : terminator->getOperands())
    move(operand.getDefiningOp());
  // What nothing uses stays in front.
}

namespace {
struct OrderLaunches : public tenon::impl::OrderLaunchesBase<OrderLaunches> {
  void runOnOperation() override {
    if (getOperation()->hasAttr(kKernelAttr) || getOperation().isExternal())
      return;
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks) {
      BlockOrder order(*block);
      if (!order.build())
        continue;
      ordering::Order given(order.graph.nodes.size());
      std::iota(given.begin(), given.end(), 0);
      ordering::FoundOrder found = ordering::findOrder(order.graph, kOrderingSteps);
      int64_t before = ordering::getPeak(order.graph, given);
      bytesBefore += before;
      bytesAfter += found.peak;
      if (found.peak < before)
        order.apply(found.order);
    }
  }
};
} // namespace
