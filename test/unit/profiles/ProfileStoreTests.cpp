//===- ProfileStoreTests.cpp - records in a file --------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/profiles/ProfileStore.h"
#include "test/unit/profiles/MakeRecord.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <catch2/catch.hpp>
#include <csignal>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

using namespace tenon;
namespace fs = llvm::sys::fs;
using Access = ProfileStore::Access;
using Entries = std::vector<ProfileStore::Entry>;

namespace {
struct Scratch {
  Scratch() {
    llvm::SmallString<128> made;
    REQUIRE(!fs::createUniqueDirectory("tenon-profiles-test", made));
    folder = made.str().str();
  }
  ~Scratch() { fs::remove_directories(folder); }
  std::string getFile() const { return folder + "/sub/profiles.db"; }
  std::string folder;
};
} // namespace

/// The value, where there is one.
template <typename T> static T take(llvm::Expected<T> value) {
  std::string why = value ? "" : llvm::toString(value.takeError());
  INFO(why);
  REQUIRE(why.empty());
  return std::move(*value);
}

static std::unique_ptr<ProfileStore> open(const std::string &file, Access access = Access::write) {
  return take(ProfileStore::open(file, access));
}

static std::string getFailure(const std::string &file, Access access) {
  llvm::Expected<std::unique_ptr<ProfileStore>> store = ProfileStore::open(file, access);
  return store ? "" : llvm::toString(store.takeError());
}

static void add(ProfileStore &store, llvm::ArrayRef<ProfileRecord> records) {
  llvm::Error error = store.add(records);
  REQUIRE(!error);
}

static Entries list(const ProfileStore &store, const ProfileStore::Filter &filter = {}) {
  return take(store.list(filter));
}

TEST_CASE("records are kept in a file, the fastest of a region first") {
  Scratch scratch;
  {
    auto store = open(scratch.getFile());
    add(*store, {makeRecord("a", "slow", 200), makeRecord("a", "fast", 100), makeRecord("b", "only", 50)});
  }
  auto store = open(scratch.getFile(), Access::read);
  Entries entries = list(*store);
  REQUIRE(entries.size() == 3);
  Entries ofA = list(*store, {makeRecord("a", "", 1).kernel.getRegionFingerprint(), "", "", "", 0});
  REQUIRE(ofA.size() == 2);
  CHECK(ofA[0].record.kernel.schedule == "fast");
  CHECK(ofA[0].record.median == 100);
  CHECK(ofA[0].record.min == 90);
  CHECK(*ofA[0].record.error == 1e-6);
  CHECK(ofA[0].record.hardware.governor == "performance");
  CHECK(list(*store, {"", "", "only", "", 2}).size() == 1);
  CHECK(list(*store, {"", "", "only", "", 1}).empty());
  CHECK(list(*store, {"", "no such machine", "", "", 0}).empty());
  CHECK(take(store->find(ofA[1].id))->record.kernel.schedule == "slow");
  CHECK(!take(store->find(99)));
}

TEST_CASE("old and surplus records are removed, with what nothing refers to") {
  Scratch scratch;
  auto store = open(scratch.getFile());
  add(*store, {makeRecord("a", "s", 1, 100), makeRecord("a", "s", 2, 200), makeRecord("a", "s", 3, 300),
               makeRecord("b", "s", 4, 100)});
  CHECK(take(store->prune(150, 0)) == 2);
  CHECK(take(store->prune(0, 1)) == 1);
  Entries entries = list(*store);
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].record.median == 3);
  add(*store, {makeRecord("b", "s", 5)});
  CHECK(list(*store).size() == 2);
}

TEST_CASE("imports skip what cannot be, and keep the rest") {
  Scratch scratch;
  auto store = open(scratch.getFile());
  ProfileRecord wrong = makeRecord("a", "s", 100);
  wrong.runs = 0;
  std::string text =
      toJsonLine(makeRecord("a", "s", 100)) + "\nnonsense\n" + toJsonLine(wrong) + toJsonLine(makeRecord("b", "s", 7));
  ImportedProfiles imported = take(importProfiles(*store, text));
  CHECK(imported.added == 2);
  CHECK(imported.skipped == 2);
  CHECK(imported.firstFault == "line 3: no JSON object");
  Entries entries = list(*store);
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].record.origin == "imported");
}

TEST_CASE("files that are no profile database are refused") {
  Scratch scratch;
  CHECK(getFailure(scratch.folder + "/absent.db", Access::read).find("No such file") != std::string::npos);
  std::string text = scratch.folder + "/text.db";
  std::error_code error;
  llvm::raw_fd_ostream(text, error) << std::string(5000, 'x');
  for (Access access : {Access::read, Access::write})
    CHECK(getFailure(text, access).find("text.db: ") != std::string::npos);
  CHECK(getFailure("/proc/nowhere/profiles.db", Access::write).find("its folder cannot be made") != std::string::npos);
  CHECK(getFailure(scratch.folder, Access::write).find("cannot be opened") != std::string::npos);
}

TEST_CASE("a damaged database is found out and never crashes") {
  Scratch scratch;
  {
    auto store = open(scratch.getFile());
    std::vector<ProfileRecord> records;
    for (int i = 0; i < 200; ++i)
      records.push_back(makeRecord("region " + std::to_string(i), "s", 100 + i));
    add(*store, records);
    CHECK(take(store->verify()).empty());
  }
  std::string good = (*llvm::MemoryBuffer::getFile(scratch.getFile()))->getBuffer().str();
  std::mt19937 random(20261126);
  std::string file = scratch.folder + "/damaged.db";
  int found = 0;
  for (int i = 0; i < 200; ++i) {
    std::string damaged = good;
    for (int flips = 0; flips < 40; ++flips)
      damaged[random() % damaged.size()] = char(random());
    std::error_code error;
    llvm::raw_fd_ostream(file, error) << damaged;
    llvm::Expected<std::unique_ptr<ProfileStore>> store = ProfileStore::open(file, Access::read);
    if (!store) {
      llvm::consumeError(store.takeError());
      ++found;
      continue;
    }
    llvm::Expected<std::vector<std::string>> faults = (*store)->verify();
    found += !faults || !faults->empty();
    if (!faults)
      llvm::consumeError(faults.takeError());
  }
  CHECK(found > 150);
}

TEST_CASE("a process that is killed leaves what it had committed") {
  Scratch scratch;
  open(scratch.getFile());
  std::mt19937 random(20261126);
  constexpr int kBatch = 7;
  for (int round = 0; round < 40; ++round) {
    pid_t child = fork();
    if (child == 0) {
      llvm::Expected<std::unique_ptr<ProfileStore>> store = ProfileStore::open(scratch.getFile(), Access::write);
      for (int i = 0; store; ++i) {
        std::vector<ProfileRecord> records(kBatch, makeRecord("region " + std::to_string(i % 5), "s", 100));
        llvm::consumeError((*store)->add(records));
      }
      _exit(1);
    }
    usleep(random() % 40000);
    kill(child, SIGKILL);
    int status;
    waitpid(child, &status, 0);
  }
  auto store = open(scratch.getFile());
  CHECK(take(store->verify()).empty());
  Entries entries = list(*store);
  CHECK(entries.size() % kBatch == 0);
  CHECK(!entries.empty());
}
