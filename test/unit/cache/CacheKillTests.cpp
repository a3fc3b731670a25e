//===- CacheKillTests.cpp - processes that end at any moment --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/cache/CacheArchive.h"
#include "test/unit/cache/CacheScratch.h"
#include <csignal>
#include <cstdlib>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

using namespace tenon;

static std::string getContent(int number) {
  return "content " + std::to_string(number) + std::string(1000 + number * 10, 'x');
}

/// Adds, finds, evicts, prunes, exports and imports until it is killed.
[[noreturn]] static void work(const CacheScratch &scratch, unsigned seed) {
  std::mt19937 random(seed);
  constexpr uint64_t kLimit = 60'000; // evicts about every second addition
  llvm::Expected<std::unique_ptr<CacheStore>> store = CacheStore::open(scratch.getCache(), kLimit);
  for (std::string archive = scratch.folder + "/export"; store;) {
    int number = static_cast<int>(random() % 100);
    std::string name = std::to_string(number);
    llvm::Expected<std::optional<CacheStore::Hit>> hit = (*store)->find(CacheKind::kernel, makeEntry(name).key);
    if (!hit)
      _exit(2);
    if (*hit && (*hit)->content->getBuffer() != getContent(number))
      _exit(3);
    if (tryAdd(**store, name, getContent(number)))
      _exit(4);
    if (random() % 50 == 0 && !(*store)->prune({}, 0, kLimit / 2))
      _exit(5);
    if (random() % 50 == 1 && !exportCache(**store, {}, archive))
      _exit(6);
    if (llvm::sys::fs::exists(archive) && random() % 50 == 2 && !importCache(**store, archive))
      _exit(7);
  }
  _exit(1);
}

TEST_CASE("processes that are killed leave a cache that is readable and right") {
  CacheScratch scratch;
  // The long form is for whoever changes the store: TENON_KILLS=200.
  const char *asked = std::getenv("TENON_KILLS");
  int kills = asked ? std::atoi(asked) : 40;
  std::mt19937 random(20261127);
  for (int i = 0; i < kills; ++i) {
    // Two at a time, of which one is killed while the other waits for it or works on.
    pid_t children[2];
    for (pid_t &child : children) {
      unsigned seed = random();
      child = fork();
      REQUIRE(child >= 0);
      if (child == 0)
        work(scratch, seed);
    }
    usleep(random() % 60'000);
    for (pid_t child : children) {
      // One that noticed anything wrong has ended by itself.
      int status = 0;
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      CHECK(WIFSIGNALED(status));
      usleep(random() % 10'000);
    }
    std::unique_ptr<CacheStore> store = scratch.open();
    for (const std::string &fault : takeValue(store->verify(/*removes=*/false)))
      // An eviction that was killed removed the file first; such an entry counts as none.
      CHECK_THAT(fault, Catch::EndsWith("its content is gone"));
  }
  std::unique_ptr<CacheStore> store = scratch.open();
  int found = 0;
  for (int number = 0; number < 100; ++number)
    if (std::string content = findContent(*store, std::to_string(number)); !content.empty()) {
      CHECK(content == getContent(number));
      ++found;
    }
  CHECK(found > 0);
  takeValue(store->prune({}, 0, UINT64_MAX));
  CHECK(takeValue(store->verify(/*removes=*/false)).empty());
  CHECK(takeValue(store->measure()).kernels == countFiles(scratch.getCache() + "/objects"));
}
