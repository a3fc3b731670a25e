//===- GraphLayoutTests.cpp - ranks, orders and places of nodes ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/GraphLayout.h"
#include <catch2/catch.hpp>
#include <random>

using namespace tenon;

using Edges = std::vector<GraphEdge>;

static std::vector<double> getWidths(size_t count) { return std::vector<double>(count, 100); }

/// No two nodes of a rank overlap, and edges lead downwards.
static void checkDrawing(const GraphLayout &layout, const std::vector<double> &widths, const Edges &edges) {
  REQUIRE(layout.nodes.size() == widths.size());
  for (size_t a = 0; a < widths.size(); ++a) {
    CHECK(layout.nodes[a].x - widths[a] / 2 >= -1e-6);
    CHECK(layout.nodes[a].x + widths[a] / 2 <= layout.width + 1e-6);
    CHECK(layout.nodes[a].y < layout.height);
    for (size_t b = 0; b < a; ++b)
      if (layout.nodes[a].y == layout.nodes[b].y)
        REQUIRE(std::abs(layout.nodes[a].x - layout.nodes[b].x) >= (widths[a] + widths[b]) / 2 - 1e-6);
  }
  for (const GraphEdge &edge : edges)
    if (edge.from < edge.to)
      REQUIRE(layout.nodes[edge.from].y < layout.nodes[edge.to].y);
}

TEST_CASE("a chain is drawn as one straight line") {
  Edges edges = {{0, 1}, {1, 2}, {2, 3}};
  GraphLayout layout = layOutGraph(getWidths(4), edges);
  checkDrawing(layout, getWidths(4), edges);
  for (const GraphLayout::Point &node : layout.nodes)
    CHECK(node.x == Approx(layout.nodes[0].x));
  CHECK(layout.width == Approx(100));
  CHECK(layout.nodes[1].y - layout.nodes[0].y == Approx(LayoutOptions().rankHeight));
  CHECK(layout.crossings == 0);
}

TEST_CASE("an edge over several ranks goes around the nodes of these") {
  Edges edges = {{0, 1}, {0, 3}, {1, 2}, {2, 3}};
  GraphLayout layout = layOutGraph(getWidths(4), edges);
  checkDrawing(layout, getWidths(4), edges);
  CHECK(layout.edges[0].size() == 4);
  for (const GraphLayout::Segment &segment : layout.edges[0])
    for (uint32_t node : {1, 2})
      if (segment.to.y == layout.nodes[node].y && segment.to.x != layout.nodes[node].x)
        CHECK(std::abs(segment.to.x - layout.nodes[node].x) > 50);
}

TEST_CASE("edges of one node to later ranks share their bends") {
  // 0 is read by each node of a chain.
  Edges edges = {{0, 1}};
  for (uint32_t i = 1; i + 1 < 10; ++i) {
    edges.push_back({i, i + 1});
    edges.push_back({0, i + 1});
  }
  GraphLayout layout = layOutGraph(getWidths(10), edges);
  checkDrawing(layout, getWidths(10), edges);
  // 8 bends, each with a segment to the next and one to a node, but the last with the latter alone; and one to node 1.
  CHECK(layout.edges[0].size() == 1 + 8 + 8);
}

TEST_CASE("orders without crossings are found") {
  // Two chains whose nodes alternate in number, crossed in each rank if taken as they come.
  Edges edges = {{0, 3}, {1, 2}, {2, 5}, {3, 4}, {4, 7}, {5, 6}};
  GraphLayout layout = layOutGraph(getWidths(8), edges);
  checkDrawing(layout, getWidths(8), edges);
  CHECK(layout.crossings == 0);
  LayoutOptions asTheyCome;
  asTheyCome.sweeps = 0;
  CHECK(layOutGraph(getWidths(8), edges, asTheyCome).crossings == 3);
}

TEST_CASE("a node that a late one alone reads is drawn beside that") {
  Edges edges = {{0, 2}, {2, 3}, {3, 4}, {4, 5}, {1, 5}};
  GraphLayout layout = layOutGraph(getWidths(6), edges);
  CHECK(layout.nodes[1].y == layout.nodes[4].y);
}

TEST_CASE("parts that no edge connects are drawn beside each other") {
  // A chain of three, one of two, and a node on its own: no wider than three nodes of the first rank.
  Edges edges = {{0, 2}, {2, 4}, {1, 3}};
  GraphLayout layout = layOutGraph(getWidths(6), edges);
  checkDrawing(layout, getWidths(6), edges);
  CHECK(layout.width == Approx(3 * 100 + 2 * LayoutOptions().gap));
  CHECK(layout.nodes[0].x == Approx(layout.nodes[4].x));
  CHECK(layout.nodes[1].x == Approx(layout.nodes[3].x));
  // Many of them in any order have no gaps between them either.
  CHECK(layOutGraph(getWidths(50), {{3, 40}, {7, 41}, {20, 40}}).width < 51 * (100 + LayoutOptions().gap));
}

TEST_CASE("graphs of any form are drawn") {
  CHECK(layOutGraph({}, {}).nodes.empty());
  CHECK(layOutGraph({}, {}).height == 0);
  GraphLayout one = layOutGraph({40.0}, {{0, 0}});
  CHECK(one.edges[0].empty());
  CHECK(one.width == Approx(40));
  // Edges twice, against the order of numbers, and between nodes that nothing else connects.
  GraphLayout layout = layOutGraph(getWidths(5), {{0, 1}, {0, 1}, {2, 1}, {4, 3}});
  checkDrawing(layout, getWidths(5), {});
  CHECK(layout.edges[0].size() == 1);
  CHECK(layout.edges[3].size() == 1);
}

TEST_CASE("the work of a layout is bounded, whatever the graph") {
  constexpr uint32_t kNodes = 2000;
  // A chain in which nodes also read from far above: with a bend for each rank there would be some 650,000.
  Edges far, random;
  std::mt19937 generator(1);
  for (uint32_t i = 1; i < kNodes; ++i) {
    far.push_back({i - 1, i});
    far.push_back({uint32_t(generator() % i), i});
    for (int k = 0; k < 4; ++k)
      random.push_back({uint32_t(generator() % i), i});
  }
  for (const Edges *edges : {&far, &random}) {
    GraphLayout layout = layOutGraph(getWidths(kNodes), *edges);
    checkDrawing(layout, getWidths(kNodes), *edges);
    // A step is some nanoseconds.
    CHECK(layout.steps < 40'000'000);
    size_t segments = 0;
    for (const auto &node : layout.edges)
      segments += node.size();
    CHECK(segments < 60'000);
  }
}
