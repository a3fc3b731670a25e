//===- Team.h - the threads that are at work on a group of jobs ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instead of a barrier. At a barrier all threads wait for all others, also for one
// that has done nothing yet because another process has its CPU. Here a thread
// comes into a group of jobs when it gets to it, takes work as long as there is
// any, and leaves; the last one to leave opens the next group. So a group is over
// when the threads that have come are done, and nobody waits for one that has not.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_DEVICE_CPU_TEAM_H
#define TENON_RUNTIME_DEVICE_CPU_TEAM_H

#include <atomic>
#include <cstdint>
#include <memory>

namespace tenon::rt {

/// Which group is open, to how many threads, and how many are in it, in one word. More than eight threads come and go
/// through nodes of eight neighbours, of which the first to come and the last to leave touch that word, so that no line
/// of memory goes around more than eight cores. Groups have numbers, of which no two that follow each other are equal.
class Team {
public:
  static constexpr uint32_t kNodeThreads = 8;

  /// Has room for this many threads. False where there is no memory.
  bool reserve(uint32_t threads);

  /// Opens a group to the threads below `parts`, and `thread` is in it. Nobody else is in any: the last one has left,
  /// or is this one after leave() has returned true.
  void open(uint32_t thread, uint32_t number, uint32_t parts);
  /// Opens a group to thread 0 alone, which is to come, after the same.
  void offer(uint32_t number) { state.store(pack(number, 1, 0)); }
  /// No group is open, and nobody is in any, after the same.
  void close(uint32_t number);

  /// Whether `thread` may come into a group other than `seen`.
  bool isOpenTo(uint32_t thread, uint32_t seen) const {
    uint64_t now = state.load();
    return thread < partsOf(now) && numberOf(now) != seen;
  }
  bool isClosed() const {
    uint64_t now = state.load();
    return partsOf(now) == 0 && insideOf(now) == 0;
  }
  /// Comes into the group that is open, unless that is `*seen`, and says in `*seen` which it is and in `*parts` to how
  /// many threads it is open.
  bool enter(uint32_t thread, uint32_t *seen, uint32_t *parts);

  /// Leaves group `number`, in which nothing is left to take. Returns true to the last one, which alone then goes on:
  /// where `nextParts` is not 0 group `next` is open to so many threads and it is in it, and otherwise no group is open
  /// until it opens or closes one.
  bool leave(uint32_t thread, uint32_t number, uint32_t next, uint32_t nextParts);

private:
  /// Number, parts and threads (or nodes) inside.
  static uint64_t pack(uint32_t number, uint32_t parts, uint32_t inside) {
    return uint64_t(number) << 32 | uint64_t(parts) << 16 | inside;
  }
  static uint32_t numberOf(uint64_t word) { return uint32_t(word >> 32); }
  static uint32_t partsOf(uint64_t word) { return uint32_t(word >> 16) & 0xffff; }
  static uint32_t insideOf(uint64_t word) { return uint32_t(word) & 0xffff; }

  struct alignas(128) Node {
    std::atomic<uint64_t> word{0}; ///< the group that its threads are in, and how many are
  };

  bool join(uint32_t thread, uint32_t number);
  void attach(uint32_t thread, uint32_t number);

  std::unique_ptr<Node[]> nodes; ///< null where all threads are in one
  alignas(128) std::atomic<uint64_t> state{0};
};

} // namespace tenon::rt

#endif // TENON_RUNTIME_DEVICE_CPU_TEAM_H
