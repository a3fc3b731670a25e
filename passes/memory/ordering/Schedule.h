//===- Schedule.h - the beginning of an order -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_MEMORY_ORDERING_SCHEDULE_H
#define TENON_PASSES_MEMORY_ORDERING_SCHEDULE_H

#include "passes/memory/ordering/Graph.h"
#include <cstddef>

namespace tenon::ordering {

/// A graph as schedules look at it.
struct Program {
  explicit Program(const Graph &graph);

  size_t getNodeCount() const { return uses.size(); }

  const Graph &graph;
  std::vector<std::vector<uint32_t>> uses;       ///< by node: buffers, without repetition
  std::vector<std::vector<uint32_t>> users;      ///< by buffer: nodes
  std::vector<std::vector<uint32_t>> dependents; ///< by node
  std::vector<uint32_t> dependenceCounts;        ///< by node
  int64_t liveBefore = 0;                        ///< bytes at the very start
  int64_t unusedBefore = 0;                      ///< those of them that nothing needs
  int64_t lowerBound = 0;                        ///< no order has a smaller peak
};

/// The change in live bytes when a node runs.
struct Effect {
  int64_t allocated = 0, freed = 0;

  int64_t getDelta() const { return allocated - freed; }
};

/// Which nodes have run, and what is live since.
class Schedule {
public:
  explicit Schedule(const Program &program);

  void run(uint32_t node);
  Effect getEffect(uint32_t node) const;

  bool isReady(uint32_t node) const { return waiting[node] == 0; }
  /// Nodes that can run next.
  const std::vector<uint32_t> &getReady() const { return ready; }
  bool isLive(uint32_t buffer) const;
  /// How many nodes are yet to use a buffer.
  uint32_t getUsesLeft(uint32_t buffer) const { return left[buffer]; }
  int64_t getLive() const { return live; }
  int64_t getPeak() const { return peak; }

private:
  const Program *program;
  std::vector<uint32_t> waiting; // by node: dependences that have not run
  std::vector<uint32_t> left;    // by buffer
  std::vector<uint32_t> ready;
  int64_t live, peak;
};

} // namespace tenon::ordering

#endif // TENON_PASSES_MEMORY_ORDERING_SCHEDULE_H
