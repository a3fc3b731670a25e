//===- ThreadPoolTests.cpp - jobs on threads, and where those meet -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/Barrier.h"
#include "runtime/core/ThreadPool.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <random>
#include <sched.h>
#include <thread>
#include <vector>

using namespace tenon::rt;

TEST_CASE("a barrier: nobody is a round ahead") {
  for (uint32_t count : {1, 2, 8, 9, 64, 3}) {
    constexpr uint32_t kRounds = 50;
    Barrier barrier;
    REQUIRE(barrier.reserve(count));
    barrier.start(count);
    std::vector<std::atomic<uint32_t>> rounds(count);
    std::atomic<uint32_t> faults{0};
    auto run = [&](uint32_t thread) {
      for (uint32_t round = 0; round < kRounds; ++round) {
        rounds[thread].store(round + 1, std::memory_order_relaxed);
        barrier.wait(thread, round);
        for (const std::atomic<uint32_t> &other : rounds)
          faults += other.load(std::memory_order_relaxed) <= round;
      }
      if (thread != 0)
        barrier.arrive(thread, kRounds);
    };
    std::vector<std::thread> threads;
    for (uint32_t thread = 1; thread < count; ++thread)
      threads.emplace_back(run, thread);
    run(0);
    barrier.waitForArrivals(0, kRounds);
    for (std::thread &thread : threads)
      thread.join();
    CHECK(faults == 0);
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
    for (auto [tiles, isBeside] : list) {
      jobs.push_back({run, this, uint32_t(jobs.size()), isBeside, tiles});
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
    while (job > 0 && jobs[job].isBeside)
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
    static int32_t run(const Job &job, uint32_t thread, Share &share) {
      auto &self = *static_cast<Waiting *>(const_cast<void *>(job.owner));
      for (int64_t begin, end; share.next(begin, end);) {
        if (job.number == 1)
          self.isDone = true;
        while (!self.isDone)
          std::this_thread::yield();
        if (job.number == 2 && thread != 0)
          return 1;
      }
      return 0;
    }
  };
  ThreadPool pool;
  REQUIRE_FALSE(pool.start(2).failed());
  for (int round = 0; round < 20; ++round) {
    Waiting waiting;
    Job jobs[] = {{Waiting::run, &waiting, 0, false, 1}, {Waiting::run, &waiting, 1, true, 1}, {Waiting::run, &waiting, 2, false, 1}};
    CHECK(pool.run({jobs, 3}).code == 0);
  }
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
