//===- ChooseForms.cpp - the fastest of equivalent graphs -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/ValueNames.h"
#include "passes/Passes.h"
#include "passes/forms/FormEstimates.h"
#include "passes/forms/FormGraph.h"
#include "passes/fusion/AttentionMatch.h"
#include "passes/paths/ErrorBudget.h"
#include "passes/paths/PathAction.h"
#include "passes/paths/PathContext.h"
#include "passes/paths/PathOperations.h"
#include "passes/paths/PathPins.h"
#include "passes/paths/PathSelection.h"
#include "passes/paths/PathSpace.h"
#include "llvm/Support/DebugLog.h"
#include <cmath>
#include <map>

#define DEBUG_TYPE "tenon-choose-forms"

namespace tenon {
#define GEN_PASS_DEF_CHOOSEFORMS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {
/// A site with what is known of its forms.
struct PricedSite {
  SourcedSite site;
  PinnedOperation pinned;      ///< how pins may call it
  std::vector<bool> isAllowed; ///< by form
  std::string demand;          ///< the pin that forces a form
  bool yields = false; ///< whether its first form is allowed only because of sites that it shares operations with
  std::vector<FormCost> costs; ///< by form; empty where it keeps its first one, because too much is to be estimated
};

struct ChooseForms : public tenon::impl::ChooseFormsBase<ChooseForms> {
  using ChooseFormsBase::ChooseFormsBase;
  ChooseForms(ChooseFormsOptions options, PathContext context)
      : ChooseFormsBase(std::move(options)), context(std::move(context)) {}

  LogicalResult initialize(MLIRContext *ir) override {
    llvm::Expected<std::shared_ptr<PathPins>> pins = parsePins(force, exclude);
    if (!pins)
      return emitError(UnknownLoc::get(ir), llvm::toString(pins.takeError()));
    if (*pins)
      context.pins = std::move(*pins);
    if (!context.errors)
      context.errors = std::make_shared<PathErrors>();
    return success();
  }

  void runOnOperation() override {
    std::vector<PricedSite> sites;
    for (SourcedSite &site : listFormSites(getOperation(), isLate))
      sites.push_back(describe(std::move(site)));
    if (sites.empty())
      return;
    estimate(sites);
    for (auto [i, site] : llvm::enumerate(sites))
      tell(i, site);
    FormAssignment chosen = makeGraph(sites, std::vector<bool>(sites.size())).solve();
    if (chosen.cost == std::numeric_limits<double>::infinity()) {
      for (PricedSite &site : sites)
        allowFirst(site);
      chosen = makeGraph(sites, std::vector<bool>(sites.size())).solve();
      if (std::optional<std::string> demand = findRefused(sites, chosen.forms)) {
        if (context.pins)
          context.pins->addFault(*demand + ": other forms that are demanded rewrite the same operations");
        return;
      }
    }
    if (std::vector<bool> areExact = findUnaffordable(sites, chosen.forms); llvm::is_contained(areExact, true))
      chosen = makeGraph(sites, areExact).solve();
    IRRewriter rewriter(&getContext());
    variance = 0;
    for (auto [i, site, form] : llvm::enumerate(sites, chosen.forms))
      take(i, site, form, rewriter);
    context.errors->setVariance(getOperation(), isLate ? PathErrors::lateForms : PathErrors::earlyForms, variance);
    eraseUnused(getOperation());
  }

private:
  PricedSite describe(SourcedSite site);
  void estimate(std::vector<PricedSite> &sites);
  void tell(size_t number, const PricedSite &site);
  void allowFirst(PricedSite &site) const;
  static std::optional<std::string> findRefused(ArrayRef<PricedSite> sites, ArrayRef<size_t> forms);
  FormGraph makeGraph(ArrayRef<PricedSite> sites, const std::vector<bool> &areExact) const;
  std::vector<bool> findUnaffordable(ArrayRef<PricedSite> sites, ArrayRef<size_t> forms);
  void take(size_t number, const PricedSite &site, size_t form, RewriterBase &rewriter);

  std::string getTarget() {
    auto module = getOperation()->getParentOfType<ModuleOp>();
    return module ? module.getName().value_or("").str() : "";
  }

  FormPolicy policy;
  PathContext context;
  double variance = 0; ///< of the errors of forms that were taken
};
} // namespace

/// The largest error of the operations that a form makes less exact.
static double getLargestError(const SourcedSite &site, size_t form) {
  double largest = 0;
  for (double error : site.source->estimateErrors(site, form))
    largest = std::max(largest, error);
  return largest;
}

/// Rounding errors of different operations are independent.
static double getVariance(const SourcedSite &site, size_t form) {
  double variance = 0;
  for (double error : site.source->estimateErrors(site, form))
    variance += error * error;
  return variance;
}

