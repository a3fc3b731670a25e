//===- ThreadPool.h - the threads that share one launch ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_DEVICE_CPU_THREADPOOL_H
#define TENON_RUNTIME_DEVICE_CPU_THREADPOOL_H

#include "runtime/base/Status.h"
#include "runtime/device/cpu/CpuNodes.h"
#include "runtime/device/cpu/Spin.h"
#include "runtime/device/cpu/Team.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <pthread.h>

namespace tenon::rt {

class Share;

/// Work that is split into tiles. `run` is called on each participating thread, with that thread's number and its share
/// of the tiles, and returns 0 or an error code.
struct Job {
  int32_t (*run)(const Job &job, uint32_t thread, Share &share) = nullptr;
  const void *owner = nullptr; ///< whatever `run` needs
  uint32_t number = 0;         ///< likewise
  bool isConcurrent = false;   ///< does not depend on the job before it, nor on those that are beside that one
  int64_t tiles = 0;
  int64_t nanoseconds = 0; ///< that all tiles take one thread; 0 where that is not known

  bool operator==(const Job &) const = default;
};

/// Jobs that follow each other.
struct Jobs {
  const Job *jobs;
  uint32_t count;
  bool isBackward = false; ///< threads take their tiles from the last to the first
};

/// The first job that failed, its error code (0 if none failed), and its thread.
struct JobFailure {
  uint32_t job = 0;
  int32_t code = 0;
  uint32_t thread = 0;
};

/// A fixed number of threads, including the caller's. Each has a fixed share of the tiles, so that it finds the results
/// of the previous job in its cache; a thread that is done steals pieces from the end of other shares. A thread without
/// work spins for a moment, since the next jobs usually follow at once, and then sleeps in the kernel.
///
/// All threads traverse the same list of jobs independently. If a job depends on the one before, the last thread to
/// leave that one opens it (Team); concurrent jobs form a group, whose tiles are distributed over the threads like
/// those of one job. No thread waits for one that has not arrived, so the caller does all the work if no other thread
/// gets a CPU. Groups that are shorter than the cost of splitting them are executed by the caller or, under contention,
/// by another thread.
class ThreadPool {
public:
  /// Upper bound for concurrent jobs: the progress of each has a word of its own.
  static constexpr uint32_t kMaxConcurrent = 8;

  ThreadPool() = default;
  ThreadPool(ThreadPool &&) = delete;
  ~ThreadPool();

  /// Starts `threads` - 1 threads, each pinned to the CPUs of one node if there are several. The caller's thread is not
  /// pinned. May be called once.
  Status start(uint32_t threads, const CpuNodes &nodes = {});

  uint32_t size() const { return count; }

  /// Runs jobs to completion. Jobs after a failed one are not started.
  JobFailure run(const Jobs &jobs);

  /// Returns the single-threaded time in nanoseconds from which on a group of jobs is split over two threads: a few
  /// times the cost of opening a group, which start() measures.
  int64_t leastSplit() const { return 2 * grain; }

private:
  /// Aligned to separate cache lines, to avoid false sharing.
  struct alignas(128) Worker {
    pthread_t handle;
    ThreadPool *pool;
    uint32_t number;
    JobFailure failure;
    alignas(128) std::atomic<uint64_t> taken[kMaxConcurrent] = {}; ///< of its shares: Share::take
  };
  friend class Share;

  /// Threads that sleep until they are called.
  struct alignas(128) Sleepers {
    std::atomic<uint32_t> count{0}, calls{0};

    /// Sleeps until the next call, unless `done()`.
    template <typename Condition> void wait(Condition done);
    /// Wakes all sleeping threads, if any. The awaited value must be stored before, with sequential consistency.
    void wake();
  };
  /// Jobs [begin, end) of the list, which are concurrent.
  struct Group {
    uint32_t begin, end;
    int64_t tiles;
    int64_t nanoseconds; ///< 0 where that is not known
  };

  static void *enter(void *worker);
  void work(uint32_t thread);
  void waitForWork(uint32_t thread, uint32_t seen);
  void measureOpening();
  void callSleepers(const Group &group);
  void wakeAll(int64_t begin);
  void callForNextLists(int64_t time, int64_t nanoseconds);
  JobFailure runAlone(const Jobs &jobs);
  bool paysAlone(int64_t nanoseconds);
  static Group groupFrom(const Jobs &jobs, uint32_t begin);
  uint32_t partsOf(const Group &group) const;
  void workOn(uint32_t thread, uint32_t number, uint32_t parts);
  void doGroup(const Group &group, uint32_t thread, uint32_t parts);
  void runJob(uint32_t index, uint32_t thread, Share &share);
  uint32_t doSmallGroups(uint32_t begin, uint32_t thread);
  JobFailure takeFailure();

  std::unique_ptr<Worker[]> workers;
  uint32_t count = 1;
  uint32_t started = 0; // of the workers, threads that exist
  int64_t grain = 2000; // nanoseconds of one thread's part of a group at least

  // Written before a group is opened, read by threads in it.
  Jobs list{};
  uint64_t firstNumber = 0;   // of the list's jobs, among all that there have been
  bool isWorthWaking = false; // the list takes much longer than waking a thread does
  int64_t lastCall = 0;       // of sleepers; whoever opens a group reads and writes it
  int64_t lastAlone = 0;      // when the caller began the last list that it ran alone while the workers slept
  int64_t aloneFor = 0;       // nanoseconds of such lists that followed each other closely

  std::atomic<int64_t> callCost{3'000}; // nanoseconds that it takes to wake sleepers
  Team team;
  Contention contention;
  Sleepers idle, caller; // workers, and the thread that runs the list
  alignas(128) std::atomic<bool> hasFailed{false};
  std::atomic<bool> stopping{false};
};

/// The tiles of a job that a thread executes, in pieces: first its own ones, then those that others have left.
class Share {
public:
  enum class Whose { own, others, all };

  /// All tiles, for one thread.
  Share(const Job &job, bool isBackward) : job(job), isBackward(isBackward) {}
  /// Creates part `part` of the `parts` parts of the job; a thread beyond these has no part of its own. The part of
  /// another thread is its number minus `shift`.
  Share(ThreadPool &pool, const Job &job, uint64_t number, uint32_t part, uint32_t threads, uint32_t shift,
        Whose whose);
  /// Finds the next tiles; returns false if there are none.
  bool next(int64_t &begin, int64_t &end);
  /// The initial share of the thread.
  int64_t ownBegin() const { return owns ? getBegin(part) : 0; }
  int64_t ownEnd() const { return owns ? getBegin(part + 1) : 0; }
  /// Whether nothing is left that next() would find.
  bool isEmpty() const;

private:
  int64_t getBegin(uint32_t of) const { return int64_t((__int128)job.tiles * of / parts); }
  int64_t countPieces(int64_t tiles) const;
  std::atomic<uint64_t> &takenOf(uint32_t from) const;
  bool take(uint32_t from, int64_t &begin, int64_t &end);

  ThreadPool *pool = nullptr; ///< null for one thread
  const Job &job;
  bool isBackward;
  uint64_t number = 0;
  uint32_t part = 0, parts = 1, threads = 1, shift = 0;
  bool owns = true;                          ///< the part
  uint32_t visit = 0, endVisit = 1;          ///< parts to take from, as far from the own one
  mutable std::atomic<uint64_t> ownTaken{0}; ///< without a pool
};

} // namespace tenon::rt

#endif // TENON_RUNTIME_DEVICE_CPU_THREADPOOL_H
