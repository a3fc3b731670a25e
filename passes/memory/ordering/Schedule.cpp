//===- Schedule.cpp - the beginning of an order ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/ordering/Schedule.h"
#include <algorithm>
#include <cassert>

using namespace tenon::ordering;

Program::Program(const Graph &graph) : graph(graph), users(graph.buffers.size()), dependents(graph.nodes.size()) {
  std::vector<std::vector<uint32_t>> dependences = getDependences(graph);
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    std::vector<uint32_t> buffers = graph.nodes[i].reads;
    buffers.insert(buffers.end(), graph.nodes[i].writes.begin(), graph.nodes[i].writes.end());
    std::sort(buffers.begin(), buffers.end());
    buffers.erase(std::unique(buffers.begin(), buffers.end()), buffers.end());
    int64_t needed = 0;
    for (uint32_t buffer : buffers) {
      assert(graph.buffers[buffer].size >= 0 && "a buffer has no fewer bytes than none");
      users[buffer].push_back(i);
      needed += graph.buffers[buffer].size;
    }
    lowerBound = std::max(lowerBound, needed);
    uses.push_back(std::move(buffers));
    for (uint32_t other : dependences[i])
      dependents[other].push_back(i);
    dependenceCounts.push_back(static_cast<uint32_t>(dependences[i].size()));
  }
  int64_t liveAfter = 0;
  for (size_t i = 0; i < graph.buffers.size(); ++i) {
    const Buffer &buffer = graph.buffers[i];
    liveBefore += buffer.isLiveBefore ? buffer.size : 0;
    unusedBefore += buffer.isLiveBefore && !buffer.isLiveAfter && users[i].empty() ? buffer.size : 0;
    liveAfter += buffer.isLiveAfter && (buffer.isLiveBefore || !users[i].empty()) ? buffer.size : 0;
  }
  lowerBound = std::max({lowerBound, liveBefore, liveAfter});
}

Schedule::Schedule(const Program &program)
    : program(&program), waiting(program.dependenceCounts), live(program.liveBefore - program.unusedBefore),
      peak(program.liveBefore) {
  for (const std::vector<uint32_t> &nodes : program.users)
    left.push_back(static_cast<uint32_t>(nodes.size()));
  for (uint32_t i = 0; i < waiting.size(); ++i)
    if (isReady(i))
      ready.push_back(i);
}

bool Schedule::isLive(uint32_t buffer) const {
  const Buffer &properties = program->graph.buffers[buffer];
  bool isBegun = properties.isLiveBefore || left[buffer] < program->users[buffer].size();
  return isBegun && (properties.isLiveAfter || left[buffer] > 0);
}

Effect Schedule::getEffect(uint32_t node) const {
  Effect effect;
  for (uint32_t buffer : program->uses[node]) {
    const Buffer &properties = program->graph.buffers[buffer];
    effect.allocated += isLive(buffer) ? 0 : properties.size;
    effect.freed += left[buffer] == 1 && !properties.isLiveAfter ? properties.size : 0;
  }
  return effect;
}

void Schedule::run(uint32_t node) {
  assert(isReady(node) && "a node runs once those before it have run");
  Effect effect = getEffect(node);
  peak = std::max(peak, live + effect.allocated);
  live += effect.getDelta();
  for (uint32_t buffer : program->uses[node]) {
    assert(left[buffer] > 0 && "a buffer has a use left for each node that uses it");
    --left[buffer];
  }
  ready.erase(std::find(ready.begin(), ready.end(), node));
  for (uint32_t dependent : program->dependents[node])
    if (--waiting[dependent] == 0)
      ready.push_back(dependent);
}
