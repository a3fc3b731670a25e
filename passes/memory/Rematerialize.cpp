//===- Rematerialize.cpp - compute again instead of keeping -----------===//
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
#include "passes/cost/MemoryPolicy.h"
#include "passes/memory/LaunchGraph.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tenon-rematerialize"

namespace tenon {
#define GEN_PASS_DEF_REMATERIALIZE
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

//===----------------------------------------------------------------------===//
// How much is live
//===----------------------------------------------------------------------===//

namespace {

/// The largest number of bytes that are live at one time, and the number of launches at which they are.
struct Peak {
  int64_t bytes = 0, times = 0;
  Operation *first = nullptr; ///< of these launches

  bool isBelow(const Peak &other) const { return std::pair(bytes, times) < std::pair(other.bytes, other.times); }
};

} // namespace

/// Returns none if the block's operations cannot be reordered.
static std::optional<Peak> findPeak(Block &block) {
  LaunchGraph launches(block);
  if (!launches.build() || launches.hasRegions)
    return std::nullopt;
  Peak peak;
  std::vector<int64_t> live = ordering::getLiveBytes(launches.graph, ordering::getGivenOrder(launches.graph));
  for (auto [bytes, node] : llvm::zip(live, launches.nodes)) {
    if (bytes > peak.bytes)
      peak = {bytes, 0, node};
    peak.times += bytes == peak.bytes;
  }
  return peak;
}

//===----------------------------------------------------------------------===//
// Computing again
//===----------------------------------------------------------------------===//

namespace {

/// A launch that is cloned before those users of its result that come after `from`; it can be undone.
class Repetition {
public:
  Repetition(LaunchOp launch, Operation *from, mlir::SymbolTable &symbols, const MemoryPolicy &policy);

  /// The number of elements that are recomputed; 0 if nothing is.
  int64_t getCost() const { return cost; }
  void undo();

private:
  bool isCheap(LaunchOp launch);
  bool isUsedAfter(Value value, Operation *reader);
  Value repeat(LaunchOp launch, OpBuilder &b, unsigned depth);
  Value redirect(Value operand, Value old, Value replacement, OpBuilder &b);

