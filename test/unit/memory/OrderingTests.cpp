//===- OrderingTests.cpp - orders with a small peak -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/ordering/FindOrder.h"
#include "passes/memory/ordering/ListOrder.h"
#include "test/unit/memory/Instances.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

using namespace tenon::ordering;
using tenon::placement::draw;

static constexpr int64_t kSteps = 2'000'000;

/// Each node writes a buffer of its own and reads some from before; some write in place; some inputs, outputs.
static Graph makeGraph(std::mt19937 &random, uint32_t count) {
  Graph graph;
  graph.buffers.push_back({draw(random, 0, 50), true, draw(random, 0, 1) == 0});
  for (uint32_t i = 0; i < count; ++i) {
    Node node;
    int64_t reads = draw(random, 0, 3);
    for (int64_t k = 0; k < reads; ++k)
      node.reads.push_back(static_cast<uint32_t>(draw(random, std::max<int64_t>(0, int64_t(i) - 8), i)));
    node.writes.push_back(i + 1);
    if (draw(random, 0, 7) == 0)
      node.writes.push_back(static_cast<uint32_t>(draw(random, 0, i)));
    if (i > 0 && draw(random, 0, 9) == 0)
      node.after.push_back(static_cast<uint32_t>(draw(random, 0, i - 1)));
    graph.nodes.push_back(node);
    graph.buffers.push_back({draw(random, 0, 100), false, draw(random, 0, 9) == 0});
  }
  return graph;
}

/// From the definition: a buffer is live from its first use to its last.
static int64_t computePeak(const Graph &graph, const Order &order) {
  auto uses = [&](uint32_t node, uint32_t buffer) {
    const Node &n = graph.nodes[node];
    return std::count(n.reads.begin(), n.reads.end(), buffer) + std::count(n.writes.begin(), n.writes.end(), buffer) >
           0;
  };
  int64_t last = static_cast<int64_t>(order.size());
  std::vector<int64_t> live(order.size() + 2);
  for (uint32_t b = 0; b < graph.buffers.size(); ++b) {
    int64_t first = last + 2, end = -1;
    for (int64_t i = 0; i < last; ++i)
      if (uses(order[i], b)) {
        first = std::min(first, i + 1);
        end = i + 1;
      }
    if (graph.buffers[b].isLiveBefore)
      first = 0;
    if (graph.buffers[b].isLiveBefore && end < 0)
      end = 0;
    // What nothing uses is not even made.
    if (graph.buffers[b].isLiveAfter && end >= 0)
      end = last + 1;
    for (int64_t i = first; i <= end; ++i)
      live[i] += graph.buffers[b].size;
  }
  return *std::max_element(live.begin(), live.end());
}

TEST_CASE("the peak is what the definition says") {
  std::mt19937 random(1);
  for (int round = 0; round < 100; ++round) {
    CAPTURE(round);
    Graph graph = makeGraph(random, 1 + round % 20);
    CHECK(getPeak(graph, getGivenOrder(graph)) == computePeak(graph, getGivenOrder(graph)));
  }
}

TEST_CASE("few nodes get the best of all orders") {
  std::mt19937 random(2);
  int better = 0;
  for (int round = 0; round < 150; ++round) {
    CAPTURE(round);
    Graph graph = makeGraph(random, 1 + round % 7);
    Order order = getGivenOrder(graph);
    int64_t given = getPeak(graph, order), smallest = given;
    do {
      if (isValidOrder(graph, order))
        smallest = std::min(smallest, computePeak(graph, order));
    } while (std::next_permutation(order.begin(), order.end()));
    FoundOrder found = findOrder(graph, kSteps);
    REQUIRE(isValidOrder(graph, found.order));
    CHECK(found.peak == computePeak(graph, found.order));
    CHECK(found.peak == smallest);
    if (found.peak == given)
      CHECK(found.order == getGivenOrder(graph));
    better += found.peak < given;
  }
  CHECK(better > 10);
}

TEST_CASE("list orders are valid") {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    CAPTURE(round);
    Graph graph = makeGraph(random, 60);
    Program program(graph);
    for (Preference preference : {Preference::delta, Preference::depth, Preference::allocated})
      CHECK(isValidOrder(graph, makeListOrder(program, preference)));
  }
}

TEST_CASE("branches run one after the other, not side by side") {
  // Branches of three nodes, given level by level: large in between, small at their ends.
  Graph graph;
  constexpr uint32_t kBranches = 10;
  graph.buffers.push_back({10, true, false});
  Node sum;
  for (uint32_t level = 0; level < 3; ++level)
    for (uint32_t branch = 0; branch < kBranches; ++branch) {
      uint32_t buffer = static_cast<uint32_t>(graph.buffers.size());
      graph.buffers.push_back({level == 2 ? 1 : 1000, false, false});
      graph.nodes.push_back({{level == 0 ? 0 : buffer - kBranches}, {buffer}, {}});
      if (level == 2)
        sum.reads.push_back(buffer);
    }
  sum.writes.push_back(static_cast<uint32_t>(graph.buffers.size()));
  graph.buffers.push_back({1, false, true});
  graph.nodes.push_back(sum);
  CHECK(getPeak(graph, getGivenOrder(graph)) == 1000 * (kBranches + 1));
  CHECK(findOrder(graph, kSteps).peak <= 10 + 2000 + kBranches);
}

TEST_CASE("ten thousand nodes get an order that is valid, and no worse") {
  std::mt19937 random(4);
  Graph graph = makeGraph(random, 10000);
  FoundOrder found = findOrder(graph, kSteps);
  CHECK(isValidOrder(graph, found.order));
  CHECK(found.peak <= getPeak(graph, getGivenOrder(graph)));
}

TEST_CASE("the same graph gets the same order") {
  std::mt19937 random(5);
  Graph graph = makeGraph(random, 200);
  CHECK(findOrder(graph, kSteps).order == findOrder(graph, kSteps).order);
}

TEST_CASE("an order that breaks a dependence is not valid") {
  Graph graph;
  graph.buffers = {{1, true, false}, {1, false, true}};
  graph.nodes = {{{0}, {1}, {}}, {{}, {0}, {}}};
  CHECK(isValidOrder(graph, {0, 1}));
  CHECK_FALSE(isValidOrder(graph, {1, 0}));
  CHECK_FALSE(isValidOrder(graph, {0, 0}));
  CHECK_FALSE(isValidOrder(graph, {0}));
}

TEST_CASE("a graph of nothing has an order") { CHECK(findOrder({}, kSteps).order.empty()); }
