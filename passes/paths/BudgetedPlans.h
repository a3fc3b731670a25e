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
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tenon {

/// A plan with the errors of its options.
struct BudgetedPlan {
  double cost = 0;
  double error = 0;            ///< the root of the sum of the squared errors of all regions
  std::vector<size_t> options; ///< for each region the place of its option
};

/// All plans in the order of their cost whose variances, rounded to a fixed number of units, are within the budget: the
/// k best solutions of a multiple-choice knapsack problem. Dynamic programming over regions and units tells what the
/// rest of a plan costs; sets of plans that agree up to a region are split by the options of the next ones, the set
/// with the cheapest plan first (Lawler, "A procedure for computing the k best solutions to discrete optimization
/// problems and its application to the shortest path problem", Management Science 18, 1972).
class KnapsackOrder {
public:
  /// `variance` is the budget. Variances of options are rounded up if `roundsUp`, so that each plan is within it;
  /// otherwise down, so that no plan is left out that is.
  KnapsackOrder(const std::vector<std::vector<PricedPath>> &regions, double variance, bool roundsUp);

  /// What the next plan costs; infinite after the last one.
  double getNextCost() const;
  /// Returns the options of the next plan, which there has to be.
  std::vector<size_t> next();

private:
  using Options = std::vector<uint16_t>;
  /// The plans that agree with an earlier one before `region`, and have `option` there.
  struct Branch {
    double cost; ///< of the cheapest one
    size_t parent;
    size_t region, option;
    size_t sequence; ///< orders branches of equal cost
  };

  static bool isLater(const Branch &x, const Branch &y);
  void fillTable();
  std::optional<double> estimate(size_t region, size_t option, unsigned unitsLeft) const;
  void complete(Options &options, unsigned unitsLeft) const;
  void split(Options options, size_t firstFree);

  std::vector<std::vector<double>> costs;   ///< of each option
  std::vector<std::vector<unsigned>> units; ///< likewise; more than there are if it exceeds the budget alone
  std::vector<double> restCosts;            ///< of regions from one on, with so many units left
  std::vector<Options> earlier;             ///< plans
  std::vector<Branch> branches;             ///< a heap
  size_t numBranches = 0;
  bool isFirst = true;
};

/// Lists the plans whose error is within a budget lazily, from the cheapest one on, all of them. Where very many plans
/// exceed the budget by less than variances are rounded by, those that are left out of the rest are within a few
/// percent of the budget.
class BudgetedPlans {
public:
  /// `regions` has the options of each region, at least one and all of finite cost. `budget` is the largest allowed
  /// error of a plan.
  BudgetedPlans(std::vector<std::vector<PricedPath>> regions, double budget);

  /// The next plan; nothing after the last one.
  std::optional<BudgetedPlan> next();

  /// Returns the number of plans, regardless of their error, in decimal digits.
  std::string count() const;

  /// Returns the number of plans that were looked at, within the budget or not.
  size_t getNumVisited() const { return numVisited; }

private:
  static bool isDearer(const BudgetedPlan &x, const BudgetedPlan &y);
  bool isNextFound() const;
  BudgetedPlan makePlan(std::vector<size_t> options) const;
  void visit(std::vector<size_t> options);

  std::vector<std::vector<PricedPath>> regions;
  double variance; ///< the largest one of a plan
  bool roundsUp = false;
  KnapsackOrder order;
  std::vector<BudgetedPlan> found;     ///< a heap of plans within the budget
  std::set<std::vector<size_t>> known; ///< the options of all plans that were found
  size_t numVisited = 0, numPassed = 0;
};

} // namespace tenon

#endif // TENON_PASSES_PATHS_BUDGETEDPLANS_H
