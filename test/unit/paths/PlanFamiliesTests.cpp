//===- PlanFamiliesTests.cpp - whole plans of several forms of a graph ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/PlanFamilies.h"
#include "llvm/ADT/StringRef.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace tenon;

namespace {
/// Costs of all plans within the budget, in their order.
std::vector<double> listByForce(const std::vector<PlanFamily> &families, double budget) {
  std::vector<double> costs;
  for (const PlanFamily &family : families) {
    std::vector<std::pair<double, double>> plans{{family.cost, family.variance}};
    for (const std::vector<PricedPath> &options : family.regions) {
      std::vector<std::pair<double, double>> longer;
      for (auto [cost, variance] : plans)
        for (const PricedPath &option : options)
          longer.emplace_back(cost + option.cost, variance + option.error * option.error);
      plans = std::move(longer);
    }
    for (auto [cost, variance] : plans)
      if (variance <= budget * budget)
        costs.push_back(cost);
  }
  std::sort(costs.begin(), costs.end());
  return costs;
}

std::vector<PlanFamily> draw(unsigned seed) {
  std::mt19937 random(seed);
  auto draw = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  std::vector<PlanFamily> families(seed % 4);
  for (PlanFamily &family : families) {
    family.cost = draw(0, 9);
    family.variance = draw(0, 2) == 0 ? draw(0, 30) : 0;
    family.regions.resize(draw(0, 4));
    for (std::vector<PricedPath> &options : family.regions)
      for (int i = draw(1, 3); i > 0; --i)
        options.push_back({double(draw(0, 20)), double(draw(0, 3))});
  }
  return families;
}
} // namespace

TEST_CASE("plans of all families come in the order of their costs") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::vector<PlanFamily> families = draw(seed);
    double budget = seed % 7 + 0.5;
    PlanFamilies plans(families, budget);
    INFO("seed " << seed);
    std::vector<double> expected = listByForce(families, budget), found;
    while (std::optional<FamilyPlan> plan = plans.next()) {
      found.push_back(plan->cost);
      REQUIRE(plan->family < families.size());
      CHECK(plan->options.size() == families[plan->family].regions.size());
      CHECK(plan->error <= budget * (1 + 1e-9));
    }
    REQUIRE(found.size() == expected.size());
    for (size_t i = 0; i < found.size(); ++i)
      CHECK(found[i] == Approx(expected[i]));
    CHECK(plans.count() == std::to_string(listByForce(families, 1e9).size()));
  }
}

TEST_CASE("of equally cheap plans that of the first family comes first") {
  PlanFamily family{3, 0, {{{1, 0}}}};
  PlanFamilies plans({family, family}, 0);
  CHECK(plans.next()->family == 0);
  CHECK(plans.next()->family == 1);
  CHECK(!plans.next());
}

TEST_CASE("a family that is too inexact for itself has no plans") {
  PlanFamily exact{5, 0, {}}, inexact{1, 1e-6, {}};
  PlanFamilies plans({inexact, exact}, 1e-4);
  CHECK(plans.next()->family == 1);
  CHECK(!plans.next());
  CHECK(plans.count() == "2");
}

TEST_CASE("numbers of many digits are added") {
  CHECK(addDecimals("0", "0") == "0");
  CHECK(addDecimals("999", "1") == "1000");
  CHECK(addDecimals("18446744073709551616", "18446744073709551616") == "36893488147419103232");
}
