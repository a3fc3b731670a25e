//===- ChoosePaths.cpp - the fastest way that is exact enough -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/paths/Path.h"
#include "passes/paths/PathErrors.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tenon-choose-paths"

namespace tenon {
#define GEN_PASS_DEF_CHOOSEPATHS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {
struct ChoosePaths : public tenon::impl::ChoosePathsBase<ChoosePaths> {
  using ChoosePathsBase::ChoosePathsBase;
  ChoosePaths(ChoosePathsOptions options, std::shared_ptr<PathErrors> errors)
      : ChoosePathsBase(std::move(options)), errors(std::move(errors)) {}

  void runOnOperation() override {
    Machine machine = getMachine(getOperation());
    getOperation().walk([&](WeightOp weight) {
      RankedTensorType type = weight.getType();
      if (!isa<SplatElementsAttr>(weight.getValue()))
        machine.weightBytes += type.getNumElements() * llvm::divideCeilSigned(type.getElementTypeBitWidth(), 8);
    });
    SmallVector<Operation *> operations;
    getOperation().walk([&](Operation *op) {
      if (isa<TenonDialect>(op->getDialect()))
        operations.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (Operation *op : operations) {
      const Path *best = choose(op, machine);
      if (!best)
        continue;
      rewriter.setInsertionPoint(op);
      best->take(op, machine, rewriter);
      ++numTaken;
    }
  }

private:
  /// Null where the operation stays what it is.
  const Path *choose(Operation *op, const Machine &machine) {
    SmallVector<std::pair<double, const Path *>> candidates;
    for (const auto &path : getPaths())
      if (std::optional<double> cycles = path->estimateCycles(op, machine))
        candidates.push_back({*cycles, path.get()});
    if (candidates.empty())
      return nullptr;
    // The first that applies is the operation's own, which is always exact enough.
    const Path *own = candidates.front().second;
    llvm::stable_sort(candidates, llvm::less_first());
    for (auto [cycles, path] : candidates) {
      LDBG() << path->getName() << ": " << int64_t(cycles) << " cycles, " << op->getLoc();
      if (path == own)
        return nullptr;
      double error = errors->measure(*path, op);
      if (error > budget)
        continue;
      errors->addTaken(error);
      return path;
    }
    return nullptr;
  }

  std::shared_ptr<PathErrors> errors = std::make_shared<PathErrors>();
};
} // namespace

std::unique_ptr<Pass> tenon::createChoosePaths(ChoosePathsOptions options, std::shared_ptr<PathErrors> errors) {
  return std::make_unique<ChoosePaths>(std::move(options), std::move(errors));
}
