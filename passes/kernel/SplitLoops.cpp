//===- SplitLoops.cpp - loops over parts that differ ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What joins tensors along its innermost loop asks for each element which of
// them it is of. Such a loop becomes one for each tensor, which asks nothing,
// so that vectors can compute it.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"

namespace tenon {
#define GEN_PASS_DEF_SPLITLOOPS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {
/// A branch on whether a loop is before `place`, which lies within it.
struct Split {
  scf::IfOp branch;
  int64_t place;
};
} // namespace

/// The first such branch in the body of a loop of constant bounds.
static std::optional<Split> findSplit(scf::ForOp loop) {
  std::optional<int64_t> begin = getConstantIntValue(loop.getLowerBound()),
                         end = getConstantIntValue(loop.getUpperBound());
  // Below zero an index is a large number without a sign.
  if (!begin || !end || *begin < 0 || getConstantIntValue(loop.getStep()) != 1 || loop.getNumResults() != 0)
    return std::nullopt;
  for (auto branch : loop.getBody()->getOps<scf::IfOp>()) {
    auto compare = branch.getCondition().getDefiningOp<arith::CmpIOp>();
    if (!compare || compare.getPredicate() != arith::CmpIPredicate::ult ||
        compare.getLhs() != loop.getInductionVar())
      continue;
    std::optional<int64_t> place = getConstantIntValue(compare.getRhs());
    if (place && *begin < *place && *place < *end)
      return Split{branch, *place};
  }
  return std::nullopt;
}

/// Puts one of the regions of a branch in its place.
static void takeRegion(scf::IfOp branch, Region &region) {
  Block &block = region.front();
  Operation *yield = block.getTerminator();
  branch->replaceAllUsesWith(yield->getOperands());
  yield->erase();
  branch->getBlock()->getOperations().splice(branch->getIterator(), block.getOperations());
  branch->erase();
}

/// A loop up to the place, which takes one way, and one from there on, which takes the other.
static void splitAt(scf::ForOp loop, Split split) {
  OpBuilder builder(loop);
  Value place = arith::ConstantIndexOp::create(builder, loop.getLoc(), split.place);
  IRMapping mapping;
  auto first = cast<scf::ForOp>(builder.clone(*loop, mapping));
  first.setUpperBound(place);
  loop.setLowerBound(place);
  auto branch = cast<scf::IfOp>(mapping.lookup(split.branch.getOperation()));
  takeRegion(branch, branch.getThenRegion());
  if (!split.branch.getElseRegion().empty())
    takeRegion(split.branch, split.branch.getElseRegion());
  else
    split.branch.erase();
}

static void splitLoops(func::FuncOp kernel) {
  SmallVector<scf::ForOp> innermost;
  kernel.walk([&](scf::ForOp loop) {
    if (!loop.getBody()->walk([](scf::ForOp) { return WalkResult::interrupt(); }).wasInterrupted())
      innermost.push_back(loop);
  });
  for (scf::ForOp loop : innermost)
    while (std::optional<Split> split = findSplit(loop))
      splitAt(loop, *split);
}

namespace {
struct SplitLoops : public tenon::impl::SplitLoopsBase<SplitLoops> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (kernel->hasAttr(kKernelAttr))
        splitLoops(kernel);
  }
};
} // namespace
