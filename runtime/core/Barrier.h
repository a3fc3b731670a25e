//===- Barrier.h - where threads wait for each other ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_CORE_BARRIER_H
#define TENON_CORE_BARRIER_H

#include <atomic>
#include <cstdint>
#include <memory>

namespace tenon::rt {

/// Threads that come, round after round. One counter of arrivals that only grows serves a few threads: the last one's
/// addition is what the others see, which is as fast as two cores can tell each other anything. More threads are in
/// nodes of eight neighbours, each with a counter; the last of a node comes to the root for all of them. So no line
/// of memory goes around more than eight cores, and neighbours are on one socket where CPUs are shared out so (CpuNodes).
class Barrier {
public:
  static constexpr uint32_t kNodeThreads = 8;

  /// Has room for this many threads. False where there is no memory.
  bool reserve(uint32_t threads);
  /// From now on so many threads take part, and the next round is the first, 0. Nobody may be in a round.
  void start(uint32_t threads);
  /// A thread has done its part of a round, and does not wait for the others.
  void arrive(uint32_t thread, uint32_t round);
  /// Arrives and waits for all.
  void wait(uint32_t thread, uint32_t round);
  /// Arrives and waits for all, where the others do not.
  void waitForArrivals(uint32_t thread, uint32_t round);

private:
  /// A number that only grows, and threads that wait until it is large enough.
  struct alignas(128) Counter {
    std::atomic<uint32_t> value{0};
    std::atomic<uint32_t> sleepers{0}; ///< in the kernel

    /// Counts one. Returns whether that makes it `wanted`.
    bool add(uint32_t wanted);
    void set(uint32_t reached);
    void waitFor(uint32_t wanted);
  };
  struct Node {
    Counter arrived;
    Counter released; ///< rounds that its threads know to be over, where there are several nodes
  };

  Node &nodeOf(uint32_t thread) { return nodes[thread / kNodeThreads]; }
  /// What a node's counter is at the end of a round.
  uint32_t endOf(uint32_t thread, uint32_t round) const;
  Counter &all() { return numNodes == 1 ? nodes[0].arrived : root; }
  uint32_t endOfAll(uint32_t round) const { return (numNodes == 1 ? threads : numNodes) * (round + 1); }

  std::unique_ptr<Node[]> nodes;
  Counter root; ///< nodes that have arrived
  uint32_t threads = 0, numNodes = 0;
};

} // namespace tenon::rt

#endif // TENON_CORE_BARRIER_H