PricedSite ChooseForms::describe(SourcedSite site) {
  PinnedOperation pinned{PathRegion{"", site.region}.getFingerprint(), {}};
  llvm::SetVector<StringRef> nodes;
  for (Operation *op : site.operations)
    nodes.insert_range(listNodes(op->getLoc()));
  pinned.nodes = llvm::to_vector(nodes);
  SmallVector<StringRef> forms;
  std::vector<bool> isAllowed;
  std::string demand;
  Machine machine = getPathMachine(getOperation());
  for (auto [i, form] : llvm::enumerate(site.source->getForms())) {
    isAllowed.push_back(site.source->hasForm(site, i, machine));
    if (isAllowed.back())
      forms.push_back(form);
  }
  if (context.pins) {
    std::vector<bool> kept = context.pins->filter(pinned, forms);
    demand = context.pins->describeDemand(pinned, forms);
    auto next = kept.begin();
    for (auto it = isAllowed.begin(); it != isAllowed.end(); ++it)
      if (*it)
        *it = *next++;
  }
  return {std::move(site), std::move(pinned), std::move(isAllowed), std::move(demand), /*yields=*/false, {}};
}

/// Sites of the same region cost the same.
void ChooseForms::estimate(std::vector<PricedSite> &sites) {
  constexpr size_t kMaxRegions = 256; // limit: compile time
  FormEstimates estimates(getPathMachine(getOperation()), budget, *context.errors, context.times.get());
  llvm::StringMap<size_t> places;
  for (const PricedSite &site : sites)
    if (places.size() < kMaxRegions && places.try_emplace(site.pinned.fingerprint, places.size()).second)
      estimates.add(site.site);
  std::vector<std::vector<FormCost>> costs = estimates.finish();
  for (PricedSite &site : sites)
    if (auto place = places.find(site.pinned.fingerprint); place != places.end())
      site.costs = costs[place->second];
}

/// Says what there is to choose from.
void ChooseForms::tell(size_t number, const PricedSite &site) {
  if (!context.forms || site.costs.empty())
    return;
  PathDecision decision{site.site.region, site.pinned.fingerprint, {}, /*numOperations=*/1, {}};
  for (StringRef node : site.pinned.nodes)
    decision.nodes.push_back(node.str());
  // For a late site, the cycles of its operations' paths are reported with those operations, whichever form the site
  // takes.
  double told = isLate ? site.costs.front().cycles - site.costs.front().restCycles : 0;
  for (auto [i, form, cost, isAllowed] : llvm::enumerate(site.site.source->getForms(), site.costs, site.isAllowed)) {
    if (isAllowed)
      decision.alternatives.push_back({form.str(), cost.cycles, std::nullopt, getLargestError(site.site, i),
                                       getVariance(site.site, i),
                                       /*isDefault=*/i == site.site.source->getDefault(), cost.cost,
                                       isLate ? cost.cycles - told : cost.restCycles});
  }
  context.forms->add(getTarget(), {getFormPlace(getOperation(), isLate), number}, std::move(decision));
}

/// Allows the first form where another one is demanded, at a higher cost, so that as many sites as possible keep what
/// is demanded, and those that save the most.
void ChooseForms::allowFirst(PricedSite &site) const {
  if (site.isAllowed.front())
    return;
  double demanded = 0;
  for (auto [isAllowed, cost] : llvm::zip(site.isAllowed, site.costs))
    if (isAllowed && cost.cost < std::numeric_limits<double>::infinity())
      demanded = std::max(demanded, cost.cost);
  site.isAllowed.front() = site.yields = true;
  if (!site.costs.empty())
    site.costs.front().cost = std::max(site.costs.front().cost, (1 + policy.minSavedShare) * demanded);
}

/// Returns a demand that no site fulfils.
std::optional<std::string> ChooseForms::findRefused(ArrayRef<PricedSite> sites, ArrayRef<size_t> forms) {
  std::map<std::string, bool> areTaken;
  for (auto [site, form] : llvm::zip_equal(sites, forms))
    if (site.yields)
      areTaken[site.demand] |= form != 0;
  for (const auto &[demand, isTaken] : areTaken)
    if (!isTaken)
      return demand;
  return std::nullopt;
}

/// Returns the form that others have to beat: the default form, or the first one that is allowed or demanded.
static size_t getBase(const PricedSite &site) {
  size_t own = site.site.source->getDefault(), first = site.yields ? 1 : 0;
  if (own >= first && site.isAllowed[own])
    return own;
  return llvm::find(llvm::drop_begin(site.isAllowed, first), true) - site.isAllowed.begin();
}