  mlir::SymbolTable &symbols;
  int64_t cost = 0;
  SmallVector<Operation *> made;
  SmallVector<std::pair<OpOperand *, Value>> changed; ///< with what they were
};

} // namespace

/// Returns the operations that use a value, or a view of it, in block order.
static SmallVector<Operation *> getReaders(Value value) {
  SmallVector<Operation *> readers;
  for (Operation *user : value.getUsers())
    if (user->hasTrait<ViewLike>())
      llvm::append_range(readers, getReaders(user->getResult(0)));
    else
      readers.push_back(user);
  llvm::sort(readers, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return readers;
}

/// True for a kernel that computes one result element for each index, and does not write in place.
bool Repetition::isCheap(LaunchOp launch) {
  if (launch.getNumResults() != 1)
    return false;
  auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
  assert(kernel && !kernel.isExternal() && "a launch names a kernel of its module, which has a body");
  bool isJoining = llvm::any_of(kernel.getBody().front(), [](Operation &op) { return isa<LoopNestOpInterface>(op); });
  return !isJoining && llvm::none_of(getReaders(launch.getResult(0)), [](Operation *reader) {
    return isa<ConcatOp>(reader) || reader->hasTrait<OpTrait::IsTerminator>();
  });
}

/// True if a value is live anyway when `reader` runs.
bool Repetition::isUsedAfter(Value value, Operation *reader) {
  value = getViewed(value);
  Operation *definition = value.getDefiningOp();
  if (!definition || isFree(definition) || definition->getBlock() != reader->getBlock())
    return true;
  return llvm::any_of(getReaders(value), [&](Operation *other) { return reader->isBeforeInBlock(other); });
}

Value Repetition::repeat(LaunchOp launch, OpBuilder &b, unsigned depth) {
  assert(depth > 0 && isCheap(launch) && "only cheap launches are repeated, so many deep");
  auto copy = cast<LaunchOp>(b.clone(*launch));
  OpBuilder before(copy);
  for (OpOperand &operand : copy->getOpOperands()) {
    auto source = getViewed(operand.get()).getDefiningOp<LaunchOp>();
    if (source && depth > 1 && !isUsedAfter(operand.get(), copy) && isCheap(source))
      operand.set(redirect(operand.get(), source.getResult(0), repeat(source, before, depth - 1), before));
  }
  made.push_back(copy);
  cost +=
      std::max<int64_t>(getConstant(getElementCount(b.getContext(), getDims(copy.getResult(0)))).value_or(1 << 20), 1);
  return copy.getResult(0);
}

/// Clones the chain of views from `old` to `operand` for `replacement`.
Value Repetition::redirect(Value operand, Value old, Value replacement, OpBuilder &b) {
  if (operand == old)
    return replacement;
  assert(operand.getDefiningOp() && operand.getDefiningOp()->hasTrait<ViewLike>() &&
         "what is no view is the value itself");
  Operation *view = b.clone(*operand.getDefiningOp());
  OpBuilder before(view);
  view->setOperand(0, redirect(view->getOperand(0), old, replacement, before));
  made.push_back(view);
  return view->getResult(0);
}

Repetition::Repetition(LaunchOp launch, Operation *from, mlir::SymbolTable &symbols, const MemoryPolicy &policy)
    : symbols(symbols) {
  assert(launch->getBlock() == from->getBlock() && "launches are repeated within their block");
  assert(symbols.lookup(launch.getKernel()) && "a launch names a kernel of its module");
  Value old = launch.getResult(0), replacement;
  if (!isCheap(launch))
    return;
  for (Operation *reader : getReaders(old)) {
    if (!from->isBeforeInBlock(reader))
      continue;
    OpBuilder b(reader);
    if (!replacement)
      replacement = repeat(launch, b, static_cast<unsigned>(policy.maxRematerializedDepth));
    for (OpOperand &operand : reader->getOpOperands())
      if (getViewed(operand.get()) == old) {
        changed.push_back({&operand, operand.get()});
        operand.set(redirect(operand.get(), old, replacement, b));
      }
  }
}

void Repetition::undo() {
  for (auto [operand, value] : llvm::reverse(changed))
    operand->set(value);
  // What others read goes after these.
  while (!made.empty())
    for (Operation *op : llvm::to_vector(made))
      if (op->use_empty()) {
        llvm::erase(made, op);
        op->erase();
      }
}

//===----------------------------------------------------------------------===//
// Which ones
//===----------------------------------------------------------------------===//

/// Returns launches whose results are live but unused while `peak` runs, the largest results first.
static SmallVector<LaunchOp> findIdle(Operation *peak, const MemoryPolicy &policy) {
  SmallVector<LaunchOp> idle;
  for (auto launch : peak->getBlock()->getOps<LaunchOp>()) {
    if (!launch->isBeforeInBlock(peak))
      break;
    SmallVector<Operation *> readers =
        launch.getNumResults() == 1 ? getReaders(launch.getResult(0)) : SmallVector<Operation *>();
    if (!readers.empty() && peak->isBeforeInBlock(readers.back()) && !llvm::is_contained(readers, peak))
      idle.push_back(launch);
  }
  llvm::stable_sort(idle, [](LaunchOp a, LaunchOp b) {
    return LaunchGraph::getTypicalBytes(a.getResult(0)) > LaunchGraph::getTypicalBytes(b.getResult(0));
  });
  if (static_cast<int64_t>(idle.size()) > policy.maxRematerialized)
    idle.resize(policy.maxRematerialized);
  return idle;
}

/// Recomputes the activation that saves the most. Returns false if there is none.
static bool recomputeOne(Block &block, mlir::SymbolTable &symbols, const MemoryPolicy &policy) {
  std::optional<Peak> before = findPeak(block);
  if (!before || !before->first)
    return false;
  LaunchOp best;
  std::pair<double, double> bestGain;
  for (LaunchOp launch : findIdle(before->first, policy)) {
    Repetition repetition(launch, before->first, symbols, policy);
    if (repetition.getCost() == 0)
      continue;
    Peak after = *findPeak(block);
    repetition.undo();
    if (!after.isBelow(*before))
      continue;
    double cost = static_cast<double>(repetition.getCost());
    std::pair gain(static_cast<double>(before->bytes - after.bytes) / cost, 1 / cost);
    if (gain > bestGain) {
      best = launch;
      bestGain = gain;
    }
  }
  LDBG() << (best ? "repeats a launch" : "finds no launch to repeat") << " for a peak of " << before->bytes << " bytes";
  if (best)
    Repetition(best, before->first, symbols, policy);
  return best != nullptr;
}

namespace {
struct Rematerialize : public tenon::impl::RematerializeBase<Rematerialize> {
  using RematerializeBase::RematerializeBase;
  void runOnOperation() override {
    mlir::SymbolTable symbols(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function->hasAttr(kKernelAttr) || function.isExternal())
        continue;
      function.walk([&](Block *block) {
        for (int64_t i = 0; i < limit && recomputeOne(*block, symbols, policy); ++i)
          ++numRecomputed;
      });
    }
  }

private:
  MemoryPolicy policy;
};
} // namespace
