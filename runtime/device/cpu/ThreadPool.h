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

/// Work that is split into tiles. `run` is called on each thread that takes part, with that thread's number and its
/// share of the tiles, and returns 0 or an error code.
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

/// The first job that failed, its error code, 0 where none did, and the thread on which it was.
struct JobFailure {
  uint32_t job = 0;
  int32_t code = 0;
  uint32_t thread = 0;
};

/// A fixed number of threads, the caller's included. Each has its share of the tiles, so that it finds in its cache
/// what it wrote in the job before; one that is done takes pieces of other shares, from their other end: what is left
/// then is what something else keeps the CPU from. A thread without work spins for a moment, since the next jobs
/// usually follow at once, and then sleeps in the kernel.
///
/// All threads go through the same list of jobs by themselves. Where a job has to wait for the one before, the last
/// thread to leave that opens it (Team); jobs that are beside each other are a group, whose tiles go around the threads
/// as if they were those of one job. Nobody waits for a thread that has not come, so the caller does all alone where no
/// other gets a CPU. Groups that take less time than it takes to split them are the caller's, or another's where other
/// processes want the CPUs.
class ThreadPool {
public:
  /// No more jobs than these are done beside each other: what is taken of each has a word of its own.
  static constexpr uint32_t kMaxConcurrent = 8;

  ThreadPool() = default;
  ThreadPool(ThreadPool &&) = delete;
  ~ThreadPool();

  /// Starts `threads` - 1 threads, each on the CPUs of one node where there are several. The caller's stays where its
  /// program lets it. May be called once.
  Status start(uint32_t threads, const CpuNodes &nodes = {});

  uint32_t size() const { return count; }

  /// Runs jobs to their end. Those that follow one that fails are not begun.
  JobFailure run(const Jobs &jobs);

  /// How many nanoseconds a group of jobs has to take one thread at least for it to be split over two: a few times what
  /// it costs to open a group, which start() measures.
  int64_t leastSplit() const { return 2 * grain; }

private:
  /// On cache lines of its own, so that threads do not take them from each other.
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
    /// Wakes all, where there are any. What they wait for is stored before, in a sequentially consistent way.
    void wake();
  };
  /// Jobs [begin, end) of the list, which are beside each other.
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

  // Written before a group is opened, read by threads that are in it.
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

/// The tiles of a job that a thread does, in pieces: its own ones, and then what others have left.
class Share {
public:
  enum class Whose { own, others, all };

  /// All tiles, for one thread.
  Share(const Job &job, bool isBackward) : job(job), isBackward(isBackward) {}
  /// Part `part` of as many as `parts` threads make of the job; a thread beyond those has none of its own. The part of
  /// another thread is its number less `shift`.
  Share(ThreadPool &pool, const Job &job, uint64_t number, uint32_t part, uint32_t threads, uint32_t shift,
        Whose whose);
  /// Finds the next tiles to do; false where there are none.
  bool next(int64_t &begin, int64_t &end);
  /// The tiles that are the thread's own to begin with.
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
