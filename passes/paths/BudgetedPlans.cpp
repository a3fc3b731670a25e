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

using namespace tenon;

using Regions = std::vector<std::vector<PricedPath>>;

static double getVariance(const PricedPath &path) { return path.error * path.error; }

/// Returns the variance of the best plan if a unit of variance costs `multiplier`; of the most exact one among equals.
static double getBestVariance(const Regions &regions, double multiplier) {
  double variance = 0;
  for (const std::vector<PricedPath> &options : regions) {
    auto getKey = [&](const PricedPath &option) {
      return std::pair(option.cost + multiplier * getVariance(option), option.error);
    };
    variance += getVariance(*std::min_element(options.begin(), options.end(),
                                              [&](const auto &x, const auto &y) { return getKey(x) < getKey(y); }));
  }
  return variance;
}

/// Returns the smallest multiplier for which the best plan is within the budget, where the bound is tight. The best
/// plan changes only at multipliers at which two options of a region are equal.
static double findMultiplier(const Regions &regions, double budget) {
  std::vector<double> prices{0};
  for (llvm::ArrayRef<PricedPath> options : regions)
    for (const PricedPath &x : options)
      for (const PricedPath &y : options)
        if (x.cost < y.cost && x.error > y.error)
          // The multiplier is slightly larger than the exact one, so that rounding does not decide between the options.
          prices.push_back((y.cost - x.cost) / (getVariance(x) - getVariance(y)) * (1 + 1e-12));
  llvm::sort(prices);
  auto it = std::partition_point(prices.begin(), prices.end(),
                                 [&](double price) { return getBestVariance(regions, price) > budget; });
  return it == prices.end() ? prices.back() : *it;
}

static std::vector<std::vector<double>> getReducedCosts(const Regions &regions, double multiplier) {
  std::vector<std::vector<double>> costs;
  for (llvm::ArrayRef<PricedPath> options : regions) {
    std::vector<double> &own = costs.emplace_back();
    for (const PricedPath &option : options)
      own.push_back(option.cost + multiplier * getVariance(option));
  }
  return costs;
}

BudgetedPlans::BudgetedPlans(Regions all, double budget)
    : regions(std::move(all)), variance(budget * budget), multiplier(findMultiplier(regions, variance)),
      order(getReducedCosts(regions, multiplier)), bound(-std::numeric_limits<double>::infinity()) {}

bool BudgetedPlans::isLater(const BudgetedPlan &x, const BudgetedPlan &y) {
  return std::tie(x.cost, x.options) > std::tie(y.cost, y.options);
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

/// Enumerates the next plan of the relaxed problem. Returns false after the last one.
bool BudgetedPlans::enumerate() {
  std::optional<PricedPlan> relaxed = order.next();
  if (!relaxed) {
    bound = std::numeric_limits<double>::infinity();
    return false;
  }
  // Sums are rounded, so plans within this tolerance count as equal.
  constexpr double kRounding = 1e-9; // math: sums of doubles
  bound = (relaxed->cost - (multiplier > 0 ? multiplier * variance : 0)) + kRounding * std::abs(relaxed->cost);
  BudgetedPlan plan = makePlan(std::move(relaxed->options));
  if (plan.error * plan.error <= variance * (1 + kRounding)) {
    heap.push_back(std::move(plan));
    std::push_heap(heap.begin(), heap.end(), isLater);
  }
  return true;
}

std::optional<BudgetedPlan> BudgetedPlans::next() {
  while (heap.empty() || heap.front().cost > bound)
    if (!enumerate() && heap.empty())
      return std::nullopt;
  std::pop_heap(heap.begin(), heap.end(), isLater);
  BudgetedPlan plan = std::move(heap.back());
  heap.pop_back();
  return plan;
}
