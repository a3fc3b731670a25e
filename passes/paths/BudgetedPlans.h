//===- BudgetedPlans.h - whole plans that are exact enough ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The algorithm stands apart from the IR.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_BUDGETEDPLANS_H
#define TENON_PASSES_PATHS_BUDGETEDPLANS_H

#include "passes/paths/ErrorBudget.h"
#include "passes/paths/PlanOrder.h"

namespace tenon {

/// A plan with the errors of its options.
struct BudgetedPlan {
  double cost = 0;
  double error = 0;            ///< the root of the sum of the squared errors of all regions
  std::vector<size_t> options; ///< for each region the place of its option
};

/// Lists the plans whose error is within a budget lazily, from the cheapest one on. That is a constrained k-best
/// problem, solved by closing the gap of a Lagrangian relaxation (Handler and Zang, "A dual algorithm for the
/// constrained shortest path problem", Networks 10, 1980): plans are enumerated in the order of cost plus a multiple of
/// variance, which is a lower bound of the cost of each plan within the budget, and one of them is listed when no plan
/// that is still to come can cost less.
class BudgetedPlans {
public:
  /// `regions` has the options of each region, at least one and all finite. `budget` is the largest allowed error of a
  /// plan.
  BudgetedPlans(std::vector<std::vector<PricedPath>> regions, double budget);

  /// The next plan; nothing after the last one.
  std::optional<BudgetedPlan> next();

  /// Returns the number of plans, regardless of their error, in decimal digits.
  std::string count() const { return order.count(); }

private:
  static bool isLater(const BudgetedPlan &x, const BudgetedPlan &y);
  BudgetedPlan makePlan(std::vector<size_t> options) const;
  bool enumerate();

  std::vector<std::vector<PricedPath>> regions;
  double variance;   ///< the largest one of a plan
  double multiplier; ///< what a unit of variance costs
  PlanOrder order;   ///< of costs and variances together
  double bound;      ///< no plan within the budget that is still to come costs less
  std::vector<BudgetedPlan> heap;
};

} // namespace tenon

#endif // TENON_PASSES_PATHS_BUDGETEDPLANS_H
