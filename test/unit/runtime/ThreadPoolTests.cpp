//===- ThreadPoolTests.cpp - jobs on threads, and where those meet -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/Team.h"
#include "runtime/device/cpu/ThreadPool.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <random>
#include <sched.h>
#include <thread>
#include <vector>

using namespace tenon::rt;

TEST_CASE("a team: a group is over when all who came have left, and nobody comes twice") {
  for (uint32_t count : {1, 2, 8, 9, 64, 3}) {
    constexpr uint32_t kGroups = 200;
    Team team;
    REQUIRE(team.reserve(count));
    // What threads do in a group: the number of it must be the same from their coming to their leaving.
    std::atomic<uint32_t> current{0}, faults{0}, visits{0};
    std::atomic<bool> isOver{false};
    auto work = [&](uint32_t thread, uint32_t number) {
      for (;;) {
        ++visits;
        faults += current.load() != number;
        bool isEnd = number == kGroups;
        // Every third group is done by the one who left last, before it opens the one after.
        uint32_t next = number + 1, parts = isEnd || number % 3 == 0 ? 0 : 1 + (number * 7) % count;
        std::this_thread::yield();
        faults += current.load() != number;
        if (!team.leave(thread, number, next, 0))
          return;
        current = next;
        if (isEnd) {
          isOver = true;
          return team.close(next);
        }
        team.open(thread, next, std::max(parts, 1u));
        number = next;
      }
    };
    auto run = [&](uint32_t thread) {
      uint32_t seen = 0, parts = 0;
      while (!isOver)
        if (team.enter(thread, &seen, &parts)) {
          faults += thread >= parts;
          work(thread, seen);
        } else {
          std::this_thread::yield();
        }
    };
    std::vector<std::thread> threads;
    for (uint32_t thread = 1; thread < count; ++thread)
      threads.emplace_back(run, thread);
    current = 1;
    team.open(0, 1, count);
    work(0, 1);
    run(0);
    for (std::thread &thread : threads)
      thread.join();
    CHECK(team.isClosed());
    CHECK(faults == 0);
    CHECK(visits >= kGroups);
  }
}

namespace {
/// Jobs that count, for each tile, how often it was done, and whether what they depend on was not.
struct Counts {
  std::vector<Job> jobs;
  std::vector<std::vector<int>> done;
  std::vector<uint32_t> threadOfFirst;
  std::atomic<int> early{0};
  int32_t failing = -1; ///< a job, whose last tile fails

  explicit Counts(std::vector<std::pair<int64_t, bool>> list) {
    for (auto [tiles, isConcurrent] : list) {
      jobs.push_back({run, this, uint32_t(jobs.size()), isConcurrent, tiles});
      done.emplace_back(size_t(tiles));
    }
    threadOfFirst.resize(jobs.size());
  }

  static int32_t run(const Job &job, uint32_t thread, Share &share) {
    Counts &self = *static_cast<Counts *>(const_cast<void *>(job.owner));
    for (int64_t begin, end; share.next(begin, end);)
      for (int64_t tile = begin; tile < end; ++tile) {
        self.countEarly(job.number);
        ++self.done[job.number][size_t(tile)];
        if (tile == 0)
          self.threadOfFirst[job.number] = thread;
        if (int32_t(job.number) == self.failing && tile + 1 == job.tiles)
          return 7;
      }
    return 0;
  }

  /// Whether all tiles of the job that has to be over are.
  void countEarly(uint32_t job) {
    while (job > 0 && jobs[job].isConcurrent)
      --job;
    if (job > 0)
      for (int count : done[job - 1])
        early += count == 0;
  }

  JobFailure run(ThreadPool &pool, bool isBackward = false) {
    for (std::vector<int> &counts : done)
      std::fill(counts.begin(), counts.end(), 0);
    return pool.run({jobs.data(), uint32_t(jobs.size()), isBackward});
  }
  bool isDoneOnce(size_t count) const {
    for (size_t job = 0; job < done.size(); ++job)
      for (int times : done[job])
        if (times != (job < count))
          return false;
    return true;
  }
};
} // namespace

TEST_CASE("each tile of a list of jobs is done once, after what it depends on") {
  std::mt19937 random(1);
  for (uint32_t threads : {1, 2, 3, 8, 64}) {
    ThreadPool pool;
    REQUIRE_FALSE(pool.start(threads).failed());
    for (int round = 0; round < 40; ++round) {
      std::vector<std::pair<int64_t, bool>> list;
      for (uint32_t jobs = 1 + random() % 30; jobs; --jobs)
        list.push_back({int64_t(random() % 4 == 0 ? random() % 3 : random() % 100), random() % 3 == 0});
      Counts counts(list);
      CHECK(counts.run(pool, round % 2 == 1).code == 0);
      CHECK(counts.isDoneOnce(list.size()));
      CHECK(counts.early == 0);
    }
  }
}

