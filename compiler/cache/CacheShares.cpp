//===- CacheShares.cpp - entries that other machines may have -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/cache/CacheShares.h"
#include "compiler/cache/CacheColumns.h"
#include <sqlite3.h>

using namespace tenon;

/// A signature covers the content that the entry had when it was signed, which the seal identifies.
static constexpr char kTables[] = R"(
CREATE TABLE IF NOT EXISTS shares (
  entry INTEGER NOT NULL REFERENCES entries (id) ON DELETE CASCADE,
  entry_seal TEXT NOT NULL,
  namespace TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL,
  manifest TEXT NOT NULL, signer TEXT NOT NULL, signature TEXT NOT NULL,
  UNIQUE (namespace, kind, key)
) STRICT;
CREATE INDEX IF NOT EXISTS shares_of_entry ON shares (entry);
CREATE TABLE IF NOT EXISTS quarantine (
  id INTEGER PRIMARY KEY,
  time INTEGER NOT NULL, source TEXT NOT NULL, namespace TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL,
  signer TEXT NOT NULL, reason TEXT NOT NULL,
  UNIQUE (source, namespace, kind, key)
) STRICT;
)";

llvm::Error CacheShares::prepare(Database &database) {
  // Most indices have the tables, and this test takes no lock.
  if (database.prepare("SELECT 1 FROM quarantine LIMIT 1").isPrepared())
    return llvm::Error::success();
  return database.transact([&] { return database.execute(kTables); });
}

llvm::Error CacheShares::add(Database &database, const CacheEntry &entry, const SignedEntry &share) {
  Statement insert = database.prepare(
      "INSERT OR REPLACE INTO shares (entry, entry_seal, namespace, kind, key, manifest, signer, signature) "
      "SELECT id, seal, ?, ?, ?, ?, ?, ? FROM entries WHERE kind = ? AND key = ?");
  if (!insert.isPrepared())
    return database.makeFault("the index has other tables");
  insert.bind(share.nameSpace).bind(getName(share.kind).str()).bind(share.key).bind(share.manifest);
  insert.bind(share.signer).bind(share.signature).bind(getName(entry.kind).str()).bind(entry.key);
  return insert.step() == SQLITE_DONE ? llvm::Error::success() : database.makeFault("a signature cannot be added");
}

static constexpr char kShareColumns[] = "s.namespace, s.kind, s.key, s.manifest, s.signer, s.signature";

static SignedEntry takeShare(Statement &row) {
  SignedEntry share;
  share.nameSpace = row.takeText();
  share.kind = getCacheKind(row.takeText()).value_or(CacheKind::kernel);
  share.key = row.takeText();
  share.manifest = row.takeText();
  share.signer = row.takeText();
  share.signature = row.takeText();
  return share;
}

llvm::Expected<std::optional<CacheShares::Found>> CacheShares::find(llvm::StringRef nameSpace, CacheKind kind,
                                                                    llvm::StringRef key) const {
  Statement row = database.prepare("SELECT " + std::string(kShareColumns) + ", " + kEntryColumns +
                                   " FROM shares s JOIN entries e ON e.id = s.entry AND e.seal = s.entry_seal "
                                   "WHERE s.namespace = ? AND s.kind = ? AND s.key = ?");
  // An index of an earlier version in a read-only folder has no signatures.
  if (!row.isPrepared())
    return std::nullopt;
  int status = row.bind(nameSpace.str()).bind(getName(kind).str()).bind(key.str()).step();
  if (status == SQLITE_DONE)
    return std::nullopt;
  if (status != SQLITE_ROW)
    return database.makeFault("the index cannot be read");
  Found found;
  found.share = takeShare(row);
  if (!takeColumns(row, found.entry) || !isFingerprint(found.entry.seal))
    return std::nullopt;
  return found;
}

llvm::Error CacheShares::visit(llvm::StringRef nameSpace, llvm::function_ref<bool(const SignedEntry &)> visit) const {
  Statement rows = database.prepare("SELECT " + std::string(kShareColumns) +
                                    " FROM shares s JOIN entries e ON e.id = s.entry AND e.seal = s.entry_seal "
                                    "WHERE s.namespace = ? ORDER BY s.kind, s.key");
  if (!rows.isPrepared())
    return llvm::Error::success();
  rows.bind(nameSpace.str());
  int status;
  while ((status = rows.step()) == SQLITE_ROW)
    if (!visit(takeShare(rows)))
      return llvm::Error::success();
  return status == SQLITE_DONE ? llvm::Error::success() : database.makeFault("the index cannot be read");
}

llvm::Expected<std::vector<CacheEntry>> CacheShares::listFetched(llvm::StringRef signer) const {
  std::vector<CacheEntry> entries;
  Statement rows = database.prepare("SELECT DISTINCT " + std::string(kEntryColumns) +
                                    " FROM entries e JOIN shares s ON s.entry = e.id WHERE s.signer = ? AND e.origin = "
                                    "'fetched'");
  if (!rows.isPrepared())
    return entries;
  rows.bind(signer.str());
  int status;
  while ((status = rows.step()) == SQLITE_ROW) {
    CacheEntry entry;
    if (takeColumns(rows, entry) && isFingerprint(entry.seal))
      entries.push_back(std::move(entry));
  }
  if (status != SQLITE_DONE)
    return database.makeFault("the index cannot be read");
  return entries;
}

//===----------------------------------------------------------------------===//
// Quarantine
//===----------------------------------------------------------------------===//

llvm::Error CacheShares::quarantine(const QuarantinedEntry &entry) const {
  // A hostile cache shall not fill the disk.
  constexpr int64_t kMaxEntries = 1000;
  return database.transact([&]() -> llvm::Error {
    Statement insert = database.prepare("INSERT OR REPLACE INTO quarantine (time, source, namespace, kind, key, "
                                        "signer, reason) VALUES (?, ?, ?, ?, ?, ?, ?)"),
              trim = database.prepare("DELETE FROM quarantine WHERE id NOT IN (SELECT id FROM quarantine ORDER BY id "
                                      "DESC LIMIT ?)");
    if (!insert.isPrepared() || !trim.isPrepared())
      return database.makeFault("the index has other tables");
    insert.bind(entry.time).bind(entry.source).bind(entry.nameSpace).bind(entry.kind).bind(entry.key);
    if (insert.bind(entry.signer).bind(entry.reason).step() != SQLITE_DONE ||
        trim.bind(kMaxEntries).step() != SQLITE_DONE)
      return database.makeFault("a refused entry cannot be noted");
    return llvm::Error::success();
  });
}

llvm::Expected<std::vector<QuarantinedEntry>> CacheShares::listQuarantine() const {
  std::vector<QuarantinedEntry> entries;
  Statement rows =
      database.prepare("SELECT time, source, namespace, kind, key, signer, reason FROM quarantine ORDER BY id DESC");
  if (!rows.isPrepared())
    return entries;
  int status;
  while ((status = rows.step()) == SQLITE_ROW) {
    QuarantinedEntry entry;
    entry.time = rows.takeInteger();
    for (std::string *text : {&entry.source, &entry.nameSpace, &entry.kind, &entry.key, &entry.signer, &entry.reason})
      *text = rows.takeText();
    entries.push_back(std::move(entry));
  }
  if (status != SQLITE_DONE)
    return database.makeFault("the index cannot be read");
  return entries;
}

llvm::Error CacheShares::clearQuarantine() const {
  return database.transact([&] { return database.execute("DELETE FROM quarantine"); });
}
