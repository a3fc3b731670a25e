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

/// A buffer is live from its first use to its last; one that is not used is not there, unless it is an input.
struct Buffer {
  int64_t size;              ///< bytes
  bool isLiveBefore = false; ///< from the start, as inputs are
  bool isLiveAfter = false;  ///< to the end, as outputs are
};

struct Node {
  std::vector<uint32_t> reads, writes; ///< buffers
  std::vector<uint32_t> after;         ///< nodes that must come before this one, for other reasons
};

/// Nodes in an order that is valid: any other order that leaves readers and writers of each buffer as they are
/// is valid, too. Sizes must not add up to more than 64 bits hold.
struct Graph {
  std::vector<Node> nodes;
  std::vector<Buffer> buffers;
};

using Order = std::vector<uint32_t>;

/// The order in which nodes stand.
Order getGivenOrder(const Graph &graph);

/// The sum of sizes of buffers that are live while each node runs, in the order in which they do.
std::vector<int64_t> getLiveBytes(const Graph &graph, const Order &order);

/// The largest sum of sizes of buffers that are live while one node runs.
int64_t getPeak(const Graph &graph, const Order &order);

/// Whether an order has each node once, and after all that it depends on.
bool isValidOrder(const Graph &graph, const Order &order);

/// For each node those that it depends on, without repetition: who wrote what it reads, who read or wrote what
/// it writes, and what it says itself.
std::vector<std::vector<uint32_t>> getDependences(const Graph &graph);

} // namespace tenon::ordering

#endif // TENON_PASSES_MEMORY_ORDERING_GRAPH_H
