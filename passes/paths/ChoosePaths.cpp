//===- ChoosePaths.cpp - the fastest way that is exact enough -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "passes/paths/Path.h"
#include "passes/paths/PathErrors.h"
#include "llvm/Support/DebugLog.h"
#include <cmath>

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
    std::vector<SmallVector<Candidate>> all;
    for (Operation *op : operations)
      all.push_back(listCandidates(op, machine));
    findWorthwhile(all);
    IRRewriter rewriter(&getContext());
    for (auto [op, candidates] : llvm::zip(operations, all)) {
      if (candidates.empty())
        continue;
      // The first that applies is the operation's own, which is always exact enough.
      const Path *own = candidates.front().path;
      llvm::stable_sort(candidates, [](const Candidate &x, const Candidate &y) { return x.cycles < y.cycles; });
      const Path *best = choose(op, own, candidates);
      rewriter.setInsertionPoint(op);
      Operation *taken = best->take(op, machine, rewriter);
      describe(taken, *best, candidates);
      numTaken += best != own;
    }
  }

private:
  struct Candidate {
    const Path *path;
    double cycles;
  };

  static SmallVector<Candidate> listCandidates(Operation *op, const Machine &machine) {
    SmallVector<Candidate> candidates;
    for (const auto &path : getPaths())
      if (std::optional<double> cycles = path->estimateCycles(op, machine))
        candidates.push_back({path.get(), *cycles});
    return candidates;
  }

  /// Any error has its price: that of the whole is measured. What all operations together save by a path must be worth
  /// it.
  void findWorthwhile(ArrayRef<SmallVector<Candidate>> all) {
    double total = 0;
    llvm::DenseMap<const Path *, double> saved;
    for (ArrayRef<Candidate> candidates : all)
      for (auto [path, cycles] : candidates) {
        double own = candidates.front().cycles;
        total += path == candidates.front().path ? own : 0;
        saved[path] += std::max(own - cycles, 0.0);
      }
    worthwhile.clear();
    for (auto [path, cycles] : saved)
      if (path->isAsExact() || cycles >= policy.minSavedShare * total)
        worthwhile.insert(path);
  }

  /// `candidates` are in the order of their cycles.
  const Path *choose(Operation *op, const Path *own, ArrayRef<Candidate> candidates) {
    for (auto [path, cycles] : candidates) {
      LDBG() << path->getName() << ": " << int64_t(cycles) << " cycles, " << op->getLoc();
      if (path == own)
        return own;
      if (!worthwhile.contains(path))
        continue;
      if (path->isAsExact())
        return path;
      double error = errors->measure(*path, op);
      if (error > budget)
        continue;
      errors->addTaken(error);
      return path;
    }
    return own;
  }

  /// Says what there was to choose from.
  static void describe(Operation *op, const Path &taken, ArrayRef<Candidate> candidates) {
    Builder builder(op->getContext());
    NamedAttrList cycles;
    for (const Candidate &candidate : candidates)
      cycles.append(candidate.path->getName(), builder.getI64IntegerAttr(std::llround(candidate.cycles)));
    op->setAttr(kPathAttr, builder.getStringAttr(taken.getName()));
    op->setAttr(kPathsAttr, cycles.getDictionary(op->getContext()));
  }

  PathPolicy policy;
  llvm::SmallPtrSet<const Path *, 16> worthwhile;
  std::shared_ptr<PathErrors> errors = std::make_shared<PathErrors>();
};
} // namespace

std::unique_ptr<Pass> tenon::createChoosePaths(ChoosePathsOptions options, std::shared_ptr<PathErrors> errors) {
  return std::make_unique<ChoosePaths>(std::move(options), std::move(errors));
}
