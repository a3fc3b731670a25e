//===- GraphLayout.cpp - a layered drawing of a directed graph -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/GraphLayout.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>

using namespace tenon;

/// Bends for each node and edge of the graph, and the minimum for any graph.
static constexpr uint64_t kBendsPerItem = 4, kMinBends = 4096;
/// Sweeps over all ranks that straighten edges.
static constexpr unsigned kPlacementSweeps = 8;
/// Room that an edge takes between nodes.
static constexpr double kBendWidth = 6;

namespace {
/// A node of the graph, or the bend of edges at a rank.
struct Vertex {
  uint32_t rank = 0;
  double width = 0;
  bool isBend = false;
  std::vector<uint32_t> above, below; // in the ranks right beside
  double x = 0;
};

class Layout {
public:
  Layout(llvm::ArrayRef<double> widths, llvm::ArrayRef<GraphEdge> edges, const LayoutOptions &options);
  GraphLayout run();

private:
  void assignRanks();
  void addBends();
  void connect(uint32_t above, uint32_t below);
  void orderRanks();
  void sortByNeighbours(std::vector<uint32_t> &rank, std::vector<uint32_t> Vertex::*side);
  uint64_t countCrossings();
  uint64_t countCrossings(llvm::ArrayRef<uint32_t> rank);
  void placeRanks();
  void placeRank(llvm::ArrayRef<uint32_t> rank, bool usesAbove, bool usesBelow);
  double getGap(uint32_t left, uint32_t right) const {
    return (vertices[left].width + vertices[right].width) / 2 + options.gap;
  }
  std::vector<std::vector<uint32_t>> findComponents() const;
  void packComponents();
  void write();

  const LayoutOptions &options;
  uint32_t numNodes;
  std::vector<GraphEdge> edges; // each once, and each to a larger number
  std::vector<Vertex> vertices; // the nodes, then bends
  std::vector<std::vector<uint32_t>> ranks;
  std::vector<uint32_t> position; // of each vertex in its rank
  // For each node, its bends by rank, and the nodes that its straight edges reach.
  std::vector<std::vector<uint32_t>> bends, straight;
  GraphLayout result;
};
} // namespace

Layout::Layout(llvm::ArrayRef<double> widths, llvm::ArrayRef<GraphEdge> wanted, const LayoutOptions &options)
    : options(options), numNodes(widths.size()), vertices(widths.size()), bends(widths.size()),
      straight(widths.size()) {
  for (auto [vertex, width] : llvm::zip_equal(vertices, widths))
    vertex.width = width;
  for (const GraphEdge &edge : wanted) {
    assert(edge.from < numNodes && edge.to < numNodes && "an edge connects nodes");
    if (edge.from != edge.to)
      edges.push_back({std::min(edge.from, edge.to), std::max(edge.from, edge.to)});
  }
  llvm::sort(edges);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
}

/// Assigns ranks by longest paths. A node with more outgoing than incoming edges, such as an input that a late node
/// reads, moves down to shorten its edges.
void Layout::assignRanks() {
  std::vector<uint32_t> numAbove(numNodes), numBelow(numNodes), nearest(numNodes, UINT32_MAX);
  for (const GraphEdge &edge : edges) {
    vertices[edge.to].rank = std::max(vertices[edge.to].rank, vertices[edge.from].rank + 1);
    ++numAbove[edge.to];
    ++numBelow[edge.from];
  }
  for (const GraphEdge &edge : llvm::reverse(edges)) {
    // Edges are ordered by their source node, so everything that `to` reaches has been visited.
    nearest[edge.from] = std::min(nearest[edge.from], vertices[edge.to].rank);
    bool isLast = &edge == edges.data() || (&edge)[-1].from != edge.from;
    assert(nearest[edge.from] > vertices[edge.from].rank && "an edge leads downwards");
    if (isLast && numBelow[edge.from] > numAbove[edge.from])
      vertices[edge.from].rank = nearest[edge.from] - 1;
  }
  result.steps += 2 * edges.size() + numNodes;
}

void Layout::connect(uint32_t above, uint32_t below) {
  vertices[above].below.push_back(below);
  vertices[below].above.push_back(above);
}

/// Adds a bend at each rank that edges pass, starting with the nodes that have the shortest edges.
void Layout::addBends() {
  uint64_t left = kMinBends + kBendsPerItem * (numNodes + edges.size());
  std::vector<uint32_t> last(numNodes), order(numNodes);
  for (const GraphEdge &edge : edges)
    last[edge.from] = std::max(last[edge.from], vertices[edge.to].rank);
  std::iota(order.begin(), order.end(), 0);
  auto countBends = [&](uint32_t node) -> uint64_t {
    return last[node] > vertices[node].rank ? last[node] - vertices[node].rank - 1 : 0;
  };
  llvm::stable_sort(order, [&](uint32_t a, uint32_t b) { return countBends(a) < countBends(b); });
  for (uint32_t node : order) {
    uint64_t count = countBends(node);
    if (count > left)
      break;
    left -= count;
    for (uint64_t i = 0; i < count; ++i) {
      uint32_t bend = vertices.size(), before = i ? bends[node].back() : node;
      Vertex &added = vertices.emplace_back();
      added.rank = vertices[node].rank + 1 + i;
      added.width = kBendWidth;
      added.isBend = true;
      connect(before, bend);
      bends[node].push_back(bend);
    }
  }
  for (const GraphEdge &edge : edges) {
    assert(vertices[edge.to].rank > vertices[edge.from].rank && "an edge leads downwards");
    uint32_t passed = vertices[edge.to].rank - vertices[edge.from].rank - 1;
    if (passed == 0)
      connect(edge.from, edge.to);
    else if (passed <= bends[edge.from].size())
      connect(bends[edge.from][passed - 1], edge.to);
    else
      straight[edge.from].push_back(edge.to);
  }
  result.steps += vertices.size() + edges.size();
}

