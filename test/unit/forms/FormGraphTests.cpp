//===- FormGraphTests.cpp - one form for each site of a graph ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/forms/FormGraph.h"
#include <catch2/catch.hpp>
#include <limits>
#include <random>

using namespace tenon;

namespace {
constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// All assignments, one after the other, in lexical order.
FormAssignment solveByForce(const FormGraph &graph, const std::vector<size_t> &counts) {
  FormAssignment best{kInfinite, std::vector<size_t>(counts.size()), true};
  std::vector<size_t> forms(counts.size());
  while (true) {
    if (double cost = graph.getCost(forms); cost < best.cost)
      best = {cost, forms, true};
    size_t site = counts.size();
    while (site > 0 && ++forms[site - 1] == counts[site - 1])
      forms[--site] = 0;
    if (site == 0)
      return best;
  }
}

/// Costs are small whole numbers, so that sums are exact and ties occur.
std::vector<size_t> fill(FormGraph &graph, std::mt19937 &random, size_t numSites, size_t numTerms) {
  auto draw = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  std::vector<size_t> counts;
  for (size_t i = 0; i < numSites; ++i) {
    std::vector<double> costs(draw(1, 4));
    for (double &cost : costs)
      cost = draw(0, 9) == 0 ? kInfinite : draw(0, 20);
    counts.push_back(costs.size());
    graph.addSite(std::move(costs));
  }
  for (size_t i = 0; i < numTerms && numSites > 1; ++i) {
    size_t a = draw(0, numSites - 1), b = draw(0, numSites - 1);
    if (a != b)
      graph.addTerm(a, draw(0, counts[a] - 1), b, draw(0, counts[b] - 1), draw(0, 5) == 0 ? kInfinite : draw(-10, 10));
  }
  return counts;
}
} // namespace

TEST_CASE("a graph without sites has an assignment that costs nothing") {
  FormAssignment found = FormGraph().solve();
  CHECK(found.cost == 0);
  CHECK(found.forms.empty());
  CHECK(found.isOptimal);
}

TEST_CASE("sites without terms take their cheapest forms, of equal ones the first") {
  FormGraph graph;
  graph.addSite({3, 2, 5});
  graph.addSite({4, 4});
  graph.addSite({kInfinite, 7});
  FormAssignment found = graph.solve();
  CHECK(found.forms == std::vector<size_t>{1, 0, 1});
  CHECK(found.cost == 13);
}

TEST_CASE("neighbours change together where one alone would pay for a conversion") {
  FormGraph graph;
  for (int i = 0; i < 5; ++i)
    graph.addSite({10, 9});
  for (int i = 1; i < 5; ++i) {
    graph.addTerm(i - 1, 0, i, 1, 4);
    graph.addTerm(i - 1, 1, i, 0, 4);
  }
  FormAssignment found = graph.solve();
  CHECK(found.forms == std::vector<size_t>(5, 1));
  CHECK(found.cost == 45);
}

TEST_CASE("forms that exclude each other are not taken together") {
  FormGraph graph;
  graph.addSite({10, 1});
  graph.addSite({10, 2});
  graph.addTerm(0, 1, 1, 1, kInfinite);
  CHECK(graph.solve().forms == std::vector<size_t>{1, 0});
  graph.addTerm(0, 1, 1, 0, kInfinite);
  CHECK(graph.solve().forms == std::vector<size_t>{0, 1});
}

TEST_CASE("where no assignment is allowed the cost is infinite") {
  FormGraph graph;
  graph.addSite({kInfinite});
  graph.addSite({1});
  CHECK(graph.solve().cost == kInfinite);
  CHECK(graph.solve().forms.size() == 2);
}

TEST_CASE("assignments are those that brute force finds") {
  for (unsigned seed = 1; seed <= 400; ++seed) {
    std::mt19937 random(seed);
    FormGraph graph;
    std::vector<size_t> counts = fill(graph, random, 1 + seed % 7, seed % 11);
    FormAssignment expected = solveByForce(graph, counts), found = graph.solve();
    INFO("seed " << seed);
    CHECK(found.isOptimal);
    CHECK(found.cost == expected.cost);
    if (expected.cost < kInfinite)
      CHECK(found.forms == expected.forms);
  }
}

TEST_CASE("a search that ends early says so, and is no worse than forms as the graph stands") {
  size_t numExact = 0;
  for (unsigned seed = 1; seed <= 50; ++seed) {
    std::mt19937 random(seed);
    FormGraph graph;
    std::vector<size_t> counts = fill(graph, random, 7, 10);
    FormAssignment found = graph.solve(/*maxSteps=*/3);
    CHECK(found.cost == (found.cost < kInfinite ? graph.getCost(found.forms) : kInfinite));
    CHECK(found.cost <= graph.getCost(std::vector<size_t>(7, 0)));
    if (found.isOptimal) {
      ++numExact;
      CHECK(found.cost == solveByForce(graph, counts).cost);
    }
  }
  CHECK(numExact < 50);
}

TEST_CASE("hundreds of sites in a chain are decided in few steps") {
  FormGraph graph;
  for (int i = 0; i < 301; ++i)
    graph.addSite({double(7 * i % 11), double(5 * i % 13)});
  for (int i = 1; i < 301; ++i)
    graph.addTerm(i - 1, 0, i, 1, 3);
  FormAssignment found = graph.solve();
  CHECK(found.cost == graph.getCost(found.forms));
  CHECK(found.cost <= graph.getCost(std::vector<size_t>(301, 1)));
}
