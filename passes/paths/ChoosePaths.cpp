//===- ChoosePaths.cpp - the fastest way that is exact enough -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/ServedRegion.h"
#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/ValueNames.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "passes/paths/Bf16Activations.h"
#include "passes/paths/ErrorBudget.h"
#include "passes/paths/Path.h"
#include "passes/paths/PathAction.h"
#include "passes/paths/PathContext.h"
#include "passes/paths/PathErrors.h"
#include "passes/paths/PathOperations.h"
#include "passes/paths/PathPins.h"
#include "passes/paths/PathSelection.h"
#include "passes/paths/PathSpace.h"
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
  ChoosePaths(ChoosePathsOptions options, PathContext context)
      : ChoosePathsBase(std::move(options)), times(std::move(context.times)), pins(std::move(context.pins)),
        sensitivities(std::move(context.sensitivities)), selection(std::move(context.selection)),
        space(std::move(context.space)) {
    if (context.errors)
      errors = std::move(context.errors);
  }

  /// Pins may also be options of the pass.
  LogicalResult initialize(MLIRContext *context) override {
    llvm::Expected<std::shared_ptr<PathPins>> own = parsePins(force, exclude);
    if (!own)
      return emitError(UnknownLoc::get(context), llvm::toString(own.takeError()));
    if (*own)
      pins = std::move(*own);
    return success();
  }

  void runOnOperation() override {
    Machine machine = getPathMachine(getOperation());
    SmallVector<Operation *> operations = listPathOperations(getOperation());
    std::vector<SmallVector<Candidate>> all;
    for (Operation *op : operations)
      all.push_back(listCandidates(op, machine));
    std::vector<PathRegion> regions = listRegions(operations, all);
    if (pins)
      applyPins(operations, regions, all);
    setCosts(regions, all);
    if (space)
      tellSpace(operations, regions, all);
    findWorthwhile(all);
    bool isMeasuring = times && times->isMeasuring();
    std::vector<const Path *> chosen =
        isMeasuring ? chooseToMeasure(operations, regions, all) : choose(operations, regions, all);
    if (selection)
      select(operations, chosen, all);
    ServedRegionMarker marker;
    IRRewriter rewriter(&getContext(), &marker);
    for (auto [op, path, candidates, region] : llvm::zip(operations, chosen, all, regions)) {
      if (!path)
        continue;
      rewriter.setInsertionPoint(op);
      // What is measured is recorded under it.
      StringRef recorded = times ? StringRef(region.text) : StringRef();
      marker.setRegion(recorded.empty() ? StringAttr() : rewriter.getStringAttr(recorded));
      Attribute place = op->getAttr(kPlaceAttr);
      Operation *taken = path->take(op, machine, rewriter);
      taken->removeAttr(kServedRegionAttr);
      if (place)
        taken->setAttr(kPlaceAttr, place);
      llvm::stable_sort(candidates, [](const Candidate &x, const Candidate &y) { return x.cost < y.cost; });
      describe(taken, *path, candidates, recorded);
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
    bool isDefault;                                   ///< how the operation is computed if nobody chooses
    std::optional<double> nanoseconds = std::nullopt; ///< of real runs
    double cost = 0;                                  ///< in a unit that all operations share
  };

  static SmallVector<Candidate> listCandidates(Operation *op, const Machine &machine) {
    SmallVector<Candidate> candidates;
    for (const auto &path : getPaths())
      if (std::optional<double> cycles = path->estimateCycles(op, machine))
        candidates.push_back({path.get(), *cycles, /*isDefault=*/candidates.empty()});
    return candidates;
  }

  /// Records the paths that operations take, for a copy of them on another machine, and attaches its position to each
  /// operation.
  void select(ArrayRef<Operation *> operations, ArrayRef<const Path *> chosen, ArrayRef<SmallVector<Candidate>> all) {
    Builder builder(&getContext());
    func::FuncOp function = getOperation();
    for (auto [i, op, path, candidates] : llvm::enumerate(operations, chosen, all)) {
      if (path) {
        double error = getError(op, *llvm::find_if(candidates, [&](const Candidate &it) { return it.path == path; }));
        selection->add(getTarget(), function.getName(), i, {path->getName().str(), error});
      }
      op->setAttr(kPlaceAttr, builder.getIndexAttr(i));
    }
  }

  std::string getTarget() {
    auto module = getOperation()->getParentOfType<ModuleOp>();
    return module.getName().value_or("").str();
  }

  /// Records that a value is rounded to bf16 for the copy; returns false if that is not possible.
  bool selectRounded(Value value) {
    if (!selection)
      return true;
    auto place = value.getDefiningOp()->getAttrOfType<IntegerAttr>(kPlaceAttr);
    if (place)
      selection->addRounded(getTarget(), getOperation().getName(), place.getInt());
    return place != nullptr;
  }

  /// Returns the regions under which the paths of each operation are recorded; empty if there is no choice, or if no
  /// records are used.
  std::vector<PathRegion> listRegions(ArrayRef<Operation *> operations, ArrayRef<SmallVector<Candidate>> all) const {
    std::vector<PathRegion> regions;
    for (auto [op, candidates] : llvm::zip(operations, all))
      regions.push_back((times && candidates.size() > 1) || ((pins || space || sensitivities) && !candidates.empty())
                            ? PathRegion::get(op)
                            : PathRegion());
    return regions;
  }

  static PinnedOperation getPinned(Operation *op, const PathRegion &region) {
    return {region.getFingerprint(), llvm::to_vector(listNodes(op->getLoc()))};
  }

  /// Reports the decision to store activations as bf16, which is made for all of them together.
  void tellActivations(double savedCycles, size_t count) {
    double variance = double(count) * kBf16RoundingError * kBf16RoundingError;
    PathDecision decision{kActivationsRegion.str(), kActivationsRegion.str(), {}, count, {}};
    decision.alternatives.push_back({kF32ActivationPath.str(), savedCycles, std::nullopt, 0, 0, /*isDefault=*/true});
    decision.alternatives.push_back(
        {kBf16ActivationPath.str(), 0, std::nullopt, kBf16RoundingError, variance, /*isDefault=*/false});
    constexpr size_t kAfterOperations = std::numeric_limits<size_t>::max(); // format: a place in PathSpace
    space->add(getTarget(), {getOperation().getName().str(), kAfterOperations}, std::move(decision));
  }

  /// Removes the candidates that an operation must not take.
  void applyPins(ArrayRef<Operation *> operations, ArrayRef<PathRegion> regions,
                 MutableArrayRef<SmallVector<Candidate>> all) const {
    for (auto [op, region, candidates] : llvm::zip(operations, regions, all)) {
      if (candidates.empty())
        continue;
      SmallVector<StringRef> names;
      for (const Candidate &candidate : candidates)
        names.push_back(candidate.path->getName());
      std::vector<bool> kept = pins->filter(getPinned(op, region), names);
      size_t place = 0;
      llvm::erase_if(candidates, [&](const Candidate &) { return !kept[place++]; });
    }
  }

  /// Reports the candidates of all operations, regardless of their errors.
  void tellSpace(ArrayRef<Operation *> operations, ArrayRef<PathRegion> regions, ArrayRef<SmallVector<Candidate>> all) {
    for (auto [i, op, region, candidates] : llvm::enumerate(operations, regions, all)) {
      if (candidates.empty())
        continue;
      PinnedOperation pinned = getPinned(op, region);
      PathDecision decision{region.text, pinned.fingerprint, {}, /*numOperations=*/1, {}};
      for (StringRef node : pinned.nodes)
        decision.nodes.push_back(node.str());
      for (const Candidate &candidate : candidates) {
        double error = getError(op, candidate);
        decision.alternatives.push_back({candidate.path->getName().str(), candidate.cycles, candidate.nanoseconds,
                                         error, error * error, candidate.isDefault});
      }
      space->add(region.target, {getOperation().getName().str(), i}, std::move(decision));
    }
  }

  void setCosts(ArrayRef<PathRegion> regions, MutableArrayRef<SmallVector<Candidate>> all) {
    std::vector<std::vector<PathCost>> costs;
    for (auto [region, candidates] : llvm::zip(regions, all)) {
      if (times && !region.text.empty())
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

  /// Removes inexact paths unless all operations together gain enough by them: any error has a cost, because the error
  /// of the whole model is measured.
  void findWorthwhile(ArrayRef<SmallVector<Candidate>> all) {
    double total = 0;
    llvm::DenseMap<const Path *, double> saved;
    for (ArrayRef<Candidate> candidates : all)
      for (const Candidate &candidate : candidates) {
        double own = candidates.front().cost;
        total += &candidate == candidates.begin() ? own : 0;
        saved[candidate.path] += std::max(own - candidate.cost, 0.0);
      }
    worthwhile.clear();
    for (auto [path, cost] : saved)
      if (path->isAsExact() || cost >= policy.minSavedShare * total)
        worthwhile.insert(path);
  }

  /// Chooses a path for each operation among all that are exact enough, for a measurement, whatever their costs are;
  /// null if there is none.
  std::vector<const Path *> chooseToMeasure(ArrayRef<Operation *> operations, const std::vector<PathRegion> &regions,
                                            ArrayRef<SmallVector<Candidate>> all) {
    std::vector<const Path *> chosen;
    for (auto [op, region, candidates] : llvm::zip(operations, regions, all)) {
      chosen.push_back(nullptr);
      if (candidates.empty())
        continue;
      SmallVector<const Path *> paths;
      SmallVector<PathOption> options;
      const Candidate &base = getBase(op, candidates);
      for (const Candidate &candidate : candidates) {
        bool isExact = candidate.isDefault || candidate.path->isAsExact();
        std::optional<double> error =
            isExact ? std::nullopt : std::optional(getError(op, candidate, &candidate == &base ? kAnyError : budget));
        if (error && *error > budget && &candidate != &base)
          continue;
        paths.push_back(candidate.path);
        options.push_back({candidate.path->getName(), error});
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

  /// True if the handler of the context's actions allows the operation to take this path.
  static bool isAllowed(Operation *op, StringRef path) {
    bool isTaken = false;
    op->getContext()->executeAction<PathAction>([&] { isTaken = true; }, {op}, path);
    return isTaken;
  }

  static constexpr double kAnyError = std::numeric_limits<double>::infinity(); // math: no limit

  /// Returns the error of a path; 0 if it needs no budget, and any number above `limit` if it certainly exceeds
  /// `limit`.
  double getError(Operation *op, const Candidate &candidate, double limit = kAnyError) {
    return candidate.isDefault || candidate.path->isAsExact() ? 0 : errors->measure(*candidate.path, op, limit);
  }

  /// Returns the path of an operation without a share of the budget: its default implementation, or the most exact path
  /// if that is excluded.
  const Candidate &getBase(Operation *op, ArrayRef<Candidate> candidates) {
    if (candidates.front().isDefault)
      return candidates.front();
    return *std::min_element(candidates.begin(), candidates.end(), [&](const Candidate &x, const Candidate &y) {
      return std::pair(getError(op, x), x.cost) < std::pair(getError(op, y), y.cost);
    });
  }

  /// Returns, for each operation, the measured factor by which its error is multiplied on the way to an output.
  std::vector<double> listFactors(ArrayRef<Operation *> operations, ArrayRef<PathRegion> regions,
                                  ArrayRef<SmallVector<Candidate>> all) {
    std::vector<double> factors(operations.size(), 1);
    if (!sensitivities)
      return factors;
    std::vector<std::string> fingerprints(operations.size());
    llvm::StringMap<double> variances; // of the path that was measured, by region
    for (auto [op, region, candidates, fingerprint] : llvm::zip(operations, regions, all, fingerprints)) {
      if (candidates.empty())
        continue;
      fingerprint = region.getFingerprint();
      auto measured = sensitivities->find(fingerprint);
      for (const Candidate &candidate : candidates)
        if (measured != sensitivities->end() && candidate.path->getName() == measured->second.path) {
          double error = getError(op, candidate);
          variances[fingerprint] += error * error;
        }
    }
    for (auto [factor, fingerprint] : llvm::zip(factors, fingerprints))
      if (double variance = variances.lookup(fingerprint); variance > 0)
        factor = sensitivities->lookup(fingerprint).outputError / std::sqrt(variance);
    return factors;
  }

  /// Returns the same factor for `count` activations that are stored as bf16.
  double getActivationFactor(size_t count) const {
    auto measured = sensitivities ? sensitivities->find(kActivationsRegion) : Sensitivities::const_iterator();
    if (!sensitivities || measured == sensitivities->end())
      return 1;
    return measured->second.outputError / (kBf16RoundingError * std::sqrt(double(count)));
  }

  /// Returns the candidates that may be optimal: those that are cheaper than any that needs no budget, and the cheapest
  /// of these. The error of the base is not charged, since it is unavoidable. Errors are those at an output: the
  /// operation's times `factor`.
  std::vector<PricedPath> price(Operation *op, ArrayRef<Candidate> candidates, const Candidate &base, double factor) {
    double exact = std::numeric_limits<double>::infinity();
    for (const Candidate &candidate : candidates)
      if (&candidate == &base || (candidate.path->isAsExact() && worthwhile.contains(candidate.path)))
        exact = std::min(exact, candidate.cost);
    std::vector<PricedPath> priced;
    for (const Candidate &candidate : candidates) {
      bool isBase = &candidate == &base;
      bool isWorthIt = isBase || (candidate.cost <= exact && worthwhile.contains(candidate.path));
      double error = !isWorthIt ? std::numeric_limits<double>::infinity()
                     : isBase   ? 0
                                : factor * getError(op, candidate, budget / factor);
      priced.push_back({candidate.cost, error});
      LDBG() << candidate.path->getName() << ": " << int64_t(candidate.cycles) << " cycles, cost "
             << int64_t(candidate.cost) << ", error " << error << ", " << op->getLoc();
    }
    return priced;
  }

  /// Chooses a path for each operation, so that the whole is fast and exact enough; null if there is none.
  std::vector<const Path *> choose(ArrayRef<Operation *> operations, ArrayRef<PathRegion> regions,
                                   ArrayRef<SmallVector<Candidate>> all) {
    std::vector<std::vector<PricedPath>> priced;
    std::vector<std::pair<size_t, const Candidate *>> bases;
    fixedVariance = variance = 0;
    std::vector<double> factors = listFactors(operations, regions, all);
    for (auto [number, op, candidates] : llvm::enumerate(operations, all)) {
      if (candidates.empty())
        continue;
      const Candidate &base = getBase(op, candidates);
      double error = factors[number] * getError(op, base);
      fixedVariance += error * error;
      priced.push_back(price(op, candidates, base, factors[number]));
      bases.emplace_back(number, &base);
    }
    std::vector<const Path *> chosen(all.size());
    double cost = 0;
    ErrorBudget free{budget, getRest()};
    for (auto [numbered, paths, place] : llvm::zip(bases, priced, distributeBudget(priced, free))) {
      auto [number, base] = numbered;
      const Candidate *best = &all[number][place];
      if (best != base && !isAllowed(operations[number], best->path->getName()))
        best = base;
      chosen[number] = best->path;
      cost += best->cost;
      numTaken += !best->isDefault;
      if (double error = getError(operations[number], *best); error > 0)
        errors->addTaken(error);
      if (best != base)
        variance += paths[place].error * paths[place].error;
    }
    errors->setVariance(getOperation(), PathErrors::paths, variance);
    if (selection)
      selection->addCost(getTarget(), cost);
    return chosen;
  }

  /// Returns the rest of the budget of all operations together.
  double getRest() const { return std::sqrt(std::max(totalBudget * totalBudget - variance - fixedVariance, 0.0)); }

  /// Spends the rest of the budget on activations that are stored as bf16, if that saves enough.
  void storeActivations(IRRewriter &rewriter, const Machine &machine, ArrayRef<SmallVector<Candidate>> all,
                        ArrayRef<const Path *> chosen) {
    double total = 0, saved = 0;
    for (auto [candidates, path] : llvm::zip(all, chosen))
      for (const Candidate &candidate : candidates)
        total += candidate.path == path ? candidate.cycles : 0;
    std::optional<bool> pin = pins ? pins->findActivationPin() : std::nullopt;
    if (pin == false)
      return;
    SmallVector<Bf16Activation> activations = listBf16Activations(getOperation(), machine);
    std::vector<std::vector<PricedPath>> priced;
    double error = getActivationFactor(activations.size()) * kBf16RoundingError;
    for (const Bf16Activation &activation : activations) {
      priced.push_back({{activation.savedCycles, 0}, {0, error}});
      saved += activation.savedCycles;
    }
    if (space && !activations.empty())
      tellActivations(saved, activations.size());
    if (saved < policy.minSavedShare * total && !pin)
      return;
    std::vector<size_t> places =
        pin ? std::vector<size_t>(priced.size(), 1) : distributeBudget(priced, {budget, getRest()});
    for (auto [activation, place] : llvm::zip(activations, places)) {
      if (place == 0 || !isAllowed(activation.rounding, kBf16ActivationPath) ||
          !selectRounded(activation.rounding.getInput()))
        continue;
      storeAsBf16(activation, rewriter);
      errors->addTaken(kBf16RoundingError);
      (pin ? fixedVariance : variance) += error * error;
    }
    errors->setVariance(getOperation(), PathErrors::paths, variance);
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

  /// The number of an operation within its function, while paths are chosen.
  static constexpr llvm::StringLiteral kPlaceAttr = "tenon.place";

  PathPolicy policy;
  double variance = 0;      ///< of the errors that were taken, and need not be
  double fixedVariance = 0; ///< of those that nothing else is left for
  llvm::SmallPtrSet<const Path *, 16> worthwhile;
  std::shared_ptr<PathErrors> errors = std::make_shared<PathErrors>();
  std::shared_ptr<PathTimes> times;                   ///< null if nothing is known of real runs
  std::shared_ptr<PathPins> pins;                     ///< null if nobody demands anything
  std::shared_ptr<const Sensitivities> sensitivities; ///< null if none was measured
  std::shared_ptr<PathSelection> selection;           ///< null if nobody asks for it
  std::shared_ptr<PathSpace> space;                   ///< likewise
};
} // namespace

std::unique_ptr<Pass> tenon::createChoosePaths(ChoosePathsOptions options, PathContext context) {
  return std::make_unique<ChoosePaths>(std::move(options), std::move(context));
}
