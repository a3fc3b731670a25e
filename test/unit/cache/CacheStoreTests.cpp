//===- CacheStoreTests.cpp - results in a folder --------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/cache/CompilerId.h"
#include "test/unit/cache/CacheScratch.h"
#include "llvm/Support/FileUtilities.h"
#include <csignal>
#include <fcntl.h>
#include <random>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tenon;
namespace fs = llvm::sys::fs;

static void write(const std::string &file, llvm::StringRef text) {
  std::error_code error;
  llvm::raw_fd_ostream(file, error) << text;
  REQUIRE(!error);
}

static std::vector<CacheEntry> listAll(const CacheStore &store, const CacheStore::Filter &filter = {}) {
  std::vector<CacheEntry> entries;
  REQUIRE(!store.visit(filter, [&](const CacheEntry &entry) {
    entries.push_back(entry);
    return true;
  }));
  return entries;
}

/// Changes the index as a stranger may.
static void changeIndex(const CacheScratch &scratch, const char *sql) {
  sqlite3 *database = nullptr;
  REQUIRE(sqlite3_open((scratch.getCache() + "/index.db").c_str(), &database) == SQLITE_OK);
  CHECK(sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(database);
}

/// Runs `work` in a process of its own, as a user who may not write everywhere. Returns its exit code.
static int runApart(llvm::function_ref<int()> work) {
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (geteuid() == 0 && setuid(65534) != 0)
      _exit(100);
    _exit(work());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_CASE("fingerprints tell texts and their boundaries apart") {
  auto get = [](std::vector<std::string> texts) {
    Fingerprint fingerprint;
    for (const std::string &text : texts)
      fingerprint.add(text);
    return fingerprint.get();
  };
  CHECK(get({"ab", "c"}).size() == 64);
  CHECK(get({"ab", "c"}) == get({"ab", "c"}));
  CHECK(get({"ab", "c"}) != get({"a", "bc"}));
  CHECK(get({"abc"}) != get({"ab", "c"}));
  CHECK(get({"abc"}) != get({"abc", ""}));
  CHECK(getCompilerId().size() == 64);
  CHECK(getCompilerId() == getCompilerId());
  CHECK(getCompilerId() != Fingerprint().get());
}

TEST_CASE("what is added is found by its kind and key") {
  CacheScratch scratch;
  std::unique_ptr<CacheStore> store = scratch.open();
  CHECK(findContent(*store, "one").empty());
  add(*store, "one", "object");
  add(*store, "two", std::string("\0\xff", 2));
  CHECK(findContent(*store, "one") == "object");
  CHECK(findContent(*store, "two") == std::string("\0\xff", 2));
  CHECK(findContent(*store, "one", CacheKind::artifact).empty());
  add(*store, "one", "artifact", CacheKind::artifact);
  CHECK(findContent(*store, "one", CacheKind::artifact) == "artifact");
  // Another process, later.
  store = scratch.open();
  CHECK(findContent(*store, "one") == "object");
  CHECK(takeValue(store->verify(/*removes=*/false)).empty());
  // Nothing else is left behind.
  CHECK(countFiles(scratch.getCache() + "/objects") == 3);
  CHECK(countFiles(scratch.getCache() + "/tmp") == 0);
}

TEST_CASE("a second content of a key takes the place of the first") {
  CacheScratch scratch;
  std::unique_ptr<CacheStore> store = scratch.open();
  add(*store, "one", "first");
  add(*store, "one", "second");
  CHECK(findContent(*store, "one") == "second");
  CHECK(listAll(*store).size() == 1);
  CHECK(countFiles(scratch.getCache() + "/objects") == 1);
  add(*store, "one", "second");
  CHECK(findContent(*store, "one") == "second");
}

TEST_CASE("a damaged content is noticed, counted and removed") {
  CacheScratch scratch;
  std::unique_ptr<CacheStore> store = scratch.open();
  auto damage = [&](llvm::StringRef content) {
    add(*store, "one", "object of a kernel");
    std::string file = takeValue(store->find(CacheKind::kernel, makeEntry("one").key))->path;
    unsigned before = store->getDamaged();
    write(file, content);
    CHECK(findContent(*store, "one").empty());
    CHECK(store->getDamaged() == before + 1);
    CHECK(listAll(*store).empty());
    CHECK(!fs::exists(file));
  };
  damage("object of a kermel");
  damage("object of");
  damage("");
  damage("something else altogether");
  CHECK(store->getFirstDamage().find("its content is damaged") != std::string::npos);
  // What somebody has removed is no damage.
  add(*store, "one", "object");
  fs::remove(takeValue(store->find(CacheKind::kernel, makeEntry("one").key))->path);
  CHECK(findContent(*store, "one").empty());
  CHECK(store->getDamaged() == 4);
}

TEST_CASE("a content is bound to its key, its files and its messages") {
  CacheScratch scratch;
  std::unique_ptr<CacheStore> store = scratch.open();
  add(*store, "one", "first");
  add(*store, "two", "second");
  add(*store, "three", "third");
  // A row that names the content of another key, or has other messages.
  changeIndex(scratch, "UPDATE entries SET seal = (SELECT seal FROM entries WHERE id = 2), bytes = 6 WHERE id = 1;"
                       "UPDATE entries SET messages = 'no warning' WHERE id = 3");
  CHECK(findContent(*store, "one").empty());
  CHECK(findContent(*store, "three").empty());
  CHECK(store->getDamaged() == 2);
}

TEST_CASE("hostile rows are skipped") {
  CacheScratch scratch;
  std::unique_ptr<CacheStore> store = scratch.open();
  add(*store, "one", "first");
  add(*store, "two", "second");
  write(scratch.folder + "/secret", "first");
  changeIndex(
      scratch,
      "INSERT INTO entries SELECT 10, kind, 'x', '../../secret', 5, title, hardware, compiler, files, messages, "
      "origin, created, last_use FROM entries WHERE id = 1;"
      "INSERT INTO entries SELECT 11, 'program', key, seal, bytes, title, hardware, compiler, files, messages, "
      "origin, created, last_use FROM entries WHERE id = 1;"
      "INSERT INTO entries SELECT 12, kind, replace(key, substr(key, 1, 1), 'A'), seal, bytes, title, hardware, "
      "compiler, files, messages, origin, created, last_use FROM entries WHERE id = 1;"
      "INSERT INTO entries SELECT 13, 'artifact', key, seal, -1, title, hardware, compiler, files, messages, "
      "origin, created, last_use FROM entries WHERE id = 1;"
      "INSERT INTO uses VALUES (2, x'ff' || '', 'node', 0)");
  CHECK(listAll(*store).size() == 1);
  CHECK(findContent(*store, "one") == "first");
  CHECK(takeValue(store->find(CacheKind::kernel, "x")) == std::nullopt);
  std::vector<std::string> faults = takeValue(store->verify(/*removes=*/false));
  REQUIRE(faults.size() == 1);
  CHECK_THAT(faults.front(), Catch::Contains("4 of its rows are no entries"));
  takeValue(store->verify(/*removes=*/true));
  CHECK(fs::exists(scratch.folder + "/secret"));
  CHECK(findContent(*store, "two") == "second");
}

TEST_CASE("the limit is kept, and what was used last") {
  CacheScratch scratch;
  std::unique_ptr<CacheStore> store = scratch.open(/*limit=*/3500);
  for (const char *name : {"one", "two", "three"})
    add(*store, name, std::string(1000, name[0]) + name);
  // The first is used again.
  int64_t id = takeValue(store->find(CacheKind::kernel, makeEntry("one").key))->entry.id;
  REQUIRE(!store->reuse({{id, {{"other.onnx", "node"}}}}));
  add(*store, "four", std::string(1000, '4'));
  CHECK(findContent(*store, "two").empty());
  for (const char *name : {"one", "three", "four"})
    CHECK(!findContent(*store, name).empty());
  CHECK(countFiles(scratch.getCache() + "/objects") == 3);
  // What exceeds the limit alone pushes nothing out.
  add(*store, "huge", std::string(3501, 'x'));
  CHECK(findContent(*store, "huge").empty());
  CHECK(listAll(*store).size() == 3);
  // A smaller limit of a later process.
  store = scratch.open(/*limit=*/1500);
  add(*store, "five", std::string(1000, '5'));
  CHECK(listAll(*store).size() == 1);
  CHECK(!findContent(*store, "five").empty());
  CHECK(takeValue(store->measure()).kernelBytes == 1000);
}

TEST_CASE("entries are pruned by age, by size and by what they are") {
  CacheScratch scratch;
  std::unique_ptr<CacheStore> store = scratch.open();
  for (const char *name : {"one", "two", "three"})
    add(*store, name, std::string(1000, name[0]) + name);
  add(*store, "model", "artifact", CacheKind::artifact);
  changeIndex(scratch, "UPDATE entries SET last_use = 1000 WHERE id = 2");
  CHECK(takeValue(store->prune({}, 999, UINT64_MAX)) == 0);
  CHECK(takeValue(store->prune({}, 1001, UINT64_MAX)) == 1);
  CHECK(findContent(*store, "two").empty());
  CHECK(takeValue(store->prune({}, 0, 1500)) == 1);
  CHECK(findContent(*store, "one").empty());
  CacheStore::Filter artifacts;
  artifacts.kind = CacheKind::artifact;
  CHECK(takeValue(store->prune(artifacts, INT64_MAX, UINT64_MAX)) == 1);
  CHECK(!findContent(*store, "three").empty());
  // What killed processes leave goes as well: a content without a row, and an old temporary file.
  write(scratch.getCache() + "/objects/stray", "x");
  std::string file = takeValue(store->reserve());
  CHECK(takeValue(store->measure()).otherBytes == 1);
  CHECK(takeValue(store->prune({}, 0, UINT64_MAX)) == 0);
  CHECK(!fs::exists(scratch.getCache() + "/objects/stray"));
  CHECK(fs::exists(file));
  timespec old[2] = {{0, 0}, {0, 0}};
  REQUIRE(utimensat(AT_FDCWD, file.c_str(), old, 0) == 0);
  CHECK(takeValue(store->prune({}, INT64_MAX, UINT64_MAX)) == 1);
  CHECK(!fs::exists(file));
  CHECK(countFiles(scratch.getCache() + "/objects") == 0);
}

TEST_CASE("entries are found by model, node, operation and hardware") {
  CacheScratch scratch;
  std::unique_ptr<CacheStore> store = scratch.open();
  add(*store, "layer1/Conv", "one");
  add(*store, "layer2/Gemm", "two");
  auto count = [&](auto set) {
    CacheStore::Filter filter;
    set(filter);
    return listAll(*store, filter).size();
  };
  CHECK(count([](auto &f) { f.model = "MODEL"; }) == 2);
  CHECK(count([](auto &f) { f.model = "other"; }) == 0);
  CHECK(count([](auto &f) { f.node = "layer1"; }) == 1);
  CHECK(count([](auto &f) { f.title = "contract"; }) == 2);
  CHECK(count([](auto &f) { f.hardware = "avx2"; }) == 2);
  CHECK(count([](auto &f) { f.hardware = "avx512"; }) == 0);
  CHECK(count([](auto &f) { f.anywhere = "gemm"; }) == 1);
  CHECK(count([](auto &f) { f.anywhere = "%"; }) == 0);
  CHECK(count([](auto &f) { f.node = "'; DROP TABLE entries; --"; }) == 0);
  CHECK(count([](auto &f) { f.key = makeEntry("layer1/Conv").key.substr(0, 12); }) == 1);
  CHECK(count([](auto &f) { f.kind = CacheKind::artifact; }) == 0);
}

TEST_CASE("an entry keeps its last uses alone") {
  CacheScratch scratch;
  std::unique_ptr<CacheStore> store = scratch.open();
  add(*store, "one", "object");
  int64_t id = listAll(*store).front().id;
  for (int round = 0; round < 3; ++round) {
    std::vector<CacheUse> uses;
    for (int i = 0; i < 50; ++i)
      uses.push_back({"model" + std::to_string(round), "node" + std::to_string(i)});
    REQUIRE(!store->reuse({{id, uses}}));
  }
  std::vector<CacheUse> uses = listAll(*store).front().uses;
  CHECK(uses.size() == 64);
  CHECK(llvm::count_if(uses, [](const CacheUse &use) { return use.model == "model2"; }) == 50);
}

TEST_CASE("a folder that cannot be written is only read") {
  CacheScratch scratch;
  add(*scratch.open(), "one", "object");
  add(*scratch.open(), "bad", "object");
  write(takeValue(scratch.open()->find(CacheKind::kernel, makeEntry("bad").key))->path, "OBJECT");
  REQUIRE(chmod(scratch.folder.c_str(), 0755) == 0);
  REQUIRE(chmod(scratch.getCache().c_str(), 0555) == 0);
  int status = runApart([&] {
    llvm::Expected<std::unique_ptr<CacheStore>> store = CacheStore::open(scratch.getCache());
    if (!store)
      return 1;
    if ((*store)->isWritable())
      return 2;
    llvm::Expected<std::optional<CacheStore::Hit>> hit = (*store)->find(CacheKind::kernel, makeEntry("one").key),
                                                   bad = (*store)->find(CacheKind::kernel, makeEntry("bad").key);
    if (!hit || !*hit || (*hit)->content->getBuffer() != "object" || !bad || *bad)
      return 3;
    // Nothing is written, and that is no error of a compilation.
    if (tryAdd(**store, "two", "other") || (*store)->reuse({{1, {}}}))
      return 4;
    return (*store)->prune({}, INT64_MAX, 0) ? 5 : 0;
  });
  REQUIRE(chmod(scratch.getCache().c_str(), 0755) == 0);
  CHECK(status == 0);
}

TEST_CASE("a place where there can be no cache is no fault of its own") {
  for (const char *folder : {"", "/proc/no-such-folder"}) {
    llvm::Expected<std::unique_ptr<CacheStore>> store = CacheStore::open(folder);
    REQUIRE(!store);
    std::string text = llvm::toString(store.takeError());
    CHECK(!text.empty());
  }
}

TEST_CASE("a full disk leaves the cache as it was") {
  CacheScratch scratch;
  add(*scratch.open(), "one", "object");
  REQUIRE(chmod(scratch.folder.c_str(), 0777) == 0);
  int status = runApart([&] {
    // A write beyond the limit fails, as one to a full disk does.
    signal(SIGXFSZ, SIG_IGN);
    llvm::Expected<std::unique_ptr<CacheStore>> store = CacheStore::open(scratch.folder + "/own");
    if (!store)
      return 1;
    rlimit limit{120 << 10, 120 << 10};
    setrlimit(RLIMIT_FSIZE, &limit);
    if (tryAdd(**store, "small", "content"))
      return 2;
    llvm::Error error = tryAdd(**store, "large", std::string(300 << 10, 'x'));
    if (!error)
      return 3;
    llvm::consumeError(std::move(error));
    // The index is full as well at some time; what it has is still right.
    for (int i = 0; i < 400; ++i)
      llvm::consumeError(tryAdd(**store, "next" + std::to_string(i), "content " + std::to_string(i)));
    for (int i = 0; i < 400; ++i) {
      auto hit = (*store)->find(CacheKind::kernel, makeEntry("next" + std::to_string(i)).key);
      if (!hit)
        llvm::consumeError(hit.takeError());
      else if (*hit && (*hit)->content->getBuffer() != "content " + std::to_string(i))
        return 4;
    }
    return countFiles(scratch.folder + "/own/tmp") ? 5 : 0;
  });
  CHECK(status == 0);
  std::unique_ptr<CacheStore> store = takeValue(CacheStore::open(scratch.folder + "/own"));
  CHECK(findContent(*store, "small") == "content");
  CHECK(findContent(*store, "large").empty());
}

TEST_CASE("a limit is a number of bytes") {
  auto get = [](const char *text) -> std::string {
    setenv("TENON_CACHE_LIMIT", text, 1);
    llvm::Expected<uint64_t> limit = CacheStore::getDefaultLimit();
    unsetenv("TENON_CACHE_LIMIT");
    return limit ? std::to_string(*limit) : llvm::toString(limit.takeError());
  };
  CHECK(get("") == std::to_string(uint64_t(10) << 30));
  CHECK(get("0") == "0");
  CHECK(get("12345") == "12345");
  CHECK(get("3K") == "3072");
  CHECK(get("2g") == std::to_string(uint64_t(2) << 30));
  for (const char *bad : {"x", "G", "-1", "1.5G", "1GB", "99999999999999999999", "99999999999G"})
    CHECK(get(bad) == "TENON_CACHE_LIMIT: expected a number of bytes such as 2G, got '" + std::string(bad) + "'");
}

TEST_CASE("other files are refused as an index, and a damaged one never crashes the reader") {
  CacheScratch scratch;
  add(*scratch.open(), "one", "object");
  std::string index = scratch.getCache() + "/index.db";
  std::string good = (*llvm::MemoryBuffer::getFile(index))->getBuffer().str();
  std::mt19937 random(20261126);
  unsigned opened = 0;
  for (int i = 0; i < 300; ++i) {
    std::string bad = good;
    for (unsigned flips = 1 + random() % 20; flips > 0; --flips)
      bad[random() % bad.size()] = static_cast<char>(random());
    bad.resize(random() % 4 ? bad.size() : random() % bad.size());
    fs::remove(index + "-wal");
    fs::remove(index + "-shm");
    write(index, bad);
    llvm::Expected<std::unique_ptr<CacheStore>> store = CacheStore::open(scratch.getCache());
    if (!store) {
      llvm::consumeError(store.takeError());
      continue;
    }
    ++opened;
    llvm::Expected<std::optional<CacheStore::Hit>> hit = (*store)->find(CacheKind::kernel, makeEntry("one").key);
    if (hit && *hit)
      CHECK((*hit)->content->getBuffer() == "object");
    llvm::consumeError(hit.takeError());
    llvm::consumeError(tryAdd(**store, "one", "object"));
  }
  CHECK(opened > 50);
  fs::remove(index + "-wal");
  fs::remove(index + "-shm");
  write(index, "this is no database, but a text of some length that somebody has put here instead of one");
  llvm::Expected<std::unique_ptr<CacheStore>> store = CacheStore::open(scratch.getCache());
  REQUIRE(!store);
  CHECK_THAT(llvm::toString(store.takeError()), Catch::Contains("index.db"));
}

TEST_CASE("processes that make a cache at the same time all open it") {
  for (int round = 0; round < 20; ++round) {
    CacheScratch scratch;
    std::vector<pid_t> children;
    for (int process = 0; process < 6; ++process) {
      pid_t child = fork();
      REQUIRE(child >= 0);
      if (child == 0) {
        llvm::Expected<std::unique_ptr<CacheStore>> store = CacheStore::open(scratch.getCache());
        if (!store)
          llvm::errs() << llvm::toString(store.takeError()) << '\n';
        _exit(store ? 0 : 1);
      }
      children.push_back(child);
    }
    for (pid_t child : children) {
      int status = -1;
      waitpid(child, &status, 0);
      CHECK(status == 0);
    }
  }
}

TEST_CASE("several processes add and find at the same time") {
  CacheScratch scratch;
  constexpr int kProcesses = 4, kEntries = 40;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      llvm::Expected<std::unique_ptr<CacheStore>> store = CacheStore::open(scratch.getCache());
      if (!store)
        _exit(1);
      // All of them add the same names, in another order each.
      for (int i = 0; i < kEntries; ++i) {
        std::string name = std::to_string((i * 7 + process * 11) % kEntries);
        llvm::Expected<std::optional<CacheStore::Hit>> hit = (*store)->find(CacheKind::kernel, makeEntry(name).key);
        if (!hit || (*hit && (*hit)->content->getBuffer() != "content " + name))
          _exit(2);
        if (!*hit && tryAdd(**store, name, "content " + name))
          _exit(3);
      }
      _exit((*store)->getDamaged() ? 4 : 0);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  std::unique_ptr<CacheStore> store = scratch.open();
  CHECK(listAll(*store).size() == kEntries);
  CHECK(countFiles(scratch.getCache() + "/objects") == kEntries);
  CHECK(takeValue(store->verify(/*removes=*/false)).empty());
}
