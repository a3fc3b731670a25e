//===- Graph.h - what runs, and what it reads and writes ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_MEMORY_ORDERING_GRAPH_H
#define TENON_PASSES_MEMORY_ORDERING_GRAPH_H

#include <cstdint>
#include <vector>

namespace tenon::ordering {

/// A buffer is live from its first use to its last one; an unused buffer takes no memory, unless it is an input.
struct Buffer {
  int64_t size;              ///< bytes
  bool isLiveBefore = false; ///< from the start, as inputs are
  bool isLiveAfter = false;  ///< to the end, as outputs are
};

struct Node {
  std::vector<uint32_t> reads, writes; ///< buffers
  std::vector<uint32_t> after;         ///< nodes that must come before this one, for other reasons
};

/// A graph whose nodes are in a valid order: any other order that keeps the relative order of readers and writers of
/// each buffer is valid, too. The sum of all sizes must fit 64 bits.
struct Graph {
  std::vector<Node> nodes;
  std::vector<Buffer> buffers;
};

using Order = std::vector<uint32_t>;

/// The order in which nodes stand.
Order getGivenOrder(const Graph &graph);

/// Returns, for each node in order, the total size of the buffers that are live while it runs.
std::vector<int64_t> getLiveBytes(const Graph &graph, const Order &order);

/// Returns the largest total size of buffers that are live while one node runs.
int64_t getPeak(const Graph &graph, const Order &order);

/// True if an order has each node once, and after its dependences.
bool isValidOrder(const Graph &graph, const Order &order);

/// Returns the dependences of each node without duplicates: the writers of what it reads, the readers and writers of
/// what it writes, and its explicit ones.
std::vector<std::vector<uint32_t>> getDependences(const Graph &graph);

} // namespace tenon::ordering

#endif // TENON_PASSES_MEMORY_ORDERING_GRAPH_H
