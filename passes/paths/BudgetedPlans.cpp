//===- BudgetedPlans.cpp - whole plans that are exact enough --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/BudgetedPlans.h"
#include "llvm/ADT/STLExtras.h"
#include <cassert>
#include <cmath>
#include <limits>

using namespace tenon;

static constexpr double kNone = std::numeric_limits<double>::infinity(); // math: the cost of no plan

/// The budget in units that variances are rounded to.
static constexpr unsigned kUnits = 4096; // limit: memory of a table

/// Sums are rounded, so sums within this tolerance count as equal.
static constexpr double kRounding = 1e-9; // math: sums of doubles

static double getVariance(const PricedPath &path) { return path.error * path.error; }

/// Rounds a variance to units; more than kUnits if it exceeds the budget.
static unsigned countUnits(double variance, double budget, bool roundsUp) {
  if (variance > budget * (1 + kRounding))
    return kUnits + 1;
  if (budget == 0 || std::isinf(budget))
    return 0;
  double exact = variance / budget * kUnits;
  return std::min(kUnits, static_cast<unsigned>(roundsUp ? std::ceil(exact * (1 - kRounding)) : std::floor(exact)));
}

//===----------------------------------------------------------------------===//
// KnapsackOrder
//===----------------------------------------------------------------------===//

KnapsackOrder::KnapsackOrder(const std::vector<std::vector<PricedPath>> &regions, double variance, bool roundsUp) {
  for (const std::vector<PricedPath> &options : regions) {
    assert(!options.empty() && options.size() <= std::numeric_limits<uint16_t>::max() && "a region has some options");
    std::vector<double> &ownCosts = costs.emplace_back();
    std::vector<unsigned> &ownUnits = units.emplace_back();
    for (const PricedPath &option : options) {
      ownCosts.push_back(option.cost);
      ownUnits.push_back(countUnits(getVariance(option), variance, roundsUp));
    }
  }
  fillTable();
}

/// Computes what regions from each one on cost at least, by the units that are left for them, from the last one back.
void KnapsackOrder::fillTable() {
  restCosts.assign((costs.size() + 1) * (kUnits + 1), kNone);
  std::fill(restCosts.end() - (kUnits + 1), restCosts.end(), 0.0);
  for (size_t region = costs.size(); region-- > 0;)
    for (unsigned left = 0; left <= kUnits; ++left)
      for (size_t option = 0; option < costs[region].size(); ++option)
        if (std::optional<double> cost = estimate(region, option, left)) {
          double &least = restCosts[region * (kUnits + 1) + left];
          least = std::min(least, *cost);
        }
}

/// Returns the least cost of an option and of all regions behind it; none if that exceeds the budget.
std::optional<double> KnapsackOrder::estimate(size_t region, size_t option, unsigned unitsLeft) const {
  unsigned own = units[region][option];
  if (own > unitsLeft)
    return std::nullopt;
  double rest = restCosts[(region + 1) * (kUnits + 1) + unitsLeft - own];
  return rest == kNone ? std::nullopt : std::optional(costs[region][option] + rest);
}

/// Appends the cheapest options for the regions behind those that are given.
void KnapsackOrder::complete(Options &options, unsigned unitsLeft) const {
  for (size_t region = options.size(); region < costs.size(); ++region) {
    std::optional<size_t> best;
    double least = kNone;
    for (size_t option = 0; option < costs[region].size(); ++option)
      if (std::optional<double> cost = estimate(region, option, unitsLeft); cost && *cost < least) {
        least = *cost;
        best = option;
      }
    assert(best && "a plan is completed only if the table has one");
    options.push_back(static_cast<uint16_t>(*best));
    unitsLeft -= units[region][*best];
  }
}

/// Adds the branches from a plan at all regions that are not fixed.
void KnapsackOrder::split(Options options, size_t firstFree) {
  unsigned left = kUnits;
  double cost = 0;
  for (size_t region = 0; region < costs.size(); ++region) {
    for (size_t option = 0; region >= firstFree && option < costs[region].size(); ++option)
      if (std::optional<double> least = estimate(region, option, left); least && option != options[region]) {
        branches.push_back({cost + *least, earlier.size(), region, option, numBranches++});
        std::push_heap(branches.begin(), branches.end(), isLater);
      }
    cost += costs[region][options[region]];
    left -= units[region][options[region]];
  }
  earlier.push_back(std::move(options));
}