/// `areExact` are the sites that have nothing of the budget left.
FormGraph ChooseForms::makeGraph(ArrayRef<PricedSite> sites, const std::vector<bool> &areExact) const {
  constexpr double kInfinite = std::numeric_limits<double>::infinity(); // math: a cost that is ruled out
  FormGraph graph;
  llvm::DenseMap<Operation *, SmallVector<size_t>> sitesOf;
  for (auto [number, site] : llvm::enumerate(sites)) {
    std::vector<double> costs(site.isAllowed.size(), kInfinite);
    size_t own = getBase(site);
    costs[own] = site.costs.empty() ? 0 : site.costs[own].cost;
    double allowed = areExact[number] ? 0 : budget.getValue();
    for (size_t form = 0; form < site.costs.size(); ++form)
      if (form != own && site.isAllowed[form] && getLargestError(site.site, form) <= allowed)
        costs[form] = site.costs[form].cost + policy.minSavedShare * costs[own];
    if (!site.yields && getLargestError(site.site, own) > allowed)
      for (double cost : llvm::make_filter_range(costs, [&](double cost) { return cost < kInfinite; }))
        costs[own] = std::max(costs[own], (1 + policy.minSavedShare) * cost);
    if (site.yields && site.costs.empty())
      costs.front() = 1; // more than what is demanded, about which nothing is known
    graph.addSite(std::move(costs));
    for (Operation *op : site.site.operations) {
      for (size_t other : sitesOf[op]) {
        if (!site.site.source->replacesOperations() && !sites[other].site.source->replacesOperations())
          continue;
        for (size_t form = 1; form < site.isAllowed.size(); ++form)
          for (size_t otherForm = 1; otherForm < sites[other].isAllowed.size(); ++otherForm)
            graph.addTerm(number, form, other, otherForm, kInfinite);
      }
      sitesOf[op].push_back(number);
    }
  }
  return graph;
}

/// Returns the sites whose inexact forms the total budget has no room for, behind what has been decided of the function
/// before. Those come first that save the most for their variance.
std::vector<bool> ChooseForms::findUnaffordable(ArrayRef<PricedSite> sites, ArrayRef<size_t> forms) {
  std::vector<std::vector<PricedPath>> priced;
  for (auto [site, form] : llvm::zip_equal(sites, forms)) {
    double variance = form == getBase(site) ? 0 : getVariance(site.site, form);
    std::vector<PricedPath> &options = priced.emplace_back();
    options.push_back({site.costs.empty() ? 0 : site.costs[form].cost, std::sqrt(variance)});
    if (variance == 0)
      continue;
    double exact = site.costs[getBase(site)].cost;
    for (auto [other, cost] : llvm::enumerate(site.costs))
      if (site.isAllowed[other] && getLargestError(site.site, other) == 0)
        exact = std::min(exact, cost.cost);
    options.push_back({exact, 0});
  }
  double before = context.errors->getVariance(getOperation());
  ErrorBudget rest;
  rest.each = std::numeric_limits<double>::infinity();
  rest.total = std::sqrt(std::max(totalBudget * totalBudget - before, 0.0));
  std::vector<bool> areExact;
  for (size_t place : distributeBudget(priced, rest))
    areExact.push_back(place != 0);
  return areExact;
}

void ChooseForms::take(size_t number, const PricedSite &site, size_t form, RewriterBase &rewriter) {
  const FormSource &source = *site.site.source;
  StringRef name = source.getForms()[form];
  if (form != source.getDefault()) {
    bool isTaken = false;
    getContext().executeAction<PathAction>([&] { isTaken = true; }, {site.site.operations.front()}, name);
    form = isTaken ? form : source.getDefault();
  }
  if (context.selection) {
    SelectedForm selected{site.pinned.fingerprint, {}, form, source.getDefault(), {}};
    for (StringRef node : site.pinned.nodes)
      selected.nodes.push_back(node.str());
    for (auto [i, other] : llvm::enumerate(source.getForms()))
      selected.cycles.emplace_back(other.str(), site.costs.empty() ? 0 : site.costs[i].cycles);
    context.selection->addForm(getTarget(), getFormPlace(getOperation(), isLate), number, std::move(selected));
  }
  for (auto [other, cost] : llvm::zip(source.getForms(), site.costs))
    LDBG() << other << ": " << cost.cycles << " cycles, cost " << cost.cost;
  LDBG() << "computes " << source.getName() << " at " << site.site.operations.front()->getLoc() << " as "
         << source.getForms()[form];
  // What early forms cost is that of the operations which they make, and of the paths of these.
  if (isLate && context.selection && !site.costs.empty())
    context.selection->addCost(getTarget(),
                               site.costs[form].cost - (source.replacesOperations() ? 0 : site.costs.front().cost));
  if (form == 0)
    return;
  ++numTaken;
  if (double error = getLargestError(site.site, form); error > 0) {
    context.errors->addTaken(error);
    // A form that the user demands is not counted against the error budget of other choices.
    variance += form == getBase(site) ? 0 : getVariance(site.site, form);
  }
  source.take(site.site, form, rewriter);
}

std::unique_ptr<Pass> tenon::createChooseForms(ChooseFormsOptions options, PathContext context) {
  return std::make_unique<ChooseForms>(std::move(options), std::move(context));
}
