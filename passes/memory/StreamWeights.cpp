//===- StreamWeights.cpp - let go of weights after their last use ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/plan/Plan.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "passes/Passes.h"
#include "passes/cost/MemoryPolicy.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "plan-stream-weights"

namespace tenon {
#define GEN_PASS_DEF_STREAMWEIGHTS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {
/// A weight and the first and last operation of the program's top-level block that use it, directly or in a nested
/// region.
struct Use {
  plan::WeightOp weight;
  int64_t bytes;
  Operation *first = nullptr, *last = nullptr;
};
} // namespace

static int64_t getBytes(plan::WeightOp weight) {
  auto type = cast<ShapedType>(weight.getValue().getType());
  return type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

static void collectUses(Value buffer, Block &block, Use &use) {
  for (Operation *user : buffer.getUsers()) {
    if (auto alias = dyn_cast<plan::AliasOp>(user)) {
      collectUses(alias.getBuffer(), block, use);
      continue;
    }
    Operation *own = block.findAncestorOpInBlock(*user);
    assert(own && "a weight is used within its program");
    if (!use.first || own->isBeforeInBlock(use.first))
      use.first = own;
    if (!use.last || use.last->isBeforeInBlock(own))
      use.last = own;
  }
}

/// Returns the peak of weight bytes in memory if the first `streamed` weights are released after their last use. It is
/// monotonically decreasing in `streamed`.
static int64_t getPeak(ArrayRef<Use> uses, size_t streamed) {
  assert(streamed <= uses.size() && "only weights that are used are released");
  int64_t kept = 0, peak = 0;
  for (const Use &use : uses.drop_front(streamed))
    kept += use.bytes;
  for (const Use &at : uses.take_front(streamed)) {
    int64_t live = 0;
    // Most are in memory where one of them comes.
    for (const Use &use : uses.take_front(streamed))
      if (!at.first->isBeforeInBlock(use.first) && !use.last->isBeforeInBlock(at.first))
        live += use.bytes;
    peak = std::max(peak, live);
  }
  return kept + peak;
}

namespace {
struct StreamWeights : public tenon::impl::StreamWeightsBase<StreamWeights> {
  using StreamWeightsBase::StreamWeightsBase;
  void runOnOperation() override {
    Block &block = getOperation().getBody().front();
    SmallVector<Use> uses;
    getOperation().walk([&](plan::WeightOp weight) {
      Use use{weight, getBytes(weight)};
      collectUses(weight.getBuffer(), block, use);
      if (use.first)
        uses.push_back(use);
    });
    llvm::stable_sort(uses, [](const Use &a, const Use &b) { return a.bytes > b.bytes; });
    size_t most = llvm::partition_point(uses, [&](const Use &use) { return use.bytes >= policy.minStreamedBytes; }) -
                  uses.begin();
    auto counts = llvm::seq<size_t>(0, most);
    size_t streamed = *llvm::partition_point(counts, [&](size_t count) { return getPeak(uses, count) > budget; });
    LDBG() << "releases " << streamed << " of " << uses.size() << " weights after their last use: at most "
           << getPeak(uses, streamed) << " bytes are in memory, of a budget of " << budget;
    for (Use &use : MutableArrayRef(uses).take_front(streamed))
      release(use);
    numStreamed += streamed;
  }

private:
  /// The release comes after the whole last user, whose regions may not be executed.
  void release(Use &use) {
    assert(use.first && use.last && "only weights that are used are released");
    OpBuilder b(use.last->getContext());
    b.setInsertionPointAfter(use.last);
    if (use.weight->getBlock() != use.last->getBlock())
      use.weight->moveBefore(use.first);
    plan::ReleaseOp::create(b, use.weight.getLoc(), use.weight.getBuffer(),
                            use.weight.getNameAttr() ? use.weight.getNameAttr() : b.getStringAttr(""));
  }
  MemoryPolicy policy;
};
} // namespace