bool KnapsackOrder::isLater(const Branch &x, const Branch &y) {
  return std::pair(x.cost, x.sequence) > std::pair(y.cost, y.sequence);
}

double KnapsackOrder::getNextCost() const {
  if (isFirst)
    return restCosts[kUnits];
  return branches.empty() ? kNone : branches.front().cost;
}

std::vector<size_t> KnapsackOrder::next() {
  assert(getNextCost() < kNone && "there is another plan");
  Options options;
  unsigned left = kUnits;
  if (!std::exchange(isFirst, false)) {
    std::pop_heap(branches.begin(), branches.end(), isLater);
    Branch branch = branches.back();
    branches.pop_back();
    const Options &parent = earlier[branch.parent];
    options.assign(parent.begin(), parent.begin() + static_cast<ptrdiff_t>(branch.region));
    options.push_back(static_cast<uint16_t>(branch.option));
    for (auto [option, own] : llvm::zip_first(options, units))
      left -= own[option];
  }
  size_t firstFree = options.size();
  complete(options, left);
  std::vector<size_t> plan(options.begin(), options.end());
  split(std::move(options), firstFree);
  return plan;
}

//===----------------------------------------------------------------------===//
// BudgetedPlans
//===----------------------------------------------------------------------===//

BudgetedPlans::BudgetedPlans(std::vector<std::vector<PricedPath>> all, double budget)
    : regions(std::move(all)), variance(budget * budget), order(regions, variance, /*roundsUp=*/false) {
  assert(budget >= 0 && "an error is not negative");
}

BudgetedPlan BudgetedPlans::makePlan(std::vector<size_t> options) const {
  BudgetedPlan plan{0, 0, std::move(options)};
  assert(plan.options.size() == regions.size() && "a plan has an option for each region");
  double sum = 0;
  for (auto [region, option] : llvm::zip(regions, plan.options)) {
    plan.cost += region[option].cost;
    sum += getVariance(region[option]);
  }
  plan.error = std::sqrt(sum);
  return plan;
}

bool BudgetedPlans::isDearer(const BudgetedPlan &x, const BudgetedPlan &y) {
  return std::tie(x.cost, x.options) > std::tie(y.cost, y.options);
}

/// Keeps a plan that is within the budget and new.
void BudgetedPlans::visit(std::vector<size_t> options) {
  ++numVisited;
  ++numPassed;
  BudgetedPlan plan = makePlan(std::move(options));
  if (plan.error * plan.error > variance * (1 + kRounding) || !known.insert(plan.options).second)
    return;
  found.push_back(std::move(plan));
  std::push_heap(found.begin(), found.end(), isDearer);
}

/// True if no plan that is still to come can be cheaper than the cheapest one that was found.
bool BudgetedPlans::isNextFound() const {
  double bound = order.getNextCost();
  return !found.empty() && found.front().cost <= bound + kRounding * std::abs(bound);
}

std::optional<BudgetedPlan> BudgetedPlans::next() {
  constexpr size_t kMaxPassed = 4096; // limit: time and memory for plans that are not listed
  while (!isNextFound()) {
    if (order.getNextCost() == kNone)
      return std::nullopt;
    visit(order.next());
    // The rest goes by a table of which every plan is within the budget.
    if (numPassed > kMaxPassed && !std::exchange(roundsUp, true))
      order = KnapsackOrder(regions, variance, /*roundsUp=*/true);
  }
  numPassed = 0;
  std::pop_heap(found.begin(), found.end(), isDearer);
  BudgetedPlan plan = std::move(found.back());
  found.pop_back();
  return plan;
}

std::string BudgetedPlans::count() const {
  std::vector<std::vector<double>> counted;
  for (const std::vector<PricedPath> &options : regions)
    counted.emplace_back(options.size(), 0.0);
  return PlanOrder(counted).count();
}