TEST_CASE("more jobs beside each other than there are words for") {
  ThreadPool pool;
  REQUIRE_FALSE(pool.start(4).failed());
  Counts counts(std::vector<std::pair<int64_t, bool>>(50, {3, true}));
  for (int round = 0; round < 50; ++round) {
    CHECK(counts.run(pool).code == 0);
    CHECK(counts.isDoneOnce(50));
  }
}

TEST_CASE("small jobs beside each other are done by several threads, those that follow by one") {
  // The first of two jobs waits until the second one is done: so another thread does that.
  struct Waiting {
    std::atomic<bool> isDone{false};
    std::atomic<uint32_t> calls{0};
    static int32_t run(const Job &job, uint32_t thread, Share &share) {
      auto &self = *static_cast<Waiting *>(const_cast<void *>(job.owner));
      self.calls += job.number == 2;
      for (int64_t begin, end; share.next(begin, end);) {
        if (job.number == 1)
          self.isDone = true;
        while (!self.isDone)
          std::this_thread::yield();
      }
      return 0;
    }
  };
  ThreadPool pool;
  REQUIRE_FALSE(pool.start(2).failed());
  for (int round = 0; round < 20; ++round) {
    Waiting waiting;
    Job jobs[] = {{Waiting::run, &waiting, 0, false, 1},
                  {Waiting::run, &waiting, 1, true, 1},
                  {Waiting::run, &waiting, 2, false, 1}};
    CHECK(pool.run({jobs, 3}).code == 0);
    CHECK(waiting.calls == 1);
  }
}

TEST_CASE("nobody waits for a thread that has not come") {
  // Signals hold the workers between two lists, as the loss of their CPUs does.
  static std::atomic<uint32_t> held;
  static std::atomic<bool> isFree;
  held = 0;
  isFree = false;
  struct sigaction hold{}, old;
  hold.sa_handler = [](int) {
    ++held;
    while (!isFree)
      sched_yield();
  };
  REQUIRE(sigaction(SIGTRAP, &hold, &old) == 0);
  struct Threads {
    std::atomic<pthread_t> handles[3] = {};
    static int32_t run(const Job &job, uint32_t thread, Share &share) {
      auto &self = *static_cast<Threads *>(const_cast<void *>(job.owner));
      self.handles[thread] = pthread_self();
      for (int64_t begin, end; share.next(begin, end);)
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      return 0;
    }
  } threads;
  {
    ThreadPool pool;
    REQUIRE_FALSE(pool.start(3).failed());
    while (!threads.handles[1] || !threads.handles[2]) {
      Job job{Threads::run, &threads, 0, false, 12};
      REQUIRE(pool.run({&job, 1}).code == 0);
    }
    for (int worker : {1, 2})
      REQUIRE(pthread_kill(threads.handles[worker], SIGTRAP) == 0);
    while (held != 2)
      sched_yield();
    Counts counts({{100, false}, {1, false}, {30, false}, {2, true}, {1, true}, {7, false}});
    for (int round = 0; round < 20; ++round) {
      CHECK(counts.run(pool, round % 2 == 1).code == 0);
      CHECK(counts.isDoneOnce(6));
      CHECK(counts.threadOfFirst == std::vector<uint32_t>(6, 0));
    }
    isFree = true;
    // They take part again.
    threads.handles[1] = threads.handles[2] = pthread_t();
    while (!threads.handles[1] || !threads.handles[2]) {
      Job job{Threads::run, &threads, 0, false, 12};
      REQUIRE(pool.run({&job, 1}).code == 0);
    }
  }
  REQUIRE(sigaction(SIGTRAP, &old, nullptr) == 0);
}

