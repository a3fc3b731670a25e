//===- Graph.cpp - what runs, and what it reads and writes ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/ordering/Graph.h"
#include "passes/memory/ordering/Schedule.h"
#include <algorithm>
#include <cassert>
#include <numeric>

using namespace tenon::ordering;

Order tenon::ordering::getGivenOrder(const Graph &graph) {
  Order order(graph.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<int64_t> tenon::ordering::getLiveBytes(const Graph &graph, const Order &order) {
  assert(isValidOrder(graph, order) && "what is live is known of an order of all nodes");
  Program program(graph);
  Schedule schedule(program);
  std::vector<int64_t> live;
  for (uint32_t node : order) {
    live.push_back(schedule.getLive() + schedule.getEffect(node).allocated);
    schedule.run(node);
  }
  return live;
}

int64_t tenon::ordering::getPeak(const Graph &graph, const Order &order) {
  Program program(graph);
  Schedule schedule(program);
  for (uint32_t node : order)
    schedule.run(node);
  return schedule.getPeak();
}

bool tenon::ordering::isValidOrder(const Graph &graph, const Order &order) {
  if (order.size() != graph.nodes.size())
    return false;
  std::vector<size_t> position(graph.nodes.size(), order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] >= order.size() || position[order[i]] != order.size())
      return false;
    position[order[i]] = i;
  }
  std::vector<std::vector<uint32_t>> dependences = getDependences(graph);
  for (size_t node = 0; node < dependences.size(); ++node)
    for (uint32_t other : dependences[node])
      if (position[other] > position[node])
        return false;
  return true;
}

std::vector<std::vector<uint32_t>> tenon::ordering::getDependences(const Graph &graph) {
  struct Users {
    std::vector<uint32_t> writer;  // the last one, if any
    std::vector<uint32_t> readers; // since then
  };
  std::vector<Users> users(graph.buffers.size());
  std::vector<std::vector<uint32_t>> dependences;
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const Node &node = graph.nodes[i];
    std::vector<uint32_t> others = node.after;
    assert(std::all_of(node.after.begin(), node.after.end(), [&](uint32_t other) { return other < i; }) &&
           "a node depends on those before it");
    for (uint32_t buffer : node.reads) {
      assert(buffer < users.size() && "a node reads a buffer of the graph");
      others.insert(others.end(), users[buffer].writer.begin(), users[buffer].writer.end());
      users[buffer].readers.push_back(i);
    }
    for (uint32_t buffer : node.writes) {
      assert(buffer < users.size() && "a node writes a buffer of the graph");
      others.insert(others.end(), users[buffer].writer.begin(), users[buffer].writer.end());
      others.insert(others.end(), users[buffer].readers.begin(), users[buffer].readers.end());
      users[buffer] = {{i}, {}};
    }
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    std::erase(others, i);
    dependences.push_back(std::move(others));
  }
  return dependences;
}
