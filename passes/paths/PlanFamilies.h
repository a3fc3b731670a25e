//===- PlanFamilies.h - whole plans of several forms of a graph -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The algorithm stands apart from the IR.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_PLANFAMILIES_H
#define TENON_PASSES_PATHS_PLANFAMILIES_H

#include "passes/paths/BudgetedPlans.h"

namespace tenon {

/// The plans of a graph whose sites have certain forms, which determine the regions.
struct PlanFamily {
  double cost = 0;     ///< of all plans of the family, besides that of their options
  double variance = 0; ///< likewise: the sum of the squared errors
  std::vector<std::vector<PricedPath>> regions;
};

/// A plan of one of several families.
struct FamilyPlan : BudgetedPlan {
  size_t family = 0;
};

/// Lists the plans of several families whose error is within a budget lazily, in ascending order of cost; among equals,
/// that of the first family comes first.
class PlanFamilies {
public:
  PlanFamilies(std::vector<PlanFamily> families, double budget);

  /// The next plan; nothing after the last one.
  std::optional<FamilyPlan> next();

  /// Returns the number of plans, regardless of their error, in decimal digits.
  std::string count() const;

private:
  struct Source {
    BudgetedPlans plans;
    double cost, variance;
    std::optional<BudgetedPlan> first; ///< of those that were not listed yet
  };
  std::vector<Source> sources;
};

/// The sum of two numbers in decimal digits.
std::string addDecimals(llvm::StringRef x, llvm::StringRef y);

} // namespace tenon

#endif // TENON_PASSES_PATHS_PLANFAMILIES_H
