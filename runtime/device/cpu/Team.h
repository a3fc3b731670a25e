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

/// A group of jobs that threads can enter: its number, the number of threads that it is open to, and the number of
/// threads in it, in one word. More than eight threads enter and leave through nodes of eight neighbours, whose first
/// and last thread update that word, so that at most eight cores contend for a cache line. Consecutive groups have
/// different numbers.
class Team {
public:
  static constexpr uint32_t kNodeThreads = 8;

  /// Allocates for this many threads. Returns false if there is no memory.
  bool reserve(uint32_t threads);

  /// Opens a group to the threads below `parts`; `thread` enters it. No other thread may be in a group: the last one
  /// has left, or is this one after leave() has returned true.
  void open(uint32_t thread, uint32_t number, uint32_t parts);
  /// Opens a group to thread 0 only, which has not entered yet, under the same condition.
  void offer(uint32_t number) { state.store(pack(number, 1, 0)); }
  /// Closes the group, so that none is open and no thread is in any, under the same condition.
  void close(uint32_t number);

  /// True if `thread` may enter a group other than `seen`.
  bool isOpenTo(uint32_t thread, uint32_t seen) const {
    uint64_t now = state.load();
    return thread < partsOf(now) && numberOf(now) != seen;
  }
  bool isClosed() const {
    uint64_t now = state.load();
    return partsOf(now) == 0 && insideOf(now) == 0;
  }
  /// Enters the open group unless it is `*seen`; stores its number in `*seen`, and the number of threads that it is
  /// open to in `*parts`.
  bool enter(uint32_t thread, uint32_t *seen, uint32_t *parts);

  /// Leaves group `number`, in which no work is left. Returns true to the last thread, which continues alone: if
  /// `nextParts` is not 0, group `next` is open to that many threads and the thread is in it; otherwise no group is
  /// open until the thread opens or closes one.
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
