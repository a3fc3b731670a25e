//===- ThreadPool.h - the threads that share one launch ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_CORE_THREADPOOL_H
#define TENON_CORE_THREADPOOL_H

#include "runtime/core/Status.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <pthread.h>

namespace tenon::rt {

class Share;

/// Work that is split into tiles. `run` is called once on each thread, with that thread's number and its share of the
/// tiles, and returns 0 or an error code.
struct Job {
  int32_t (*run)(const Job &job, uint32_t thread, Share &share);
  int64_t tiles;
  bool isBackward = false; ///< threads take their tiles from the last to the first
};

/// A fixed number of threads, the caller's included. The split of tiles is static, so that a thread finds
/// in its cache what it wrote in the launch before; only one that is done takes pieces of those that are not, from their
/// other end: what is left then is what something else kept the CPU from. A thread without work spins for a moment, since
/// the next launch usually follows at once, and then sleeps in the kernel.
class ThreadPool {
public:
  ThreadPool() = default;
  ThreadPool(ThreadPool &&) = delete;
  ~ThreadPool();

  /// Starts `threads` - 1 threads. May be called once.
  Status start(uint32_t threads);

  uint32_t size() const { return count; }

  /// Runs a job to its end. Returns the error of the lowest thread that had one, or 0.
  int32_t run(const Job &job);

private:
  /// On a cache line of its own, so that threads do not take it from each other.
  struct alignas(128) Worker {
    pthread_t handle;
    ThreadPool *pool;
    uint32_t number;
    int32_t result;
    std::atomic<uint64_t> taken{0}; ///< of its share: Share::take
  };
  friend class Share;

  static void *enter(void *worker);
  void work(Worker &worker);
  uint64_t waitForTicket(uint64_t seen);
  void waitForWorkers();

  std::unique_ptr<Worker[]> workers;
  uint32_t count = 1;
  uint32_t started = 0; // of the workers, threads that exist

  const Job *job = nullptr; // written before the ticket, read after it
  uint64_t jobNumber = 0;   // likewise
  bool stopping = false;    // likewise

  /// What the workers wait for: the number of the job in the low half, how many threads take part in the
  /// high half. Threads beyond those neither read the job nor report, so a small job does not wait for them.
  alignas(128) std::atomic<uint64_t> ticket{0};
  alignas(128) std::atomic<uint32_t> sleepers{0}; // workers in the kernel
  alignas(128) std::atomic<uint32_t> pending{0};  // workers still in the job
  alignas(128) std::atomic<uint32_t> callerSleeps{0};
};

/// The tiles that a thread does, in pieces: its own ones, and then what others have left.
class Share {
public:
  /// All tiles, for one thread.
  explicit Share(const Job &job) : Share(nullptr, job, 0, 1) {}
  Share(ThreadPool *pool, const Job &job, uint32_t thread, uint32_t threads)
      : pool(pool), job(job), thread(thread), threads(threads) {}
  /// Finds the next tiles to do; false where there are none.
  bool next(int64_t &begin, int64_t &end);
  /// The tiles that are the thread's own to begin with.
  int64_t ownBegin() const { return getBegin(thread); }
  int64_t ownEnd() const { return getBegin(thread + 1); }

private:
  int64_t getBegin(uint32_t owner) const { return int64_t((__int128)job.tiles * owner / threads); }
  bool take(uint32_t owner, int64_t &begin, int64_t &end);

  ThreadPool *pool; ///< null for one thread
  const Job &job;
  uint32_t thread, threads;
  uint32_t others = 0;              ///< that nothing is left of
  std::atomic<uint64_t> ownTaken{0}; ///< without a pool
};

} // namespace tenon::rt

#endif // TENON_CORE_THREADPOOL_H
