//===- ErrorBudget.cpp - which operations spend a model's error -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/ErrorBudget.h"
#include "llvm/ADT/STLExtras.h"
#include <cassert>

using namespace tenon;

namespace {
/// A step on the convex hull from one path of an operation to the next one, which is cheaper and less exact.
struct Step {
  size_t operation, path;
  double variance, saved;
};
} // namespace

static double getVariance(const PricedPath &path) { return path.error * path.error; }

/// Returns the cost that each unit of variance saves between two paths.
static double getSlope(const PricedPath &from, const PricedPath &to) {
  return (from.cost - to.cost) / (getVariance(to) - getVariance(from));
}

/// Returns the cheapest path without an error, and from there the lower convex hull of cost over variance.
static std::vector<size_t> findHull(const std::vector<PricedPath> &paths, double largest) {
  std::vector<size_t> order;
  for (auto [place, path] : llvm::enumerate(paths))
    if (path.error <= largest)
      order.push_back(place);
  llvm::stable_sort(order, [&](size_t x, size_t y) {
    return std::pair(paths[x].error, paths[x].cost) < std::pair(paths[y].error, paths[y].cost);
  });
  assert(!order.empty() && paths[order.front()].error == 0 && "an operation has a path without an error");
  std::vector<size_t> hull;
  for (size_t place : order) {
    if (!hull.empty() && paths[place].cost >= paths[hull.back()].cost)
      continue;
    while (hull.size() > 1 &&
           getSlope(paths[hull.end()[-2]], paths[hull.back()]) <= getSlope(paths[hull.back()], paths[place]))
      hull.pop_back();
    hull.push_back(place);
  }
  return hull;
}

std::vector<size_t> tenon::distributeBudget(llvm::ArrayRef<std::vector<PricedPath>> operations,
                                            const ErrorBudget &budget) {
  std::vector<size_t> chosen;
  std::vector<Step> steps;
  for (auto [operation, paths] : llvm::enumerate(operations)) {
    std::vector<size_t> hull = findHull(paths, budget.each);
    chosen.push_back(hull.front());
    for (auto [from, to] : llvm::zip(llvm::ArrayRef(hull).drop_back(), llvm::ArrayRef(hull).drop_front()))
      steps.push_back(
          {operation, to, getVariance(paths[to]) - getVariance(paths[from]), paths[from].cost - paths[to].cost});
  }
  // Slopes decrease along a hull, so a stable sort keeps the steps of an operation in order.
  llvm::stable_sort(steps, [](const Step &x, const Step &y) { return x.saved * y.variance > y.saved * x.variance; });
  double left = budget.total * budget.total;
  std::vector<bool> isClosed(operations.size());
  for (const Step &step : steps) {
    // A step is only valid after the step before it of the same operation.
    if (isClosed[step.operation] || step.variance > left) {
      isClosed[step.operation] = true;
      continue;
    }
    left -= step.variance;
    chosen[step.operation] = step.path;
  }
  return chosen;
}
