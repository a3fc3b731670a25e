//===- ChoosePaths.cpp - the fastest way that is exact enough -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/ServedRegion.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "passes/paths/Bf16Activations.h"
#include "passes/paths/ErrorBudget.h"
#include "passes/paths/Path.h"
#include "passes/paths/PathAction.h"
#include "passes/paths/PathErrors.h"
#include "passes/paths/PathOperations.h"
#include "passes/paths/PathSelection.h"
#include "passes/paths/PathTimes.h"
#include "passes/paths/SplitProduct.h"
#include "llvm/Support/DebugLog.h"
#include <cmath>
#include <limits>

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
  ChoosePaths(ChoosePathsOptions options, std::shared_ptr<PathErrors> errors, std::shared_ptr<PathTimes> times,
              std::shared_ptr<PathSelection> selection)
      : ChoosePathsBase(std::move(options)), errors(std::move(errors)), times(std::move(times)),
        selection(std::move(selection)) {}

  void runOnOperation() override {
    Machine machine = getPathMachine(getOperation());
    SmallVector<Operation *> operations = listPathOperations(getOperation());
    std::vector<SmallVector<Candidate>> all;
    for (Operation *op : operations)
      all.push_back(listCandidates(op, machine));
    std::vector<PathRegion> regions = listRegions(operations, all);
    setCosts(regions, all);
    findWorthwhile(all);
    bool isMeasuring = times && times->isMeasuring();
    std::vector<const Path *> chosen =
        isMeasuring ? chooseToMeasure(operations, regions, all) : choose(operations, all);
    if (selection)
      select(operations, chosen, all);
    ServedRegionMarker marker;
    IRRewriter rewriter(&getContext(), &marker);
    for (auto [op, path, candidates, region] : llvm::zip(operations, chosen, all, regions)) {
      if (!path)
        continue;
      rewriter.setInsertionPoint(op);
      marker.setRegion(region.text.empty() ? StringAttr() : rewriter.getStringAttr(region.text));
      Attribute place = op->getAttr(kPlaceAttr);
      Operation *taken = path->take(op, machine, rewriter);
      taken->removeAttr(kServedRegionAttr);
      if (place)
        taken->setAttr(kPlaceAttr, place);
      llvm::stable_sort(candidates, [](const Candidate &x, const Candidate &y) { return x.cost < y.cost; });
      describe(taken, *path, candidates, region.text);
    }
    marker.setRegion({});
    if (!isMeasuring)
      storeActivations(rewriter, machine, all, chosen);
    getOperation().walk([](Operation *op) { op->removeAttr(kPlaceAttr); });
  }