/// Moves each vertex to the mean position of its neighbours on one side (the barycentre heuristic). Vertices without
/// neighbours are not moved.
void Layout::sortByNeighbours(std::vector<uint32_t> &rank, std::vector<uint32_t> Vertex::*side) {
  std::vector<std::pair<double, uint32_t>> keys;
  for (auto [i, vertex] : llvm::enumerate(rank)) {
    const std::vector<uint32_t> &neighbours = vertices[vertex].*side;
    double sum = 0;
    for (uint32_t neighbour : neighbours)
      sum += position[neighbour];
    keys.emplace_back(neighbours.empty() ? double(i) : sum / double(neighbours.size()), vertex);
    result.steps += 1 + neighbours.size();
  }
  llvm::stable_sort(keys, llvm::less_first());
  for (auto [i, key] : llvm::enumerate(keys)) {
    rank[i] = key.second;
    position[key.second] = i;
  }
}

/// Counts the crossings of edges below a rank, which are inversions, with a Fenwick tree.
uint64_t Layout::countCrossings(llvm::ArrayRef<uint32_t> rank) {
  std::vector<uint32_t> ends;
  for (uint32_t vertex : rank) {
    size_t begin = ends.size();
    for (uint32_t below : vertices[vertex].below)
      ends.push_back(position[below]);
    std::sort(ends.begin() + begin, ends.end());
  }
  if (ends.empty())
    return 0;
  std::vector<uint64_t> tree(*llvm::max_element(ends) + 2);
  uint64_t crossings = 0, seen = 0;
  for (uint32_t end : ends) {
    // Edges so far that end further to the right.
    uint64_t notRight = 0;
    for (uint32_t i = end + 1; i > 0; i &= i - 1, ++result.steps)
      notRight += tree[i];
    crossings += seen++ - notRight;
    for (uint32_t i = end + 1; i < tree.size(); i += i & -i, ++result.steps)
      ++tree[i];
  }
  return crossings;
}

uint64_t Layout::countCrossings() {
  uint64_t sum = 0;
  for (const std::vector<uint32_t> &rank : ranks)
    sum += countCrossings(rank);
  return sum;
}

/// Sweeps down and up, and keeps the best order.
void Layout::orderRanks() {
  uint32_t count = 0;
  for (const Vertex &vertex : vertices)
    count = std::max(count, vertex.rank + 1);
  ranks.resize(vertices.empty() ? 0 : count);
  position.resize(vertices.size());
  for (auto [i, vertex] : llvm::enumerate(vertices)) {
    position[i] = ranks[vertex.rank].size();
    ranks[vertex.rank].push_back(i);
  }
  std::vector<std::vector<uint32_t>> best = ranks;
  result.crossings = countCrossings();
  for (unsigned sweep = 0; sweep < options.sweeps && result.crossings; ++sweep) {
    if (sweep % 2 == 0)
      for (std::vector<uint32_t> &rank : ranks)
        sortByNeighbours(rank, &Vertex::above);
    else
      for (std::vector<uint32_t> &rank : llvm::reverse(ranks))
        sortByNeighbours(rank, &Vertex::below);
    uint64_t crossings = countCrossings();
    if (crossings < result.crossings) {
      result.crossings = crossings;
      best = ranks;
    }
  }
  ranks = std::move(best);
}

