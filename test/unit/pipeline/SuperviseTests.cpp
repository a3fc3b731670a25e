//===- SuperviseTests.cpp - every way in which work can end ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/Supervise.h"
#include "llvm/Support/ErrorHandling.h"
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <new>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using tenon::supervise;
using tenon::WorkEnd;
using Announce = llvm::function_ref<void(llvm::StringRef)>;

TEST_CASE("the exit code and the last phase of work that ends by itself") {
  WorkEnd end = supervise([](Announce announce) {
    announce("first");
    announce("second");
    return 3;
  });
  CHECK(end.exitCode == 3);
  CHECK(end.phase == "second");
  CHECK(end.reason.empty());
}

/// Catch2 reports signals in each process that inherits its handlers: the children here must not be reported.
struct DefaultSignals {
  DefaultSignals() {
    for (int signal : {SIGSEGV, SIGABRT, SIGILL, SIGFPE, SIGBUS})
      previous.push_back({signal, std::signal(signal, SIG_DFL)});
  }
  ~DefaultSignals() {
    for (auto [signal, handler] : previous)
      std::signal(signal, handler);
  }
  std::vector<std::pair<int, void (*)(int)>> previous;
};

TEST_CASE("signals, with their names") {
  DefaultSignals defaults;
  for (int signal : {SIGSEGV, SIGABRT, SIGILL, SIGFPE, SIGBUS}) {
    WorkEnd end = supervise([signal](Announce announce) {
      announce("graph");
      raise(signal);
      return 0;
    });
    CHECK(end.exitCode == 70);
    CHECK(end.phase == "graph");
    CHECK(end.reason == "signal " + std::to_string(signal) + " (" + strsignal(signal) + ")");
  }
}

static int overflowStack(volatile char *below) {
  volatile char frame[4096];
  frame[0] = below ? below[0] : 0;
  return overflowStack(frame) + frame[0];
}

TEST_CASE("a stack that overflows") {
  DefaultSignals defaults;
  WorkEnd end = supervise([](Announce) { return overflowStack(nullptr); });
  CHECK(end.exitCode == 70);
  CHECK_THAT(end.reason, Catch::StartsWith("signal 11"));
}

TEST_CASE("exceptions, in any thread") {
  WorkEnd here = supervise([](Announce) -> int { throw std::runtime_error("no such thing"); });
  CHECK(here.exitCode == 70);
  CHECK(here.reason == "no such thing");
  WorkEnd elsewhere = supervise([](Announce) {
    std::thread([] { throw std::runtime_error("in a thread"); }).join();
    return 0;
  });
  CHECK(elsewhere.exitCode == 70);
  CHECK(elsewhere.reason == "in a thread");
}

TEST_CASE("fatal errors of LLVM") {
  WorkEnd end = supervise([](Announce) -> int { llvm::report_fatal_error("cannot select"); });
  CHECK(end.exitCode == 70);
  CHECK(end.reason == "cannot select");
}

TEST_CASE("memory that there is not") {
  CHECK(supervise([](Announce) -> int { throw std::bad_alloc(); }).outOfMemory);
  CHECK(supervise([](Announce) { return raise(SIGKILL); }).outOfMemory);
  // What std::thread throws where there is no room for a stack.
  WorkEnd end = supervise([](Announce) -> int {
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  });
  CHECK(end.outOfMemory);
  CHECK_THAT(end.reason, Catch::StartsWith("no thread can be started: "));
  CHECK_FALSE(supervise([](Announce) -> int {
                throw std::system_error(std::make_error_code(std::errc::io_error));
              }).outOfMemory);
}

/// Leaves this process no address space but what it has.
static void forbidMoreMemory() {
  std::ifstream status("/proc/self/statm");
  rlim_t pages = 0;
  status >> pages;
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = pages * 4096;
  setrlimit(RLIMIT_AS, &limit);
}

TEST_CASE("crashes and unexplained failures for want of memory are told from others") {
  DefaultSignals defaults;
  for (int signal : {SIGSEGV, SIGABRT, SIGBUS}) {
    WorkEnd withoutMemory = supervise([signal](Announce) {
      forbidMoreMemory();
      return raise(signal);
    });
    CHECK(withoutMemory.outOfMemory);
    WorkEnd withMemory = supervise([signal](Announce) { return raise(signal); });
    CHECK_FALSE(withMemory.outOfMemory);
    CHECK(withMemory.exitCode == 70);
  }
  CHECK(supervise([](Announce) {
          forbidMoreMemory();
          return 70;
        }).outOfMemory);
  CHECK_FALSE(supervise([](Announce) { return 70; }).outOfMemory);
  // An error that the work explains itself stays one.
  CHECK_FALSE(supervise([](Announce) {
                forbidMoreMemory();
                return 3;
              }).outOfMemory);
}

TEST_CASE("work is ended that takes more memory or time than its phase may") {
  tenon::PhaseLimits limits{"import", [] { return uint64_t(64) << 20; }, 0.2};
  auto wait = [] { std::this_thread::sleep_for(std::chrono::seconds(20)); };
  WorkEnd memory = supervise(
      [&](Announce announce) {
        announce("import");
        std::vector<char> block(size_t(256) << 20, 1);
        wait();
        return static_cast<int>(block.back());
      },
      {limits.phase, limits.getMaxBytes, 0});
  CHECK(memory.exceeded == WorkEnd::Limit::memory);
  WorkEnd time = supervise(
      [&](Announce announce) {
        announce("import");
        wait();
        return 0;
      },
      limits);
  CHECK(time.exceeded == WorkEnd::Limit::time);
  // Other phases take what they need.
  WorkEnd other = supervise(
      [&](Announce announce) {
        announce("import");
        announce("graph");
        std::vector<char> block(size_t(128) << 20, 1);
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        return static_cast<int>(block.back());
      },
      limits);
  CHECK(other.exceeded == WorkEnd::Limit::none);
  CHECK(other.exitCode == 1);
}

TEST_CASE("pages of a file that are gone are told from a crash") {
  WorkEnd end = supervise([](Announce announce) -> int {
    announce("read");
    char name[] = "/tmp/tenon-supervise-test-XXXXXX";
    int file = mkstemp(name);
    unlink(name);
    constexpr size_t kBytes = 1 << 20;
    if (file < 0 || ftruncate(file, kBytes) != 0)
      return 1;
    void *mapped = mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped == MAP_FAILED || ftruncate(file, 4096) != 0)
      return 2;
    return static_cast<const volatile char *>(mapped)[kBytes - 1] + 3;
  });
  CHECK(end.exitCode == 70);
  CHECK(end.lostPages);
  CHECK(end.phase == "read");
  DefaultSignals defaults;
  WorkEnd other = supervise([](Announce) -> int { return raise(SIGBUS); });
  CHECK(!other.lostPages);
}
