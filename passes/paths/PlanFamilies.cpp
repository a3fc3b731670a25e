//===- PlanFamilies.cpp - whole plans of several forms of a graph ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/PlanFamilies.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <cmath>

using namespace tenon;

PlanFamilies::PlanFamilies(std::vector<PlanFamily> families, double budget) {
  for (PlanFamily &family : families) {
    double left = budget * budget - family.variance;
    sources.push_back({BudgetedPlans(std::move(family.regions), std::sqrt(std::max(left, 0.0))), family.cost,
                       family.variance, std::nullopt});
    if (left >= 0)
      sources.back().first = sources.back().plans.next();
  }
}

std::optional<FamilyPlan> PlanFamilies::next() {
  Source *best = nullptr;
  for (Source &source : sources)
    if (source.first && (!best || source.cost + source.first->cost < best->cost + best->first->cost))
      best = &source;
  if (!best)
    return std::nullopt;
  FamilyPlan plan{std::move(*best->first), static_cast<size_t>(best - sources.data())};
  best->first = best->plans.next();
  plan.cost += best->cost;
  plan.error = std::sqrt(plan.error * plan.error + best->variance);
  return plan;
}

std::string PlanFamilies::count() const {
  std::string sum = "0";
  for (const Source &source : sources)
    sum = addDecimals(sum, source.plans.count());
  return sum;
}

std::string tenon::addDecimals(llvm::StringRef x, llvm::StringRef y) {
  std::string digits; // the last one first
  int carry = 0;
  for (size_t i = 0; i < std::max(x.size(), y.size()) || carry > 0; ++i) {
    int sum = carry + (i < x.size() ? x[x.size() - 1 - i] - '0' : 0) + (i < y.size() ? y[y.size() - 1 - i] - '0' : 0);
    digits += static_cast<char>('0' + sum % 10);
    carry = sum / 10;
  }
  std::reverse(digits.begin(), digits.end());
  return digits;
}
