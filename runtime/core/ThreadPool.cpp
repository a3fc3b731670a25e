//===- ThreadPool.cpp - the threads that share one launch ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/ThreadPool.h"

#include "runtime/core/Spin.h"

#include <csignal>
#include <cstring>
#include <new>

namespace tenon::rt {

/// Rounds of the barrier before its counters are set back.
static constexpr uint32_t kMostRounds = 1u << 20;

/// How many threads so many tiles are split over.
static uint32_t partsOf(int64_t tiles, uint32_t threads) { return tiles < int64_t(threads) ? uint32_t(tiles) : threads; }

namespace {
/// Jobs [begin, end) of a list, which are beside each other.
struct Group {
  uint32_t begin, end;
  int64_t tiles;
};
} // namespace

static Group groupFrom(const Jobs &list, uint32_t begin) {
  Group group{begin, begin + 1, list.jobs[begin].tiles};
  for (; group.end < list.count && list.jobs[group.end].isBeside && group.end - begin < ThreadPool::kMostBeside; ++group.end)
    group.tiles += list.jobs[group.end].tiles;
  return group;
}

/// How many pieces of a share are taken is one number: from its beginning by its owner in the lowest byte, from its end by
/// others in the next one, and above them the number of the job that this is about, so that nobody has to set it back.
bool Share::take(uint32_t from, int64_t &begin, int64_t &end) {
  // Few, since each is a call; more where the order matters.
  constexpr int64_t kPieces = 4, kPiecesBackward = 16;
  int64_t first = getBegin(from), tiles = getBegin(from + 1) - first;
  int64_t pieces = isBackward ? kPiecesBackward : pool ? kPieces : 1;
  if (pieces > tiles)
    pieces = tiles;
  std::atomic<uint64_t> &taken =
      pool ? pool->workers[(from + shift) % pool->parts].taken[number % ThreadPool::kMostBeside] : ownTaken;
  uint64_t seen = taken.load(std::memory_order_relaxed);
  for (;;) {
    uint64_t old = seen >> 16 == number ? seen : number << 16;
    int64_t front = uint8_t(old), back = uint8_t(old >> 8);
    if (front + back >= pieces)
      return false;
    // Tiles do not depend on each other, and what they depend on comes with the ticket: no order is needed here.
    if (!taken.compare_exchange_weak(seen, old + (from == part ? 1 : 1 << 8), std::memory_order_relaxed))
      continue;
    int64_t piece = from == part ? front : pieces - 1 - back;
    if (isBackward)
      piece = pieces - 1 - piece;
    begin = first + tiles * piece / pieces;
    end = first + tiles * (piece + 1) / pieces;
    return true;
  }
}

bool Share::next(int64_t &begin, int64_t &end) {
  for (; others < parts; ++others)
    if (take((part + others) % parts, begin, end))
      return true;
  return false;
}

Status ThreadPool::start(uint32_t threads, const CpuNodes &nodes) {
  count = threads;
  if (count <= 1)
    return {};
  workers.reset(new (std::nothrow) Worker[count]);
  if (!workers || !barrier.reserve(count))
    return Status::make(TENON_RESOURCES, "no memory for %u threads", threads);
  // The program's signal handlers run on the program's own threads; but what an instruction raises is its own thread's.
  sigset_t blocked, old;
  sigfillset(&blocked);
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP})
    sigdelset(&blocked, signal);
  pthread_sigmask(SIG_SETMASK, &blocked, &old);
  int error = 0;
  for (uint32_t i = 1; i < count && !error; ++i) {
    workers[i].pool = this;
    workers[i].number = i;
    error = pthread_create(&workers[i].handle, nullptr, enter, &workers[i]);
    started += !error;
    // Where the system refuses, threads run wherever they may.
    if (const cpu_set_t *cpus = error ? nullptr : nodes.cpusFor(i, threads))
      pthread_setaffinity_np(workers[i].handle, sizeof *cpus, cpus);
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
    if (self.number >= uint32_t(seen >> 32))
      continue;
    if (stopping)
      return;
    uint32_t round = runPart(self.number, firstRound);
    barrier.arrive(self.number, round);
  }
}

void ThreadPool::runJob(uint32_t index, uint32_t thread, uint32_t part, uint32_t shift) {
  const Job &job = list.jobs[index];
  uint32_t jobParts = partsOf(job.tiles, parts);
  if (part >= jobParts || hasFailed.load(std::memory_order_relaxed))
    return;
  Share alone(job, list.isBackward), share(*this, job, firstNumber + index, part, jobParts, shift);
  if (int32_t code = job.run(job, thread, jobParts == 1 ? alone : share)) {
    workers[thread].failure = {index, code, thread};
    hasFailed.store(true, std::memory_order_relaxed);
  }
}

/// One thread's way through the list; `round` is the next one of the barrier. Returns which one is after the way.
uint32_t ThreadPool::runPart(uint32_t thread, uint32_t round) {
  bool wasSpread = false; // over several threads
  for (uint32_t begin = 0; begin < list.count;) {
    Group group = groupFrom(list, begin);
    bool isSpread = group.tiles > 1;
    if (begin > 0 && (wasSpread || isSpread))
      barrier.wait(thread, round++);
    wasSpread = isSpread;
    uint32_t shift = 0;
    for (uint32_t i = begin; i < group.end; ++i) {
      runJob(i, thread, (thread + parts - shift) % parts, shift);
      shift = uint32_t((shift + list.jobs[i].tiles) % parts);
    }
    begin = group.end;
  }
  return round;
}

JobFailure ThreadPool::runAlone(const Jobs &jobs) {
  for (uint32_t i = 0; i < jobs.count; ++i) {
    Share all(jobs.jobs[i], jobs.isBackward);
    if (int32_t code = jobs.jobs[i].tiles ? jobs.jobs[i].run(jobs.jobs[i], 0, all) : 0)
      return {i, code};
  }
  return {};
}

JobFailure ThreadPool::run(const Jobs &jobs) {
  uint32_t most = 1;
  for (Group group{0, 0, 0}; group.end < jobs.count;) {
    group = groupFrom(jobs, group.end);
    most = std::max(most, partsOf(group.tiles, count));
  }
  if (most <= 1)
    return runAlone(jobs);
  // Rounds go on from where they were, so that nobody's counters have to be set back, but for another number of threads.
  if (roundParts != most || nextRound > kMostRounds) {
    barrier.start(roundParts = most);
    nextRound = 0;
  }
  list = jobs;
  firstNumber += kMostBeside;
  parts = most;
  firstRound = nextRound;
  // No other thread writes the ticket.
  ticket.store((uint64_t(most) << 32) | uint32_t(ticket.load(std::memory_order_relaxed) + 1));
  if (sleepers.load())
    futexWakeAll(&ticket);
  uint32_t round = runPart(0, firstRound);
  barrier.waitForArrivals(0, round);
  nextRound = round + 1;
  firstNumber += jobs.count;
  return hasFailed.load(std::memory_order_relaxed) ? takeFailure() : JobFailure();
}

/// The failure of the first job that had one, and of the lowest thread.
JobFailure ThreadPool::takeFailure() {
  JobFailure first;
  for (uint32_t i = 0; i < parts; ++i) {
    JobFailure &failure = workers[i].failure;
    if (failure.code && (!first.code || failure.job < first.job))
      first = failure;
    failure = {};
  }
  hasFailed.store(false, std::memory_order_relaxed);
  return first;
}

} // namespace tenon::rt
