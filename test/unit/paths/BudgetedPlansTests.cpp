//===- BudgetedPlansTests.cpp - whole plans that are exact enough ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/BudgetedPlans.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace tenon;

using Regions = std::vector<std::vector<PricedPath>>;

static double getError(const Regions &regions, const std::vector<size_t> &options) {
  double variance = 0;
  for (size_t i = 0; i < regions.size(); ++i)
    variance += regions[i][options[i]].error * regions[i][options[i]].error;
  return std::sqrt(variance);
}

/// The costs of all plans within the budget, sorted.
static std::vector<double> listCosts(const Regions &regions, double budget) {
  std::vector<double> costs;
  std::vector<size_t> options(regions.size());
  for (;;) {
    if (getError(regions, options) <= budget) {
      double cost = 0;
      for (size_t i = 0; i < regions.size(); ++i)
        cost += regions[i][options[i]].cost;
      costs.push_back(cost);
    }
    size_t place = 0;
    while (place < regions.size() && ++options[place] == regions[place].size())
      options[place++] = 0;
    if (place == regions.size())
      break;
  }
  std::sort(costs.begin(), costs.end());
  return costs;
}

TEST_CASE("without a region there is one plan, whatever the budget", "[plans]") {
  BudgetedPlans plans({}, 0);
  REQUIRE(plans.next());
  CHECK(!plans.next());
}

TEST_CASE("plans beyond the budget are left out", "[plans]") {
  BudgetedPlans plans({{{10, 0}, {4, 3}}, {{10, 0}, {5, 4}}}, 4.5);
  CHECK(plans.count() == "4");
  // Both together are off by 5.
  for (double cost : {14, 15, 20}) {
    std::optional<BudgetedPlan> plan = plans.next();
    REQUIRE(plan);
    CHECK(plan->cost == cost);
  }
  CHECK(!plans.next());
}

TEST_CASE("an unlimited budget leaves nothing out", "[plans]") {
  BudgetedPlans plans({{{10, 0}, {4, 3}}}, std::numeric_limits<double>::infinity());
  CHECK(plans.next()->cost == 4);
  CHECK(plans.next()->cost == 10);
  CHECK(!plans.next());
}

TEST_CASE("there may be no plan within the budget", "[plans]") {
  BudgetedPlans plans({{{1, 2}, {3, 1}}}, 0.5);
  CHECK(!plans.next());
}

TEST_CASE("plans within a budget come from the cheapest one on, each once", "[plans]") {
  std::mt19937 engine(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int round = 0; round < 300; ++round) {
    Regions regions(engine() % 6);
    for (std::vector<PricedPath> &options : regions) {
      options.resize(1 + engine() % 4);
      // Small integers make plans of equal cost, and errors that are equal to the budget.
      for (PricedPath &option : options)
        option = round % 2 ? PricedPath{double(engine() % 4), double(engine() % 3)}
                           : PricedPath{uniform(engine) * 1e9, uniform(engine) * 1e-5};
    }
    double budget = round % 2 ? double(engine() % 4) : uniform(engine) * 2e-5;
    BudgetedPlans plans(regions, budget);
    std::vector<double> found;
    while (std::optional<BudgetedPlan> plan = plans.next()) {
      CHECK(plan->error == Approx(getError(regions, plan->options)));
      CHECK(plan->error <= budget * (1 + 1e-6));
      found.push_back(plan->cost);
    }
    std::vector<double> wanted = listCosts(regions, budget);
    REQUIRE(found.size() == wanted.size());
    for (size_t i = 0; i < found.size(); ++i)
      CHECK(found[i] == Approx(wanted[i]));
  }
}

TEST_CASE("the budget of a large model costs little time", "[plans]") {
  std::mt19937 engine(11);
  std::uniform_real_distribution<double> uniform(0, 1);
  Regions regions(40);
  for (std::vector<PricedPath> &options : regions) {
    options.push_back({1 + uniform(engine), 0});
    for (int i = 0; i < 4; ++i)
      options.push_back({options.front().cost * (0.3 + uniform(engine)), 1e-3 * uniform(engine)});
  }
  BudgetedPlans plans(regions, 1.5e-3);
  double before = 0;
  for (int i = 0; i < 1000; ++i) {
    std::optional<BudgetedPlan> plan = plans.next();
    REQUIRE(plan);
    CHECK(plan->error <= 1.5e-3 * (1 + 1e-6));
    CHECK(plan->cost >= before * (1 - 1e-6));
    before = plan->cost;
  }
  CHECK(plans.getNumVisited() < 2000);
}

TEST_CASE("few plans beyond the budget are looked at where many cost about the same", "[plans]") {
  std::mt19937 engine(13);
  std::uniform_real_distribution<double> uniform(0.99, 1.01);
  bool isExact = GENERATE(true, false);
  // The layers of a network: what each saves is worth its variance equally, so that a relaxation has no opinion.
  Regions regions(64);
  for (std::vector<PricedPath> &options : regions) {
    double scale = isExact ? 1 : uniform(engine);
    options = {{100, 0}, {60 * scale, 1e-3}, {36 / scale, 1.27e-3 * scale}};
  }
  BudgetedPlans plans(regions, 5.1e-3);
  for (int i = 0; i < 500; ++i) {
    std::optional<BudgetedPlan> plan = plans.next();
    REQUIRE(plan);
    CHECK(plan->error <= 5.1e-3 * (1 + 1e-6));
    // Most of the budget is used.
    CHECK(plan->error >= 0.98 * 5.1e-3);
  }
  CHECK(plans.getNumVisited() < 20000);
}
