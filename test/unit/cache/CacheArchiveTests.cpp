//===- CacheArchiveTests.cpp - entries from cache to cache ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/cache/CacheArchive.h"
#include "compiler/errors/CompileError.h"
#include "test/unit/cache/CacheScratch.h"
#include <random>
#include <sqlite3.h>

using namespace tenon;
namespace fs = llvm::sys::fs;

/// Changes an export as a stranger may.
static void change(const std::string &file, const char *sql) {
  sqlite3 *database = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &database) == SQLITE_OK);
  CHECK(sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(database);
}

TEST_CASE("an export is imported with contents and uses") {
  CacheScratch from, to;
  std::string file = from.folder + "/export", large(40 << 20, 'l');
  std::unique_ptr<CacheStore> source = from.open(), target = to.open();
  add(*source, "one", "object");
  add(*source, "large", large, CacheKind::artifact);
  CHECK(takeValue(exportCache(*source, {}, file)).moved == 2);
  CHECK(countFiles(from.folder) - countFiles(from.getCache()) == 1);
  CacheTransfer transfer = takeValue(importCache(*target, file));
  CHECK(transfer.moved == 2);
  CHECK(transfer.skipped == 0);
  CHECK(findContent(*target, "one") == "object");
  CHECK(findContent(*target, "large", CacheKind::artifact) == large);
  unsigned count = 0;
  REQUIRE(!target->visit({}, [&](const CacheEntry &entry) {
    ++count;
    CHECK(entry.origin == "imported");
    REQUIRE(entry.uses.size() == 1);
    CHECK(entry.uses[0].node == (entry.kind == CacheKind::kernel ? "one" : "large"));
    return true;
  }));
  CHECK(count == 2);
  CHECK(takeValue(target->verify(/*removes=*/false)).empty());
  CHECK(countFiles(to.getCache() + "/tmp") == 0);
}

TEST_CASE("an import keeps what the cache has") {
  CacheScratch from, to;
  std::string file = from.folder + "/export";
  std::unique_ptr<CacheStore> source = from.open(), target = to.open();
  add(*source, "one", "theirs");
  add(*target, "one", "ours");
  takeValue(exportCache(*source, {}, file));
  CacheTransfer transfer = takeValue(importCache(*target, file));
  CHECK(transfer.moved == 0);
  CHECK(transfer.known == 1);
  CHECK(findContent(*target, "one") == "ours");
}

TEST_CASE("an export has what the filter says, and nothing that is damaged") {
  CacheScratch scratch;
  std::string file = scratch.folder + "/export";
  std::unique_ptr<CacheStore> store = scratch.open();
  add(*store, "one", "object");
  add(*store, "two", "object");
  CacheStore::Filter filter;
  filter.node = "two";
  CHECK(takeValue(exportCache(*store, filter, file)).moved == 1);
  std::error_code error;
  llvm::raw_fd_ostream(takeValue(store->find(CacheKind::kernel, makeEntry("one").key))->path, error) << "OBJECT";
  CacheTransfer transfer = takeValue(exportCache(*store, {}, file));
  CHECK(transfer.moved == 1);
  CHECK(transfer.skipped == 1);
}

TEST_CASE("entries of a hostile export are skipped") {
  struct {
    const char *sql, *fault;
  } cases[] = {
      {"UPDATE chunks SET bytes = CAST('abject' AS BLOB)", "its content is damaged"},
      {"UPDATE chunks SET bytes = CAST('object and more' AS BLOB)", "its content is damaged"},
      {"DELETE FROM chunks", "its content is damaged"},
      {"INSERT INTO chunks VALUES (1, 1, CAST('object' AS BLOB))", "its content is damaged"},
      {"UPDATE entries SET key = replace(key, substr(key, 5, 1), 'a')", "its content is damaged"},
      {"UPDATE entries SET messages = 'tenon: error: wipe your disk'", "its content is damaged"},
      {"UPDATE entries SET seal = '../../../etc/passwd'", "its key or seal is no fingerprint"},
      {"UPDATE entries SET bytes = 1 << 62", "its size is not in range"},
      {"UPDATE entries SET bytes = -5", "its size is not in range"},
      {"UPDATE entries SET bytes = 1 << 40", "larger than the limit"},
      {"UPDATE entries SET kind = 'program'", "its kind is unknown"},
      {"UPDATE entries SET title = CAST(x'ff' AS TEXT)", "no UTF-8"},
      {"UPDATE uses SET node = hex(zeroblob(100000))", "too long"},
  };
  CacheScratch from;
  std::string file = from.folder + "/export";
  std::unique_ptr<CacheStore> source = from.open();
  add(*source, "one", "object");
  for (auto [sql, fault] : cases) {
    INFO(sql);
    CacheScratch to;
    std::unique_ptr<CacheStore> target = to.open();
    takeValue(exportCache(*source, {}, file));
    change(file, sql);
    CacheTransfer transfer = takeValue(importCache(*target, file));
    CHECK(transfer.moved == 0);
    CHECK(transfer.skipped == 1);
    CHECK_THAT(transfer.firstFault, Catch::Contains(fault));
    CHECK(countFiles(to.getCache() + "/objects") == 0);
    CHECK(countFiles(to.getCache() + "/tmp") == 0);
  }
}

TEST_CASE("what is no export is refused, and a damaged one never crashes the reader") {
  CacheScratch scratch;
  std::string file = scratch.folder + "/export";
  std::unique_ptr<CacheStore> store = scratch.open();
  auto getFailure = [&](const std::string &name) {
    llvm::Expected<CacheTransfer> transfer = importCache(*store, name);
    return transfer ? "" : llvm::toString(transfer.takeError());
  };
  CHECK_THAT(getFailure(scratch.folder + "/absent"), Catch::Contains("No such file"));
  CHECK_THAT(getFailure(scratch.getCache() + "/index.db"), Catch::Contains("this is no export of a cache"));
  add(*store, "one", "object");
  takeValue(exportCache(*store, {}, file));
  change(file, "DROP TABLE chunks; CREATE VIEW chunks AS SELECT 1 AS entry");
  CHECK_THAT(getFailure(file), Catch::Contains("the export has other tables"));
  takeValue(exportCache(*store, {}, file));
  std::string good = (*llvm::MemoryBuffer::getFile(file))->getBuffer().str();
  std::mt19937 random(20261126);
  CacheScratch to;
  std::unique_ptr<CacheStore> target = to.open();
  for (int i = 0; i < 300; ++i) {
    std::string bad = good;
    for (unsigned flips = 1 + random() % 20; flips > 0; --flips)
      bad[random() % bad.size()] = static_cast<char>(random());
    std::error_code error;
    llvm::raw_fd_ostream(file, error) << bad;
    llvm::Expected<CacheTransfer> transfer = importCache(*target, file);
    llvm::consumeError(transfer.takeError());
    std::string content = findContent(*target, "one");
    CHECK((content.empty() || content == "object"));
    takeValue(target->prune({}, INT64_MAX, UINT64_MAX));
  }
}