private:
  struct Candidate {
    const Path *path;
    double cycles;
    std::optional<double> nanoseconds = std::nullopt; ///< of real runs
    double cost = 0;                                  ///< in a unit that all operations share
  };

  static SmallVector<Candidate> listCandidates(Operation *op, const Machine &machine) {
    SmallVector<Candidate> candidates;
    for (const auto &path : getPaths())
      if (std::optional<double> cycles = path->estimateCycles(op, machine))
        candidates.push_back({path.get(), *cycles});
    return candidates;
  }

  /// Tells what operations take, for a copy of them on another machine, and notes on each where it stands.
  void select(ArrayRef<Operation *> operations, ArrayRef<const Path *> chosen, ArrayRef<SmallVector<Candidate>> all) {
    Builder builder(&getContext());
    func::FuncOp function = getOperation();
    for (auto [i, op, path, candidates] : llvm::enumerate(operations, chosen, all)) {
      if (path) {
        double error = path == candidates.front().path ? 0 : getError(op, *path);
        selection->add(getTarget(), function.getName(), i, {path->getName().str(), error});
      }
      op->setAttr(kPlaceAttr, builder.getIndexAttr(i));
    }
  }

  std::string getTarget() {
    auto module = getOperation()->getParentOfType<ModuleOp>();
    return module.getName().value_or("").str();
  }

  /// Whether a copy can be told that a value is rounded to bf16; it is told so.
  bool selectRounded(Value value) {
    if (!selection)
      return true;
    auto place = value.getDefiningOp()->getAttrOfType<IntegerAttr>(kPlaceAttr);
    if (place)
      selection->addRounded(getTarget(), getOperation().getName(), place.getInt());
    return place != nullptr;
  }

  /// What the paths of each operation are recorded under; empty where there is no choice, or no records count.
  std::vector<PathRegion> listRegions(ArrayRef<Operation *> operations, ArrayRef<SmallVector<Candidate>> all) const {
    std::vector<PathRegion> regions;
    for (auto [op, candidates] : llvm::zip(operations, all))
      regions.push_back(times && candidates.size() > 1 ? PathRegion::get(op) : PathRegion());
    return regions;
  }

  void setCosts(ArrayRef<PathRegion> regions, MutableArrayRef<SmallVector<Candidate>> all) {
    std::vector<std::vector<PathCost>> costs;
    for (auto [region, candidates] : llvm::zip(regions, all)) {
      if (!region.text.empty())
        for (Candidate &candidate : candidates)
          candidate.nanoseconds = times->find(region, candidate.path->getName());
      std::vector<PathCost> &own = costs.emplace_back();
      for (const Candidate &candidate : candidates)
        own.push_back({candidate.cycles, candidate.nanoseconds});
    }
    for (auto [candidates, blended] : llvm::zip(all, blendCosts(costs)))
      for (auto [candidate, cost] : llvm::zip(candidates, blended))
        candidate.cost = cost;
  }

  /// Any error has its price: that of the whole is measured. What all operations together save by a path must be worth
  /// it.
  void findWorthwhile(ArrayRef<SmallVector<Candidate>> all) {
    double total = 0;
    llvm::DenseMap<const Path *, double> saved;
    for (ArrayRef<Candidate> candidates : all)
      for (const Candidate &candidate : candidates) {
        double own = candidates.front().cost;
        total += candidate.path == candidates.front().path ? own : 0;
        saved[candidate.path] += std::max(own - candidate.cost, 0.0);
      }
    worthwhile.clear();
    for (auto [path, cost] : saved)
      if (path->isAsExact() || cost >= policy.minSavedShare * total)
        worthwhile.insert(path);
  }

  /// For each operation one of all paths that are exact enough, whatever they cost; null where there is none.
  std::vector<const Path *> chooseToMeasure(ArrayRef<Operation *> operations, const std::vector<PathRegion> &regions,
                                            ArrayRef<SmallVector<Candidate>> all) {
    std::vector<const Path *> chosen;
    for (auto [op, region, candidates] : llvm::zip(operations, regions, all)) {
      chosen.push_back(nullptr);
      if (candidates.empty())
        continue;
      SmallVector<const Path *> paths;
      SmallVector<PathOption> options;
      for (const Candidate &candidate : candidates) {
        const Path *path = candidate.path;
        bool isExact = path == candidates.front().path || path->isAsExact();
        std::optional<double> error = isExact ? std::nullopt : std::optional(errors->measure(*path, op));
        if (error && *error > budget)
          continue;
        paths.push_back(path);
        options.push_back({path->getName(), error});
      }
      size_t place = times->pick(region, options);
      assert(place < paths.size() && "one of the options is picked");
      if (options[place].error)
        errors->addTaken(*options[place].error);
      chosen.back() = paths[place];
      numTaken += place != 0;
    }
    return chosen;
  }

  /// Whether whoever traces the compilation lets the operation have this path.
  static bool isAllowed(Operation *op, StringRef path) {
    bool isTaken = false;
    op->getContext()->executeAction<PathAction>([&] { isTaken = true; }, {op}, path);
    return isTaken;
  }

  /// The error of a path that is not the operation's own; 0 if it needs no budget.
  double getError(Operation *op, const Path &path) { return path.isAsExact() ? 0 : errors->measure(path, op); }

  /// The candidates that may be the best: those that cost less than any that needs no budget, and the cheapest of
  /// these. The first one, the operation's own, is always exact enough.
  std::vector<PricedPath> price(Operation *op, ArrayRef<Candidate> candidates) {
    const Path *own = candidates.front().path;
    double exact = std::numeric_limits<double>::infinity();
    for (const Candidate &candidate : candidates)
      if (candidate.path == own || (candidate.path->isAsExact() && worthwhile.contains(candidate.path)))
        exact = std::min(exact, candidate.cost);
    std::vector<PricedPath> priced;
    for (const Candidate &candidate : candidates) {
      bool isOwn = candidate.path == own;
      bool isWorthIt = isOwn || (candidate.cost <= exact && worthwhile.contains(candidate.path));
      double error = !isWorthIt ? std::numeric_limits<double>::infinity() : isOwn ? 0 : getError(op, *candidate.path);
      priced.push_back({candidate.cost, error});
      LDBG() << candidate.path->getName() << ": " << int64_t(candidate.cycles) << " cycles, cost "
             << int64_t(candidate.cost) << ", error " << error << ", " << op->getLoc();
    }
    return priced;
  }

  /// For each operation the path that makes the whole fast and exact enough; null where there is none.
  std::vector<const Path *> choose(ArrayRef<Operation *> operations, ArrayRef<SmallVector<Candidate>> all) {
    std::vector<std::vector<PricedPath>> priced;
    std::vector<size_t> numbers;
    for (auto [number, candidates] : llvm::enumerate(all))
      if (!candidates.empty()) {
        priced.push_back(price(operations[number], candidates));
        numbers.push_back(number);
      }
    std::vector<const Path *> chosen(all.size());
    variance = 0;
    for (auto [number, paths, place] : llvm::zip(numbers, priced, distributeBudget(priced, {budget, totalBudget}))) {
      const Path *own = all[number].front().path, *best = all[number][place].path;
      bool isOwn = best == own || !isAllowed(operations[number], best->getName());
      chosen[number] = isOwn ? own : best;
      if (isOwn)
        continue;
      ++numTaken;
      if (paths[place].error > 0)
        errors->addTaken(paths[place].error);
      variance += paths[place].error * paths[place].error;
    }
    errors->addTotal(std::sqrt(variance));
    return chosen;
  }

  /// Spends what is left of the budget on activations that are stored as bf16, if that saves enough.
  void storeActivations(IRRewriter &rewriter, const Machine &machine, ArrayRef<SmallVector<Candidate>> all,
                        ArrayRef<const Path *> chosen) {
    double total = 0, saved = 0;
    for (auto [candidates, path] : llvm::zip(all, chosen))
      for (const Candidate &candidate : candidates)
        total += candidate.path == path ? candidate.cycles : 0;
    SmallVector<Bf16Activation> activations = listBf16Activations(getOperation(), machine);
    std::vector<std::vector<PricedPath>> priced;
    for (const Bf16Activation &activation : activations) {
      priced.push_back({{activation.savedCycles, 0}, {0, kBf16RoundingError}});
      saved += activation.savedCycles;
    }
    if (saved < policy.minSavedShare * total)
      return;
    ErrorBudget left{budget, std::sqrt(std::max(totalBudget * totalBudget - variance, 0.0))};
    for (auto [activation, place] : llvm::zip(activations, distributeBudget(priced, left))) {
      if (place == 0 || !isAllowed(activation.rounding, kBf16ActivationName) ||
          !selectRounded(activation.rounding.getInput()))
        continue;
      storeAsBf16(activation, rewriter);
      errors->addTaken(kBf16RoundingError);
      variance += kBf16RoundingError * kBf16RoundingError;
    }
    errors->addTotal(std::sqrt(variance));
  }

  /// Says what there was to choose from.
  static void describe(Operation *op, const Path &taken, ArrayRef<Candidate> candidates, StringRef region) {
    Builder builder(op->getContext());
    NamedAttrList cycles, measured;
    for (const Candidate &candidate : candidates) {
      cycles.append(candidate.path->getName(), builder.getI64IntegerAttr(std::llround(candidate.cycles)));
      if (candidate.nanoseconds)
        measured.append(candidate.path->getName(), builder.getI64IntegerAttr(std::llround(*candidate.nanoseconds)));
    }
    if (!region.empty())
      op->setAttr(kRegionAttr, builder.getStringAttr(region));
    if (!measured.empty())
      op->setAttr(kPathTimesAttr, measured.getDictionary(op->getContext()));
    op->setAttr(kPathAttr, builder.getStringAttr(taken.getName()));
    op->setAttr(kPathsAttr, cycles.getDictionary(op->getContext()));
  }

  /// The number of an operation among those of its function, while paths are taken.
  static constexpr llvm::StringLiteral kPlaceAttr = "tenon.place";
  /// What a bisection calls an activation that is stored as bf16.
  static constexpr llvm::StringLiteral kBf16ActivationName = "bf16_activation";

  PathPolicy policy;
  double variance = 0; ///< of the errors that were taken
  llvm::SmallPtrSet<const Path *, 16> worthwhile;
  std::shared_ptr<PathErrors> errors = std::make_shared<PathErrors>();
  std::shared_ptr<PathTimes> times;         ///< null if nothing is known of real runs
  std::shared_ptr<PathSelection> selection; ///< null if nobody asks for it
};
} // namespace

std::unique_ptr<Pass> tenon::createChoosePaths(ChoosePathsOptions options, std::shared_ptr<PathErrors> errors,
                                               std::shared_ptr<PathTimes> times,
                                               std::shared_ptr<PathSelection> selection) {
  return std::make_unique<ChoosePaths>(std::move(options), std::move(errors), std::move(times), std::move(selection));
}
