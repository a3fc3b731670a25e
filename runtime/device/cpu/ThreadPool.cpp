//===- ThreadPool.cpp - the threads that share one launch ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/ThreadPool.h"

#include <algorithm>
#include <cassert>
#include <csignal>
#include <cstring>
#include <new>

namespace tenon::rt {

//===----------------------------------------------------------------------===//
// Share
//===----------------------------------------------------------------------===//

Share::Share(ThreadPool &pool, const Job &job, uint64_t number, uint32_t part, uint32_t threads, uint32_t shift,
             Whose whose)
    : pool(&pool), job(job), isBackward(pool.list.isBackward), number(number), part(part), threads(threads),
      shift(shift) {
  parts = uint32_t(std::clamp<int64_t>(job.tiles, 1, threads));
  owns = part < parts;
  this->part = part % parts;
  visit = whose == Whose::others && owns ? 1 : 0;
  endVisit = whose == Whose::own ? uint32_t(owns) : parts;
}

/// A share has few pieces, because each is a function call; more if the order of the tiles matters.
int64_t Share::countPieces(int64_t tiles) const {
  constexpr int64_t kPieces = 4, kPiecesBackward = 16;
  return std::min(tiles, isBackward ? kPiecesBackward : pool ? kPieces : 1);
}

std::atomic<uint64_t> &Share::takenOf(uint32_t from) const {
  return pool ? pool->workers[(from + shift) % threads].taken[number % ThreadPool::kMaxConcurrent] : ownTaken;
}

/// The progress on a share is one word: the number of pieces taken from the beginning by its owner in the lowest byte,
/// that of pieces taken from the end by others in the next byte, and above them the number of the job, so that the word
/// need not be reset.
bool Share::take(uint32_t from, int64_t &begin, int64_t &end) {
  int64_t first = getBegin(from), tiles = getBegin(from + 1) - first, pieces = countPieces(tiles);
  std::atomic<uint64_t> &taken = takenOf(from);
  bool isOwn = owns && from == part;
  uint64_t seen = taken.load(std::memory_order_relaxed);
  for (;;) {
    uint64_t old = seen >> 16 == number ? seen : number << 16;
    int64_t front = uint8_t(old), back = uint8_t(old >> 8);
    if (front + back >= pieces)
      return false;
    // Relaxed: tiles do not depend on each other, and entering the group has synchronized what they depend on.
    if (!taken.compare_exchange_weak(seen, old + (isOwn ? 1 : 1 << 8), std::memory_order_relaxed))
      continue;
    int64_t piece = isOwn ? front : pieces - 1 - back;
    if (isBackward)
      piece = pieces - 1 - piece;
    begin = first + tiles * piece / pieces;
    end = first + tiles * (piece + 1) / pieces;
    return true;
  }
}

bool Share::next(int64_t &begin, int64_t &end) {
  for (; visit < endVisit; ++visit)
    if (take((part + visit) % parts, begin, end))
      return true;
  return false;
}

bool Share::isEmpty() const {
  for (uint32_t i = visit; i < endVisit; ++i) {
    uint32_t from = (part + i) % parts;
    uint64_t seen = takenOf(from).load(std::memory_order_relaxed);
    int64_t taken = seen >> 16 == number ? uint8_t(seen) + uint8_t(seen >> 8) : 0;
    if (taken < countPieces(getBegin(from + 1) - getBegin(from)))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

Status ThreadPool::start(uint32_t threads, const CpuNodes &nodes) {
  count = threads;
  if (count <= 1)
    return {};
  workers.reset(new (std::nothrow) Worker[count]);
  if (!workers || !team.reserve(count))
    return Status::make(TENON_RESOURCES, "no memory for %u threads", threads);
  // Asynchronous signals are blocked, so that the program's own threads handle them; synchronous ones are not.
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
    // If the system refuses, threads are not pinned.
    if (const cpu_set_t *cpus = error ? nullptr : nodes.cpusFor(i, threads))
      pthread_setaffinity_np(workers[i].handle, sizeof *cpus, cpus);
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  if (error)
    return Status::make(TENON_RESOURCES, "thread %u of %u cannot be started: %s; ask for fewer threads", started + 1,
                        threads, strerror(error));
  measureOpening();
  return {};
}

ThreadPool::~ThreadPool() {
  if (!started)
    return;
  stopping.store(true);
  idle.wake();
  for (uint32_t i = 1; i <= started; ++i)
    pthread_join(workers[i].handle, nullptr);
}

void *ThreadPool::enter(void *worker) {
  Worker &self = *static_cast<Worker *>(worker);
  self.pool->work(self.number);
  return nullptr;
}

template <typename Condition> void ThreadPool::Sleepers::wait(Condition done) {
  // The waker stores the awaited value before it reads `count`, and the sleeper increments `count` before it tests the
  // value again, so one of the two sees the other.
  count.fetch_add(1);
  uint32_t seen = calls.load();
  if (!done())
    futexWait(&calls, seen);
  count.fetch_sub(1);
}

void ThreadPool::Sleepers::wake() {
  if (!count.load())
    return;
  calls.fetch_add(1);
  futexWakeAll(&calls);
}

/// Returns when there is a group to enter, or when the list or the pool has ended.
void ThreadPool::waitForWork(uint32_t thread, uint32_t seen) {
  bool isCaller = thread == 0;
  auto done = [&] {
    return team.isOpenTo(thread, seen) || (isCaller ? team.isClosed() : stopping.load(std::memory_order_relaxed));
  };
  while (!spin(done, contention)) {
    (isCaller ? caller : idle).wait([&] { return done() || stopping.load(); });
    if (done())
      return;
  }
}

void ThreadPool::work(uint32_t thread) {
  uint32_t seen = 0, parts;
  while (!stopping.load(std::memory_order_relaxed)) {
    if (team.enter(thread, &seen, &parts))
      workOn(thread, seen, parts);
    else
      waitForWork(thread, seen);
  }
}

/// Wakes sleeping threads if a group is long enough, or if the list is and nobody was woken for a while: most groups
/// end before a sleeping thread could arrive.
void ThreadPool::callSleepers(const Group &group) {
  if (!idle.count.load() && !caller.count.load())
    return;
  constexpr int64_t kWhile = 100'000;
  int64_t begin = now();
  bool isLong = group.nanoseconds == 0 || group.nanoseconds > 4 * callCost.load(std::memory_order_relaxed);
  if (isLong || (isWorthWaking && begin - lastCall > kWhile))
    wakeAll(begin);
}

/// Wakes all sleeping threads, and records the cost for the waker.
void ThreadPool::wakeAll(int64_t begin) {
  lastCall = begin;
  idle.wake();
  caller.wake();
  // The mean of some calls.
  int64_t cost = callCost.load(std::memory_order_relaxed), took = std::min(now() - begin, Contention::kLoss);
  callCost.store(cost + (took - cost) / 8, std::memory_order_relaxed);
}

//===----------------------------------------------------------------------===//
// Lists of jobs
//===----------------------------------------------------------------------===//

ThreadPool::Group ThreadPool::groupFrom(const Jobs &jobs, uint32_t begin) {
  assert(begin < jobs.count && "a group has a job");
  Group group{begin, begin, 0, 0};
  bool isKnown = true;
  do {
    const Job &job = jobs.jobs[group.end++];
    group.tiles += job.tiles;
    group.nanoseconds += job.nanoseconds;
    isKnown &= job.nanoseconds > 0;
  } while (group.end < jobs.count && jobs.jobs[group.end].isConcurrent && group.end - begin < kMaxConcurrent);
  if (!isKnown)
    group.nanoseconds = 0;
  return group;
}

/// Returns the number of threads over which a group is split: each has a tile, and enough work to be worth
/// synchronizing.
uint32_t ThreadPool::partsOf(const Group &group) const {
  int64_t most = std::min<int64_t>(group.tiles, count);
  if (group.nanoseconds)
    most = std::min(most, group.nanoseconds / grain);
  return uint32_t(std::max<int64_t>(most, 1));
}

void ThreadPool::runJob(uint32_t index, uint32_t thread, Share &share) {
  if (hasFailed.load(std::memory_order_relaxed))
    return;
  const Job &job = list.jobs[index];
  if (int32_t code = job.run(job, thread, share)) {
    workers[thread].failure = {index, code, thread};
    hasFailed.store(true, std::memory_order_relaxed);
  }
}

/// Executes a thread's share of a group: first its own tiles of all jobs, then tiles that others have left.
void ThreadPool::doGroup(const Group &group, uint32_t thread, uint32_t parts) {
  bool isOne = group.end - group.begin == 1;
  for (Share::Whose whose : {isOne ? Share::Whose::all : Share::Whose::own, Share::Whose::others}) {
    uint32_t shift = 0;
    for (uint32_t i = group.begin; i < group.end; ++i) {
      const Job &job = list.jobs[i];
      Share share(*this, job, firstNumber + i, (thread + parts - shift) % parts, parts, shift, whose);
      if (job.tiles && !share.isEmpty())
        runJob(i, thread, share);
      shift = uint32_t((shift + job.tiles) % parts);
    }
    if (isOne)
      return;
  }
}

/// Executes unsplit groups from `begin` on. Returns the first one that is split, or the end, also after a failure.
uint32_t ThreadPool::doSmallGroups(uint32_t begin, uint32_t thread) {
  while (begin < list.count && !hasFailed.load(std::memory_order_relaxed)) {
    Group group = groupFrom(list, begin);
    if (partsOf(group) > 1)
      return begin;
    for (; begin < group.end; ++begin) {
      Share all(list.jobs[begin], list.isBackward);
      if (list.jobs[begin].tiles)
        runJob(begin, thread, all);
    }
  }
  return list.count;
}

/// Works on a group that the thread has entered, and on the groups that it opens afterwards.
void ThreadPool::workOn(uint32_t thread, uint32_t number, uint32_t parts) {
  for (;;) {
    uint32_t base = uint32_t(firstNumber);
    uint32_t next = number - base;
    assert(next < list.count && "a thread is in a group of the list at hand");
    if (parts == 1) {
      next = doSmallGroups(next, thread);
    } else {
      Group group = groupFrom(list, next);
      doGroup(group, thread, parts);
      next = group.end;
    }
    bool goesOn = next < list.count && !hasFailed.load(std::memory_order_relaxed);
    parts = goesOn ? partsOf(groupFrom(list, next)) : 0;
    if (!team.leave(thread, number, base + next, parts > 1 ? parts : 0))
      return;
    // The thread is the only one now.
    if (parts <= 1) {
      // Unsplit groups are executed by the caller, whose cache has the results of the small groups before; except if it
      // may be slow to arrive.
      if (goesOn && thread != 0 && !contention.isOn(now())) {
        team.offer(base + next);
        caller.wake();
        return;
      }
      next = doSmallGroups(next, thread);
      if (next == list.count) {
        team.close(base + next);
        if (thread != 0)
          caller.wake();
        return;
      }
      parts = partsOf(groupFrom(list, next));
      team.open(thread, base + next, parts);
    }
    number = base + next;
    callSleepers(groupFrom(list, next));
  }
}

JobFailure ThreadPool::runAlone(const Jobs &jobs) {
  for (uint32_t i = 0; i < jobs.count; ++i) {
    Share all(jobs.jobs[i], jobs.isBackward);
    if (int32_t code = jobs.jobs[i].tiles ? jobs.jobs[i].run(jobs.jobs[i], 0, all) : 0)
      return {i, code};
  }
  return {};
}

/// True if the caller should run a list of `nanoseconds` alone: all workers sleep and the list would end before they
/// wake up, or a worker might be descheduled in the middle of a tile, for which the caller would wait longer than the
/// list takes.
bool ThreadPool::paysAlone(int64_t nanoseconds) {
  constexpr int64_t kShort = 500'000;
  int64_t time = now(), cost = callCost.load(std::memory_order_relaxed);
  bool isContended = contention.isOn(time);
  if (nanoseconds < 4 * cost && idle.count.load() == count - 1) {
    if (!isContended)
      callForNextLists(time, nanoseconds);
    return true;
  }
  return nanoseconds < kShort && isContended;
}

/// Wakes the workers if short lists have followed each other closely for much longer than waking takes: awake workers
/// spin between such lists, so that the next lists find them.
void ThreadPool::callForNextLists(int64_t time, int64_t nanoseconds) {
  constexpr int64_t kCalls = 16;
  aloneFor = time - lastAlone < kSpinTime ? aloneFor + nanoseconds : 0;
  lastAlone = time;
  if (aloneFor < kCalls * callCost.load(std::memory_order_relaxed))
    return;
  aloneFor = 0;
  wakeAll(time);
}

JobFailure ThreadPool::run(const Jobs &jobs) {
  int64_t split = 0;
  bool isKnown = true, isSplit = false;
  for (uint32_t next = 0; count > 1 && next < jobs.count;) {
    Group group = groupFrom(jobs, next);
    next = group.end;
    split += group.nanoseconds;
    if (partsOf(group) <= 1)
      continue;
    isSplit = true;
    isKnown &= group.nanoseconds > 0;
  }
  if (!isSplit || (isKnown && paysAlone(split)))
    return runAlone(jobs);
  list = jobs;
  // Numbers continue from the last run, so that nothing needs to be reset.
  firstNumber += kMaxConcurrent;
  isWorthWaking = !isKnown || split > 16 * callCost.load(std::memory_order_relaxed);
  lastCall = 0;
  uint32_t base = uint32_t(firstNumber), seen = base + doSmallGroups(0, 0);
  if (seen - base < list.count) {
    Group group = groupFrom(list, seen - base);
    uint32_t parts = partsOf(group);
    team.open(0, seen, parts);
    callSleepers(group);
    workOn(0, seen, parts);
    while (!team.isClosed())
      if (team.enter(0, &seen, &parts))
        workOn(0, seen, parts);
      else
        waitForWork(0, seen);
  }
  firstNumber += jobs.count;
  return hasFailed.load(std::memory_order_relaxed) ? takeFailure() : JobFailure();
}

/// Returns the failure of the first job that failed, on the lowest thread.
JobFailure ThreadPool::takeFailure() {
  JobFailure first;
  for (uint32_t i = 0; i < count; ++i) {
    JobFailure &failure = workers[i].failure;
    if (failure.code && (!first.code || failure.job < first.job))
      first = failure;
    failure = {};
  }
  assert(first.code && "a thread notes its failure before it says that there is one");
  hasFailed.store(false, std::memory_order_relaxed);
  return first;
}

/// Measures the cost of opening a group to all threads: the smallest additional time of groups with tiles of a
/// microsecond.
void ThreadPool::measureOpening() {
  static constexpr int64_t kTile = 1'000, kMin = 150, kMax = 5'000, kUnknown = 500, kPatience = 300'000;
  struct Probe {
    std::atomic<uint32_t> workers{0}; ///< tiles that were not the caller's
    static int32_t run(const Job &job, uint32_t thread, Share &share) {
      for (int64_t begin, end; share.next(begin, end);) {
        for (int64_t until = now() + kTile * (end - begin); now() < until;)
          pause();
        if (thread)
          const_cast<Probe *>(static_cast<const Probe *>(job.owner))
              ->workers.fetch_add(uint32_t(end - begin), std::memory_order_relaxed);
      }
      return 0;
    }
  };
  Probe probe;
  constexpr uint32_t kGroups = 8;
  Job jobs[kGroups];
  for (Job &job : jobs)
    job = {Probe::run, &probe, 0, false, count};
  int64_t best = kMax, begin = now();
  for (int round = 0; round < 12 && now() - begin < kPatience; ++round) {
    probe.workers.store(0, std::memory_order_relaxed);
    int64_t start = now();
    run({jobs, kGroups});
    // Others must have come for it to say anything.
    if (probe.workers.load(std::memory_order_relaxed) == kGroups * (count - 1))
      best = std::min(best, (now() - start) / kGroups - kTile);
  }
  // In this measurement no tile reads data that another thread has written, which would come from that core's cache.
  // With such data, the break-even work is a few times larger (docs/performance/shared-machines.md).
  constexpr int64_t kWithData = 4;
  grain = kWithData * (best == kMax ? kUnknown : std::clamp(best, kMin, kMax));
}

} // namespace tenon::rt
