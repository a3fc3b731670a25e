//===- BeamSearch.cpp - an order, from many beginnings at once ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/ordering/BeamSearch.h"
#include <algorithm>
#include <cassert>
#include <tuple>
#include <unordered_set>

using namespace tenon::ordering;

namespace {

/// A schedule and one node more.
struct Extension {
  uint32_t parent, node;
  uint64_t nodes; ///< hash of the set of nodes that have run
  int64_t peak, live;
};

struct Beginning {
  Schedule schedule;
  uint64_t nodes;
};

} // namespace

/// A Zobrist hash: each node has a 64-bit number, and the sum of those that have run identifies their set.
static uint64_t getNodeHash(uint32_t node) {
  uint64_t value = (node + 1) * 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

static std::vector<Extension> extend(const std::vector<Beginning> &beginnings, int64_t limit) {
  std::vector<Extension> extensions;
  for (uint32_t i = 0; i < beginnings.size(); ++i) {
    const Schedule &schedule = beginnings[i].schedule;
    for (uint32_t node : schedule.getReady()) {
      Effect effect = schedule.getEffect(node);
      int64_t peak = std::max(schedule.getPeak(), schedule.getLive() + effect.allocated);
      if (peak < limit)
        extensions.push_back(
            {i, node, beginnings[i].nodes + getNodeHash(node), peak, schedule.getLive() + effect.getDelta()});
    }
  }
  return extensions;
}

/// The best extensions, one for each set of nodes.
static std::vector<Extension> select(std::vector<Extension> extensions, size_t width) {
  assert(width > 0 && "a beam has a width");
  std::sort(extensions.begin(), extensions.end(), [](const Extension &a, const Extension &b) {
    return std::tuple(a.peak, a.live, a.parent, a.node) < std::tuple(b.peak, b.live, b.parent, b.node);
  });
  std::vector<Extension> selected;
  std::unordered_set<uint64_t> seen;
  for (const Extension &extension : extensions)
    if (selected.size() < width && seen.insert(extension.nodes).second)
      selected.push_back(extension);
  return selected;
}

/// Reconstructs the order backwards from the best of the last extensions.
static Order traceBack(const std::vector<std::vector<Extension>> &levels) {
  Order order(levels.size());
  uint32_t at = 0;
  for (size_t i = levels.size(); i-- > 0;) {
    assert(at < levels[i].size() && "an extension has a parent in the level before");
    order[i] = levels[i][at].node;
    at = levels[i][at].parent;
  }
  return order;
}

std::optional<Order> tenon::ordering::searchOrder(const Program &program, int64_t limit, size_t width) {
  std::vector<Beginning> beginnings{{Schedule(program), 0}};
  std::vector<std::vector<Extension>> levels;
  while (levels.size() < program.getNodeCount()) {
    levels.push_back(select(extend(beginnings, limit), width));
    if (levels.back().empty())
      return std::nullopt;
    std::vector<Beginning> next;
    for (const Extension &extension : levels.back()) {
      next.push_back({beginnings[extension.parent].schedule, extension.nodes});
      next.back().schedule.run(extension.node);
    }
    beginnings = std::move(next);
  }
  return traceBack(levels);
}