TEST_CASE("groups that take less than splitting them costs are done by one thread") {
  ThreadPool pool;
  REQUIRE_FALSE(pool.start(2).failed());
  CHECK(pool.leastSplit() > 0);
  struct Threads {
    std::atomic<uint32_t> mask[3];
    static int32_t run(const Job &job, uint32_t thread, Share &share) {
      auto &self = *static_cast<Threads *>(const_cast<void *>(job.owner));
      for (int64_t begin, end; share.next(begin, end);) {
        self.mask[job.number] |= 1u << thread;
        // Long enough for others to come, if any do.
        for (int64_t until = now() + 20'000; now() < until;)
          tenon::rt::pause();
      }
      return 0;
    }
  };
  uint32_t all = 0;
  // On a busy machine it may take a while until the worker gets a CPU.
  for (int round = 0; round < 30 || (all != 3 && round < 10'000); ++round) {
    Threads threads{};
    Job small{Threads::run, &threads, 0, false, 16, pool.leastSplit() - 1},
        large{Threads::run, &threads, 1, false, 16, 1'000'000}, alsoSmall{Threads::run, &threads, 2, false, 16, 1};
    Job jobs[] = {small, large, alsoSmall};
    CHECK(pool.run({jobs, 3}).code == 0);
    CHECK(threads.mask[0] == 1);
    CHECK((threads.mask[2] == 1 || threads.mask[2] == 2));
    all |= threads.mask[1];
    CHECK(pool.run({jobs, 1}).code == 0);
    CHECK(threads.mask[0] == 1);
  }
  CHECK(all == 3);
}

TEST_CASE("short lists that follow each other closely call threads that sleep") {
  ThreadPool pool;
  REQUIRE_FALSE(pool.start(2).failed());
  struct Work {
    int64_t each;
    std::atomic<uint32_t> byWorker{0};
    static int32_t run(const Job &job, uint32_t thread, Share &share) {
      auto &self = *static_cast<Work *>(const_cast<void *>(job.owner));
      for (int64_t begin, end; share.next(begin, end);) {
        for (int64_t until = now() + self.each * (end - begin); now() < until;)
          tenon::rt::pause();
        if (thread)
          ++self.byWorker;
      }
      return 0;
    }
  } work{std::max<int64_t>(pool.leastSplit() / 4, 2'000)};
  // A single list would be over before a thread came.
  Job job{Work::run, &work, 0, false, 4, 4 * work.each};
  // On a busy machine it may take a while until the worker gets a CPU.
  for (int64_t limit = now() + 20'000'000'000; work.byWorker == 0 && now() < limit;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5)); // The worker sleeps by then.
    for (int list = 0; list < 500; ++list)
      REQUIRE(pool.run({&job, 1}).code == 0);
  }
  CHECK(work.byWorker > 0);
}

TEST_CASE("jobs that follow a failure are not begun, and the next list is") {
  for (uint32_t threads : {1, 2, 9}) {
    ThreadPool pool;
    REQUIRE_FALSE(pool.start(threads).failed());
    Counts counts({{20, false}, {1, false}, {40, false}, {40, false}, {1, false}});
    for (int32_t failing : {2, 1, 0}) {
      counts.failing = failing;
      JobFailure failure = counts.run(pool);
      CHECK(failure.job == uint32_t(failing));
      CHECK(failure.code == 7);
      CHECK(counts.done[size_t(failing) + 1][0] == 0);
      counts.failing = -1;
      CHECK(counts.run(pool).code == 0);
      CHECK(counts.isDoneOnce(5));
    }
  }
}

TEST_CASE("many threads get along on one CPU") {
  cpu_set_t all, one;
  REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  {
    ThreadPool pool;
    REQUIRE_FALSE(pool.start(16).failed());
    Counts counts({{100, false}, {30, false}, {1, false}, {30, true}});
    for (int round = 0; round < 3; ++round) {
      CHECK(counts.run(pool).code == 0);
      CHECK(counts.isDoneOnce(4));
    }
  }
  REQUIRE(sched_setaffinity(0, sizeof all, &all) == 0);
}

TEST_CASE("what a thread's own instructions raise reaches the program's handlers, nothing else does") {
  static std::atomic<bool> isSeen;
  static sigset_t blocked;
  isSeen = false;
  ThreadPool pool;
  REQUIRE_FALSE(pool.start(2).failed());
  auto run = [](const Job &, uint32_t thread, Share &share) -> int32_t {
    for (int64_t begin, end; share.next(begin, end);) {
      if (thread == 1) {
        pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
        isSeen = true;
      }
      while (!isSeen)
        std::this_thread::yield();
    }
    return 0;
  };
  Job job{run, nullptr, 0, false, 2};
  REQUIRE(pool.run({&job, 1}).code == 0);
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE})
    CHECK(sigismember(&blocked, signal) == 0);
  for (int signal : {SIGINT, SIGTERM, SIGALRM})
    CHECK(sigismember(&blocked, signal) == 1);
}
