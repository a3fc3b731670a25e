//===- PlanOrderTests.cpp - whole plans, from the cheapest one on ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/PlanOrder.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>

using namespace tenon;

using Costs = std::vector<std::vector<double>>;

TEST_CASE("a model without a choice has one plan", "[plans]") {
  for (const Costs &costs : {Costs{}, Costs{{3}, {4}}}) {
    PlanOrder order(costs);
    CHECK(order.count() == "1");
    std::optional<PricedPlan> plan = order.next();
    REQUIRE(plan);
    CHECK(plan->cost == (costs.empty() ? 0 : 7));
    CHECK(plan->options == std::vector<size_t>(costs.size(), 0));
    CHECK(!order.next());
    CHECK(!order.next());
  }
}

TEST_CASE("plans come from the cheapest one on", "[plans]") {
  PlanOrder order(Costs{{5, 1}, {7}, {2, 4, 3}});
  const std::vector<PricedPlan> wanted = {{10, {1, 0, 0}}, {11, {1, 0, 2}}, {12, {1, 0, 1}},
                                          {14, {0, 0, 0}}, {15, {0, 0, 2}}, {16, {0, 0, 1}}};
  CHECK(order.count() == "6");
  for (const PricedPlan &plan : wanted) {
    std::optional<PricedPlan> found = order.next();
    REQUIRE(found);
    CHECK(found->cost == plan.cost);
    CHECK(found->options == plan.options);
  }
  CHECK(!order.next());
}

TEST_CASE("each plan comes once, and costs no less than the one before", "[plans]") {
  std::mt19937 engine(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int round = 0; round < 100; ++round) {
    Costs costs(engine() % 6);
    size_t count = 1;
    for (std::vector<double> &own : costs) {
      own.resize(1 + engine() % 4);
      // Some cost the same.
      for (double &cost : own)
        cost = round % 2 ? double(engine() % 3) : uniform(engine);
      count *= own.size();
    }
    PlanOrder order(costs);
    CHECK(order.count() == std::to_string(count));
    std::set<std::vector<size_t>> seen;
    double before = 0;
    while (std::optional<PricedPlan> plan = order.next()) {
      double cost = 0;
      for (size_t i = 0; i < costs.size(); ++i)
        cost += costs[i][plan->options[i]];
      CHECK(plan->cost == Approx(cost));
      CHECK(plan->cost >= before - 1e-12);
      before = plan->cost;
      seen.insert(plan->options);
    }
    CHECK(seen.size() == count);
  }
}

TEST_CASE("the first of astronomically many plans take no time", "[plans]") {
  PlanOrder order(Costs(200, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  CHECK(order.count() == "1" + std::string(200, '0'));
  std::set<std::vector<size_t>> seen;
  for (int i = 0; i < 2000; ++i)
    seen.insert(order.next()->options);
  CHECK(seen.size() == 2000);
}
