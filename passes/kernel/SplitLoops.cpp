//===- SplitLoops.cpp - loops over parts that differ ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop that concatenates tensors along the innermost dimension tests for each
// element which of them it is of, and one with a border whether it is there. Such a
// loop is split into one for each part, without a test, so that it can be vectorized.
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
/// A branch that a loop of constant bounds takes only for its steps in [first, end).
struct Branch {
  scf::IfOp op;
  int64_t first, end;
};
} // namespace

/// Returns the steps for which `op` takes its first region, whose condition is the unsigned comparison `step + c < n`.
static std::optional<Branch> matchBranch(scf::IfOp op, scf::ForOp loop) {
  auto compare = op.getCondition().getDefiningOp<arith::CmpIOp>();
  std::optional<int64_t> count = compare ? getConstantIntValue(compare.getRhs()) : std::nullopt;
  if (!count || *count < 0 || compare.getPredicate() != arith::CmpIPredicate::ult)
    return std::nullopt;
  Value place = compare.getLhs();
  int64_t first = 0;
  if (auto add = place.getDefiningOp<arith::AddIOp>())
    if (std::optional<int64_t> less = getConstantIntValue(add.getRhs()); less && *less <= 0) {
      first = -*less;
      place = add.getLhs();
    }
  return place == loop.getInductionVar() ? std::optional(Branch{op, first, first + *count}) : std::nullopt;
}

/// Puts one of the regions of a branch in its place.
static void takeRegion(scf::IfOp branch, Region &region) {
  if (!region.empty()) {
    Block &block = region.front();
    Operation *yield = block.getTerminator();
    branch->replaceAllUsesWith(yield->getOperands());
    yield->erase();
    branch->getBlock()->getOperations().splice(branch->getIterator(), block.getOperations());
  }
  branch->erase();
}

/// Folds the branches that go the same way for all steps in [begin, end) of a loop. Returns the first step at which one
/// of the other branches changes.
static std::optional<int64_t> decideBranches(scf::ForOp loop, int64_t begin, int64_t end) {
  std::optional<int64_t> change;
  SmallVector<scf::IfOp> waiting(loop.getBody()->getOps<scf::IfOp>());
  while (!waiting.empty()) {
    scf::IfOp op = waiting.pop_back_val();
    std::optional<Branch> branch = matchBranch(op, loop);
    if (!branch)
      continue;
    bool isTaken = branch->first <= begin && end <= branch->end, isLeft = end <= branch->first || branch->end <= begin;
    if (isTaken || isLeft) {
      // What was inside is in the loop's own body then.
      Region &region = isTaken ? op.getThenRegion() : op.getElseRegion();
      llvm::append_range(waiting, region.getOps<scf::IfOp>());
      takeRegion(op, region);
      continue;
    }
    int64_t place = branch->first > begin ? branch->first : branch->end;
    change = std::min(change.value_or(place), place);
  }
  return change;
}

/// Cuts an innermost loop where its branches change.
static void splitLoop(scf::ForOp loop) {
  std::optional<int64_t> begin = getConstantIntValue(loop.getLowerBound()),
                         end = getConstantIntValue(loop.getUpperBound());
  // A negative index would be a large number in the unsigned comparison.
  if (!begin || !end || *begin < 0 || *begin >= *end || getConstantIntValue(loop.getStep()) != 1 ||
      loop.getNumResults() != 0)
    return;
  std::optional<int64_t> change = decideBranches(loop, *begin, *end);
  if (!change)
    return;
  OpBuilder builder(loop);
  Value place = arith::ConstantIndexOp::create(builder, loop.getLoc(), *change);
  auto first = cast<scf::ForOp>(builder.clone(*loop));
  first.setUpperBound(place);
  loop.setLowerBound(place);
  splitLoop(first);
  splitLoop(loop);
}

static void splitLoops(func::FuncOp kernel) {
  SmallVector<scf::ForOp> innermost;
  kernel.walk([&](scf::ForOp loop) {
    if (!loop.getBody()->walk([](scf::ForOp) { return WalkResult::interrupt(); }).wasInterrupted())
      innermost.push_back(loop);
  });
  llvm::for_each(innermost, splitLoop);
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
