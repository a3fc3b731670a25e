//===- ThreadPool.h - the threads that share one launch ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_CORE_THREADPOOL_H
#define TENON_CORE_THREADPOOL_H

#include "runtime/core/Barrier.h"
#include "runtime/core/Status.h"
#include "runtime/device/cpu/CpuNodes.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <pthread.h>

namespace tenon::rt {

class Share;

/// Work that is split into tiles. `run` is called once on each thread that takes part, with that thread's number and its
/// share of the tiles, and returns 0 or an error code.
struct Job {
  int32_t (*run)(const Job &job, uint32_t thread, Share &share) = nullptr;
  const void *owner = nullptr; ///< whatever `run` needs
  uint32_t number = 0;         ///< likewise
  bool isBeside = false;       ///< does not depend on the job before it, nor on those that are beside that one
  int64_t tiles = 0;

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

/// A fixed number of threads, the caller's included. The split of tiles is static, so that a thread finds
/// in its cache what it wrote in the job before; only one that is done takes pieces of those that are not, from their
/// other end: what is left then is what something else kept the CPU from. A thread without work spins for a moment, since
/// the next jobs usually follow at once, and then sleeps in the kernel.
///
/// All threads go through the same list of jobs by themselves. Where a job has to wait for the one before there is a
/// barrier; none where one thread does both, and none between jobs that are beside each other: their tiles go
/// around the threads as if they were those of one job.
class ThreadPool {
public:
  /// No more jobs than these are done beside each other: what is taken of each has a word of its own.
  static constexpr uint32_t kMostBeside = 8;

  ThreadPool() = default;
  ThreadPool(ThreadPool &&) = delete;
  ~ThreadPool();

  /// Starts `threads` - 1 threads, each on the CPUs of one node where there are several. The caller's stays where its
  /// program lets it. May be called once.
  Status start(uint32_t threads, const CpuNodes &nodes = {});

  uint32_t size() const { return count; }

  /// Runs jobs to their end. Those that follow one that fails are not begun.
  JobFailure run(const Jobs &jobs);

private:
  /// On cache lines of its own, so that threads do not take them from each other.
  struct alignas(128) Worker {
    pthread_t handle;
    ThreadPool *pool;
    uint32_t number;
    JobFailure failure;
    alignas(128) std::atomic<uint64_t> taken[kMostBeside] = {}; ///< of its shares: Share::take
  };
  friend class Share;

  static void *enter(void *worker);
  void work(Worker &worker);
  uint64_t waitForTicket(uint64_t seen);
  JobFailure runAlone(const Jobs &jobs);
  uint32_t runPart(uint32_t thread, uint32_t round);
  JobFailure takeFailure();
  void runJob(uint32_t index, uint32_t thread, uint32_t part, uint32_t shift);

  std::unique_ptr<Worker[]> workers;
  uint32_t count = 1;
  uint32_t started = 0; // of the workers, threads that exist

  // Written before the ticket, read after it.
  Jobs list{};
  uint64_t firstNumber = 0; // of the jobs, among all that there have been
  uint32_t parts = 0;       // threads that take part
  uint32_t firstRound = 0;  // of the barrier
  bool stopping = false;

  uint32_t nextRound = 0, roundParts = 0; // the caller's

  Barrier barrier;
  /// What the workers wait for: the number of the list in the low half, how many threads take part in the
  /// high half. Threads beyond those neither read the list nor come to the barrier, so small jobs do not wait for them.
  alignas(128) std::atomic<uint64_t> ticket{0};
  alignas(128) std::atomic<uint32_t> sleepers{0}; // workers in the kernel
  alignas(128) std::atomic<bool> hasFailed{false};
};

/// The tiles of a job that a thread does, in pieces: its own ones, and then what others have left.
class Share {
public:
  /// All tiles, for one thread.
  Share(const Job &job, bool isBackward) : job(job), isBackward(isBackward) {}
  /// Part `part` of `parts`; the part of another thread is its number less `shift`.
  Share(ThreadPool &pool, const Job &job, uint64_t number, uint32_t part, uint32_t parts, uint32_t shift)
      : pool(&pool), job(job), isBackward(pool.list.isBackward), number(number), part(part), parts(parts), shift(shift) {}
  /// Finds the next tiles to do; false where there are none.
  bool next(int64_t &begin, int64_t &end);
  /// The tiles that are the thread's own to begin with.
  int64_t ownBegin() const { return getBegin(part); }
  int64_t ownEnd() const { return getBegin(part + 1); }

private:
  int64_t getBegin(uint32_t of) const { return int64_t((__int128)job.tiles * of / parts); }
  bool take(uint32_t from, int64_t &begin, int64_t &end);

  ThreadPool *pool = nullptr; ///< null for one thread
  const Job &job;
  bool isBackward;
  uint64_t number = 0;
  uint32_t part = 0, parts = 1, shift = 0;
  uint32_t others = 0;              ///< that nothing is left of
  std::atomic<uint64_t> ownTaken{0}; ///< without a pool
};

} // namespace tenon::rt

#endif // TENON_CORE_THREADPOOL_H
