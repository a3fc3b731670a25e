//===- ThreadPool.cpp - the threads that share one launch ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/ThreadPool.h"

#include <csignal>
#include <cstring>
#include <ctime>
#include <linux/futex.h>
#include <new>
#include <sys/syscall.h>
#include <unistd.h>

namespace tenon::rt {

/// How long a thread spins before it sleeps. Waking one takes 5 to 50 microseconds; spinning longer than
/// that takes the CPU from others for little.
static constexpr int64_t kSpinNanoseconds = 50'000;

static void futexWait(const void *address, uint32_t expected) {
  syscall(SYS_futex, address, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

static void futexWakeAll(const void *address) {
  syscall(SYS_futex, address, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
}

static void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");
#endif
}

static int64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// Spins until `done()`, or for as long as that pays. Returns whether it is done.
template <typename Condition> static bool spin(Condition done) {
  int64_t end = 0;
  for (;;) {
    for (int i = 0; i < 32; ++i) {
      if (done())
        return true;
      pause();
    }
    int64_t time = now();
    if (end == 0)
      end = time + kSpinNanoseconds;
    else if (time > end)
      return false;
  }
}

/// How many pieces of a share are taken is one number: from its beginning by its owner in the lowest byte, from its end by
/// others in the next one, and above them the number of the job that this is about, so that nobody has to set it back.
bool Share::take(uint32_t owner, int64_t &begin, int64_t &end) {
  // Few, since each is a call; more where the order matters.
  constexpr int64_t kPieces = 4, kPiecesBackward = 16;
  int64_t first = getBegin(owner), tiles = getBegin(owner + 1) - first;
  int64_t pieces = job.isBackward ? kPiecesBackward : pool ? kPieces : 1;
  if (pieces > tiles)
    pieces = tiles;
  uint64_t number = pool ? pool->jobNumber << 16 : 0;
  std::atomic<uint64_t> &taken = pool ? pool->workers[owner].taken : ownTaken;
  uint64_t seen = taken.load(std::memory_order_relaxed);
  for (;;) {
    uint64_t old = (seen & ~uint64_t(UINT16_MAX)) == number ? seen : number;
    int64_t front = uint8_t(old), back = uint8_t(old >> 8);
    if (front + back >= pieces)
      return false;
    // Tiles do not depend on each other, and what they depend on comes with the ticket: no order is needed here.
    if (!taken.compare_exchange_weak(seen, old + (owner == thread ? 1 : 1 << 8), std::memory_order_relaxed))
      continue;
    int64_t piece = owner == thread ? front : pieces - 1 - back;
    if (job.isBackward)
      piece = pieces - 1 - piece;
    begin = first + tiles * piece / pieces;
    end = first + tiles * (piece + 1) / pieces;
    return true;
  }
}

bool Share::next(int64_t &begin, int64_t &end) {
  for (; others < threads; ++others)
    if (take((thread + others) % threads, begin, end))
      return true;
  return false;
}

Status ThreadPool::start(uint32_t threads) {
  count = threads;
  if (count <= 1)
    return {};
  workers.reset(new (std::nothrow) Worker[count]);
  if (!workers)
    return Status::make(TENON_RESOURCES, "no memory for %u threads", threads);
  // The program's signal handlers run on the program's own threads.
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  int error = 0;
  for (uint32_t i = 1; i < count && !error; ++i) {
    workers[i].pool = this;
    workers[i].number = i;
    error = pthread_create(&workers[i].handle, nullptr, enter, &workers[i]);
    started += !error;
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  if (error)
    return Status::make(TENON_RESOURCES, "thread %u of %u cannot be started: %s; ask for fewer threads",
                        started + 1, threads, strerror(error));
  return {};
}

ThreadPool::~ThreadPool() {
  if (!started)
    return;
  stopping = true;
  ticket.store((ticket.load() & UINT32_MAX) + 1 + (uint64_t(count) << 32));
  futexWakeAll(&ticket);
  for (uint32_t i = 1; i <= started; ++i)
    pthread_join(workers[i].handle, nullptr);
}

void *ThreadPool::enter(void *worker) {
  Worker &self = *static_cast<Worker *>(worker);
  self.pool->work(self);
  return nullptr;
}

/// Returns the first ticket that is not `seen`.
uint64_t ThreadPool::waitForTicket(uint64_t seen) {
  for (;;) {
    if (spin([&] { return ticket.load(std::memory_order_acquire) != seen; }))
      return ticket.load(std::memory_order_acquire);
    // run() publishes the ticket before it reads `sleepers`, and this adds to `sleepers` before the kernel
    // compares the ticket: so one of the two sees the other.
    sleepers.fetch_add(1);
    // The low half, on the little-endian machines that we run on.
    futexWait(&ticket, uint32_t(seen));
    sleepers.fetch_sub(1);
  }
}

void ThreadPool::work(Worker &self) {
  uint64_t seen = 0;
  for (;;) {
    seen = waitForTicket(seen);
    uint32_t parts = uint32_t(seen >> 32);
    if (self.number >= parts)
      continue;
    if (stopping)
      return;
    Share share(this, *job, self.number, parts);
    self.result = job->run(*job, self.number, share);
    if (pending.fetch_sub(1) == 1 && callerSleeps.load())
      futexWakeAll(&pending);
  }
}

void ThreadPool::waitForWorkers() {
  if (spin([&] { return pending.load(std::memory_order_acquire) == 0; }))
    return;
  callerSleeps.store(1);
  while (uint32_t left = pending.load())
    futexWait(&pending, left);
  callerSleeps.store(0);
}

int32_t ThreadPool::run(const Job &next) {
  uint32_t parts = next.tiles < int64_t(count) ? uint32_t(next.tiles) : count;
  if (parts <= 1) {
    Share all(next);
    return next.run(next, 0, all);
  }
  job = &next;
  ++jobNumber;
  pending.store(parts - 1, std::memory_order_relaxed);
  // No other thread writes the ticket.
  ticket.store((uint64_t(parts) << 32) | uint32_t(ticket.load(std::memory_order_relaxed) + 1));
  if (sleepers.load())
    futexWakeAll(&ticket);
  Share share(this, next, 0, parts);
  int32_t result = next.run(next, 0, share);
  waitForWorkers();
  for (uint32_t i = 1; i < parts && !result; ++i)
    result = workers[i].result;
  return result;
}

} // namespace tenon::rt
