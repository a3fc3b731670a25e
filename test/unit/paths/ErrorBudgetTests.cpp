//===- ErrorBudgetTests.cpp - which operations spend a model's error ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/ErrorBudget.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace tenon;

using Operations = std::vector<std::vector<PricedPath>>;
using Places = std::vector<size_t>;

TEST_CASE("without a total, each operation has its cheapest path within the error of one", "[budget]") {
  Operations operations{{{10, 0}, {6, 1e-3}, {5, 4e-3}}, {{10, 0}, {12, 1e-3}}, {{7, 1e-3}, {9, 0}, {3, INFINITY}}};
  CHECK(distributeBudget(operations, {2e-3}) == Places{1, 0, 0});
  CHECK(distributeBudget(operations, {5e-3}) == Places{2, 0, 0});
  CHECK(distributeBudget(operations, {}) == Places{0, 0, 1});
  CHECK(distributeBudget({}, {}).empty());
}

TEST_CASE("a total goes to what saves the most for its error", "[budget]") {
  Operations operations{{{10, 0}, {9, 1e-3}}, {{100, 0}, {50, 1e-3}}, {{30, 0}, {20, 1e-3}}};
  CHECK(distributeBudget(operations, {1e-2, 1e-3}) == Places{0, 1, 0});
  CHECK(distributeBudget(operations, {1e-2, 1.5e-3}) == Places{0, 1, 1});
  CHECK(distributeBudget(operations, {1e-2, 1.8e-3}) == Places{1, 1, 1});
  CHECK(distributeBudget(operations, {1e-2, 0.9e-3}) == Places{0, 0, 0});
}

TEST_CASE("an operation takes the step of its paths for which there is room", "[budget]") {
  // The last path saves less for its variance than the second, and the third lies above the line between both.
  Operations operations{{{10, 0}, {6, 1e-3}, {5.9, 2e-3}, {4, 3e-3}}};
  CHECK(distributeBudget(operations, {1, 1e-3}) == Places{1});
  CHECK(distributeBudget(operations, {1, 2.5e-3}) == Places{1});
  CHECK(distributeBudget(operations, {1, 3e-3}) == Places{3});
}

TEST_CASE("budgets are kept, and costs are near the smallest possible ones", "[budget]") {
  std::mt19937 engine(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int round = 0; round < 200; ++round) {
    Operations operations(1 + engine() % 6);
    for (std::vector<PricedPath> &paths : operations) {
      paths.push_back({uniform(engine), 0});
      for (size_t i = engine() % 4; i-- > 0;)
        paths.push_back({uniform(engine), uniform(engine)});
    }
    ErrorBudget budget{uniform(engine), 1.5 * uniform(engine)};
    Places chosen = distributeBudget(operations, budget);
    auto getCost = [&](const Places &places) {
      double cost = 0, variance = 0;
      bool fits = true;
      for (size_t i = 0; i < operations.size(); ++i) {
        const PricedPath &path = operations[i][places[i]];
        cost += path.cost;
        variance += path.error * path.error;
        fits &= path.error <= budget.each;
      }
      return fits && std::sqrt(variance) <= budget.total * (1 + 1e-12) ? cost : INFINITY;
    };
    double best = INFINITY, largestStep = 0;
    Places places(operations.size());
    for (bool isDone = false; !isDone;) {
      best = std::min(best, getCost(places));
      isDone = true;
      for (size_t i = 0; i < places.size() && isDone; ++i) {
        places[i] = (places[i] + 1) % operations[i].size();
        isDone = places[i] == 0;
      }
    }
    for (const std::vector<PricedPath> &paths : operations)
      for (const PricedPath &path : paths)
        largestStep = std::max(largestStep, paths.front().cost - path.cost);
    CAPTURE(round, best, getCost(chosen));
    // A greedy choice is off by no more than what one operation saves.
    CHECK(getCost(chosen) <= best + largestStep + 1e-12);
  }
}