/// Moves the vertices of a rank as close as possible to their neighbours, in the least-squares sense, without changing
/// their order: isotonic regression by merging adjacent vertices whose targets are out of order.
void Layout::placeRank(llvm::ArrayRef<uint32_t> rank, bool usesAbove, bool usesBelow) {
  struct Block {
    double wish, weight;
    size_t count;
  };
  std::vector<Block> blocks;
  std::vector<double> offsets;
  double offset = 0;
  for (auto [i, index] : llvm::enumerate(rank)) {
    const Vertex &vertex = vertices[index];
    if (i)
      offset += getGap(rank[i - 1], index);
    offsets.push_back(offset);
    double sum = 0, weights = 0;
    auto add = [&](llvm::ArrayRef<uint32_t> neighbours) {
      for (uint32_t neighbour : neighbours) {
        // Edges over many ranks have the highest weight, to make them straight; then those of chains.
        bool isBend = vertices[neighbour].isBend;
        double weight = vertex.isBend != isBend ? 1 : isBend ? 8 : 4;
        sum += weight * vertices[neighbour].x;
        weights += weight;
      }
    };
    if (usesAbove)
      add(vertex.above);
    if (usesBelow)
      add(vertex.below);
    Block block = weights ? Block{sum / weights - offset, weights, 1} : Block{vertex.x - offset, 0.01, 1};
    while (!blocks.empty() && blocks.back().wish >= block.wish) {
      const Block &before = blocks.back();
      double weight = before.weight + block.weight;
      block = {(before.wish * before.weight + block.wish * block.weight) / weight, weight, before.count + block.count};
      blocks.pop_back();
    }
    blocks.push_back(block);
    result.steps += 1 + (usesAbove ? vertex.above.size() : 0) + (usesBelow ? vertex.below.size() : 0);
  }
  assert(offsets.size() == rank.size() && "a vertex has its distance from the first one");
  size_t i = 0;
  for (const Block &block : blocks)
    for (size_t end = i + block.count; i < end; ++i)
      vertices[rank[i]].x = block.wish + offsets[i];
}

void Layout::placeRanks() {
  for (const std::vector<uint32_t> &rank : ranks)
    for (size_t i = 1; i < rank.size(); ++i)
      vertices[rank[i]].x = vertices[rank[i - 1]].x + getGap(rank[i - 1], rank[i]);
  for (unsigned sweep = 0; sweep < kPlacementSweeps; ++sweep) {
    bool isLast = sweep + 2 >= kPlacementSweeps;
    for (const std::vector<uint32_t> &rank : ranks)
      placeRank(rank, /*usesAbove=*/true, /*usesBelow=*/isLast);
    for (const std::vector<uint32_t> &rank : llvm::reverse(ranks))
      placeRank(rank, /*usesAbove=*/isLast, /*usesBelow=*/true);
  }
}

/// Returns the connected components, the largest first.
std::vector<std::vector<uint32_t>> Layout::findComponents() const {
  llvm::IntEqClasses classes(vertices.size());
  for (auto [i, vertex] : llvm::enumerate(vertices))
    for (uint32_t below : vertex.below)
      classes.join(i, below);
  for (uint32_t node = 0; node < numNodes; ++node)
    for (uint32_t to : straight[node])
      classes.join(node, to);
  classes.compress();
  std::vector<std::vector<uint32_t>> components(classes.getNumClasses());
  for (uint32_t i = 0; i < vertices.size(); ++i)
    components[classes[i]].push_back(i);
  llvm::stable_sort(components, [](const auto &a, const auto &b) { return a.size() > b.size(); });
  return components;
}

/// Moves each component to the left, up to the ones before it.
void Layout::packComponents() {
  std::vector<double> right(ranks.size(), -options.gap);
  for (const std::vector<uint32_t> &component : findComponents()) {
    double shift = -std::numeric_limits<double>::infinity();
    for (uint32_t i : component)
      shift = std::max(shift, right[vertices[i].rank] + options.gap - (vertices[i].x - vertices[i].width / 2));
    for (uint32_t i : component) {
      vertices[i].x += shift;
      right[vertices[i].rank] = std::max(right[vertices[i].rank], vertices[i].x + vertices[i].width / 2);
    }
  }
  result.steps += vertices.size();
}

void Layout::write() {
  double left = 0, right = 0;
  for (auto [i, vertex] : llvm::enumerate(vertices)) {
    left = i ? std::min(left, vertex.x - vertex.width / 2) : vertex.x - vertex.width / 2;
    right = i ? std::max(right, vertex.x + vertex.width / 2) : vertex.x + vertex.width / 2;
  }
  auto getPoint = [&](uint32_t index) {
    return GraphLayout::Point{vertices[index].x - left, (vertices[index].rank + 0.5) * options.rankHeight};
  };
  auto getEnd = [&](uint32_t index, double side) {
    GraphLayout::Point point = getPoint(index);
    point.y += vertices[index].isBend ? 0 : side * options.nodeHeight / 2;
    return point;
  };
  auto addSegment = [&](uint32_t node, uint32_t from, uint32_t to) {
    result.edges[node].push_back({getEnd(from, 1), getEnd(to, -1)});
  };
  result.width = right - left;
  result.height = double(ranks.size()) * options.rankHeight;
  result.edges.resize(numNodes);
  for (uint32_t node = 0; node < numNodes; ++node) {
    result.nodes.push_back(getPoint(node));
    auto addBelow = [&](uint32_t from) {
      for (uint32_t to : vertices[from].below)
        addSegment(node, from, to);
    };
    addBelow(node);
    for (uint32_t bend : bends[node])
      addBelow(bend);
    for (uint32_t to : straight[node])
      addSegment(node, node, to);
  }
}

GraphLayout Layout::run() {
  assignRanks();
  addBends();
  orderRanks();
  placeRanks();
  packComponents();
  write();
  return std::move(result);
}

GraphLayout tenon::layOutGraph(llvm::ArrayRef<double> widths, llvm::ArrayRef<GraphEdge> edges,
                               const LayoutOptions &options) {
  return Layout(widths, edges, options).run();
}
