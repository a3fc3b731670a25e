//===- FindOrder.cpp - an order with a small peak -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/ordering/FindOrder.h"
#include "passes/memory/ordering/BeamSearch.h"
#include "passes/memory/ordering/ListOrder.h"
#include <algorithm>
#include <cassert>

using namespace tenon::ordering;

/// Returns the beam width that the number of steps allows: each partial order is copied once per node.
static int64_t getWidth(const Graph &graph, int64_t steps) {
  constexpr int64_t kMaxWidth = 4096; // limit: memory of the search
  int64_t nodes = static_cast<int64_t>(graph.nodes.size()), buffers = static_cast<int64_t>(graph.buffers.size());
  return std::min(kMaxWidth, steps / (nodes * (nodes + buffers + 50) + 1));
}

FoundOrder tenon::ordering::findOrder(const Graph &graph, int64_t steps) {
  Program program(graph);
  FoundOrder best;
  best.order = getGivenOrder(graph);
  best.peak = getPeak(graph, best.order);
  assert(best.peak >= program.lowerBound && "no order needs less than the lower bound");
  auto keepBetter = [&](Order order) {
    assert(isValidOrder(graph, order) && "each node comes after those that it depends on");
    int64_t peak = getPeak(graph, order);
    if (peak < best.peak)
      best = {std::move(order), peak};
  };
  for (Preference preference : {Preference::delta, Preference::depth, Preference::allocated})
    if (best.peak > program.lowerBound)
      keepBetter(makeListOrder(program, preference));
  if (int64_t width = getWidth(graph, steps); width > 1 && best.peak > program.lowerBound)
    if (std::optional<Order> order = searchOrder(program, best.peak, static_cast<size_t>(width)))
      keepBetter(std::move(*order));
  assert(isValidOrder(graph, best.order) && "each node comes after those that it depends on");
  return best;
}
