//===- ProfileStore.cpp - records of real runs, in a file ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/profiles/ProfileStore.h"
#include "compiler/errors/CompileError.h"
#include "compiler/sqlite/Database.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <sqlite3.h>

using namespace tenon;

static constexpr char kSchema[] = R"(
CREATE TABLE hardware (
  id INTEGER PRIMARY KEY,
  fingerprint TEXT NOT NULL UNIQUE,
  cpu TEXT NOT NULL, features TEXT NOT NULL, cores INTEGER NOT NULL,
  l1_bytes INTEGER NOT NULL, l2_bytes INTEGER NOT NULL, llc_bytes INTEGER NOT NULL,
  os TEXT NOT NULL, governor TEXT NOT NULL
) STRICT;
CREATE TABLE kernels (
  id INTEGER PRIMARY KEY,
  region_fingerprint TEXT NOT NULL, schedule TEXT NOT NULL, compiler TEXT NOT NULL,
  region TEXT NOT NULL,
  UNIQUE (region_fingerprint, schedule, compiler)
) STRICT;
CREATE TABLE records (
  id INTEGER PRIMARY KEY,
  kernel INTEGER NOT NULL REFERENCES kernels (id),
  hardware INTEGER NOT NULL REFERENCES hardware (id),
  threads INTEGER NOT NULL, runs INTEGER NOT NULL,
  min_ns REAL NOT NULL, median_ns REAL NOT NULL, p95_ns REAL NOT NULL, spread REAL NOT NULL,
  error REAL, error_reference TEXT NOT NULL,
  warm INTEGER NOT NULL, time INTEGER NOT NULL, origin TEXT NOT NULL
) STRICT;
CREATE INDEX records_of_kernel ON records (kernel, hardware, threads);
)";

/// The number says "Tenn".
static constexpr Database::Format kFormat = {"profile database", 1, 0x54656e6e, kSchema};

static constexpr char kSelect[] =
    "SELECT r.id, k.region, k.schedule, k.compiler, h.cpu, h.features, h.cores, h.l1_bytes, h.l2_bytes, h.llc_bytes, "
    "h.os, h.governor, r.threads, r.runs, r.min_ns, r.median_ns, r.p95_ns, r.spread, r.error, r.error_reference, "
    "r.warm, "
    "r.time, r.origin FROM records r JOIN kernels k ON k.id = r.kernel JOIN hardware h ON h.id = r.hardware ";

static ProfileStore::Entry takeEntry(Statement &row) {
  ProfileStore::Entry entry{row.takeInteger(), {}};
  ProfileRecord &record = entry.record;
  record.kernel = {row.takeText(), row.takeText(), row.takeText()};
  Hardware &hardware = record.hardware;
  hardware.cpu = row.takeText();
  hardware.features = row.takeText();
  hardware.cores = row.takeInteger();
  hardware.l1Bytes = row.takeInteger();
  hardware.l2Bytes = row.takeInteger();
  hardware.llcBytes = row.takeInteger();
  hardware.os = row.takeText();
  hardware.governor = row.takeText();
  record.threads = row.takeInteger();
  record.runs = row.takeInteger();
  record.min = row.takeNumber();
  record.median = row.takeNumber();
  record.p95 = row.takeNumber();
  record.spread = row.takeNumber();
  record.error = row.takeOptional();
  record.errorReference = row.takeText();
  record.isWarm = row.takeInteger() != 0;
  record.time = row.takeInteger();
  record.origin = row.takeText();
  return entry;
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

std::string ProfileStore::getDefaultFile() {
  if (const char *own = std::getenv("TENON_PROFILES"); own && *own)
    return own;
  llvm::SmallString<128> file;
  if (const char *data = std::getenv("XDG_DATA_HOME"); data && *data)
    file = data;
  else if (llvm::sys::path::home_directory(file))
    llvm::sys::path::append(file, ".local", "share");
  else
    return "";
  // Without a home folder, the path would be relative to the current folder.
  if (!llvm::sys::path::is_absolute(file))
    return "";
  llvm::sys::path::append(file, "tenon", "profiles.db");
  return file.str().str();
}

llvm::Expected<std::unique_ptr<ProfileStore>> ProfileStore::open(const std::string &file, Access access) {
  llvm::Expected<std::unique_ptr<Database>> database = Database::open(file, access, kFormat);
  if (!database)
    return database.takeError();
  return std::unique_ptr<ProfileStore>(new ProfileStore(std::move(*database)));
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

llvm::Expected<int64_t> ProfileStore::getRow(const char *insert, const char *select, llvm::ArrayRef<std::string> texts,
                                             llvm::ArrayRef<int64_t> numbers) {
  Statement inserts = database->prepare(insert), selects = database->prepare(select);
  if (!inserts.isPrepared() || !selects.isPrepared())
    return database->makeFault("the profile database has other tables");
  for (const std::string &text : texts)
    inserts.bind(text);
  for (int64_t number : numbers)
    inserts.bind(number);
  if (inserts.step() != SQLITE_DONE)
    return database->makeFault("a record cannot be written");
  for (const std::string &text : texts.take_front(3))
    selects.bind(text);
  if (selects.step() != SQLITE_ROW)
    return database->makeFault("a record cannot be written");
  return selects.takeInteger();
}

llvm::Error ProfileStore::addAll(llvm::ArrayRef<ProfileRecord> records) {
  for (const ProfileRecord &record : records) {
    assert(!llvm::errorToBool(checkRecord(record)) && "records are checked before they are added");
    const KernelVariant &kernel = record.kernel;
    const Hardware &hardware = record.hardware;
    llvm::Expected<int64_t> kernelRow =
        getRow("INSERT OR IGNORE INTO kernels (region_fingerprint, schedule, compiler, region) VALUES (?, ?, ?, ?)",
               "SELECT id FROM kernels WHERE region_fingerprint = ? AND schedule = ? AND compiler = ?",
               {kernel.getRegionFingerprint(), kernel.schedule, kernel.compiler, kernel.region}, {});
    if (!kernelRow)
      return kernelRow.takeError();
    llvm::Expected<int64_t> hardwareRow =
        getRow("INSERT OR IGNORE INTO hardware (fingerprint, cpu, features, os, governor, cores, l1_bytes, l2_bytes, "
               "llc_bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
               "SELECT id FROM hardware WHERE fingerprint = ? AND cpu = ? AND features = ?",
               {hardware.getFingerprint(), hardware.cpu, hardware.features, hardware.os, hardware.governor},
               {hardware.cores, hardware.l1Bytes, hardware.l2Bytes, hardware.llcBytes});
    if (!hardwareRow)
      return hardwareRow.takeError();
    Statement insert =
        database->prepare("INSERT INTO records (kernel, hardware, threads, runs, min_ns, median_ns, p95_ns, spread, "
                          "error, error_reference, warm, time, origin) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    if (!insert.isPrepared())
      return database->makeFault("the profile database has other tables");
    insert.bind(*kernelRow).bind(*hardwareRow).bind(record.threads).bind(record.runs).bind(record.min);
    insert.bind(record.median).bind(record.p95).bind(record.spread).bind(record.error).bind(record.errorReference);
    insert.bind(int64_t(record.isWarm)).bind(record.time).bind(record.origin);
    if (insert.step() != SQLITE_DONE)
      return database->makeFault("a record cannot be written");
  }
  return llvm::Error::success();
}

llvm::Error ProfileStore::add(llvm::ArrayRef<ProfileRecord> records) {
  return database->transact([&] { return addAll(records); });
}

llvm::Error ProfileStore::visit(const Filter &filter, llvm::function_ref<bool(const Entry &)> visit) const {
  std::string sql = kSelect;
  std::vector<std::string> texts;
  auto add = [&](const char *condition, const std::string &text) {
    if (text.empty())
      return;
    sql += (texts.empty() ? "WHERE " : "AND ") + std::string(condition) + " ";
    texts.push_back(text);
  };
  add("substr(k.region_fingerprint, 1, length(?)) = ?", filter.region);
  if (!filter.region.empty())
    texts.push_back(filter.region);
  add("substr(h.fingerprint, 1, length(?)) = ?", filter.hardware);
  if (!filter.hardware.empty())
    texts.push_back(filter.hardware);
  add("k.schedule = ?", filter.schedule);
  add("k.compiler = ?", filter.compiler);
  if (filter.threads)
    sql += (texts.empty() ? "WHERE r.threads = " : "AND r.threads = ") + std::to_string(filter.threads) + " ";
  sql += "ORDER BY k.region_fingerprint, h.fingerprint, r.threads, r.median_ns, r.id";
  Statement rows = database->prepare(sql);
  if (!rows.isPrepared())
    return database->makeFault("the profile database has other tables");
  for (const std::string &text : texts)
    rows.bind(text);
  int status;
  while ((status = rows.step()) == SQLITE_ROW)
    if (!visit(takeEntry(rows)))
      return llvm::Error::success();
  return status == SQLITE_DONE ? llvm::Error::success() : database->makeFault("the profile database cannot be read");
}

llvm::Expected<std::vector<ProfileStore::Entry>> ProfileStore::list(const Filter &filter) const {
  std::vector<Entry> entries;
  if (llvm::Error error = visit(filter, [&](const Entry &entry) {
        entries.push_back(entry);
        return true;
      }))
    return error;
  return entries;
}

llvm::Expected<std::optional<ProfileStore::Entry>> ProfileStore::find(int64_t id) const {
  Statement row = database->prepare(std::string(kSelect) + "WHERE r.id = ?");
  if (!row.isPrepared())
    return database->makeFault("the profile database has other tables");
  row.bind(id);
  int status = row.step();
  if (status == SQLITE_ROW)
    return takeEntry(row);
  return status == SQLITE_DONE ? llvm::Expected<std::optional<Entry>>(std::nullopt)
                               : database->makeFault("the profile database cannot be read");
}

llvm::Expected<int64_t> ProfileStore::prune(int64_t time, int64_t keep) {
  int64_t removed = 0;
  llvm::Error error = database->transact([&] {
    Statement old = database->prepare("DELETE FROM records WHERE time < ?"),
              surplus = database->prepare(
                  "DELETE FROM records WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY kernel, "
                  "hardware, threads, warm ORDER BY time DESC, id DESC) AS place FROM records) WHERE place > ?)");
    bool isGood = old.isPrepared() && surplus.isPrepared() && old.bind(time).step() == SQLITE_DONE;
    removed += isGood ? database->getChanges() : 0;
    if (isGood && keep > 0) {
      isGood = surplus.bind(keep).step() == SQLITE_DONE;
      removed += isGood ? database->getChanges() : 0;
    }
    return isGood ? database->execute("DELETE FROM kernels WHERE id NOT IN (SELECT kernel FROM records); DELETE FROM "
                                      "hardware WHERE id NOT IN (SELECT hardware FROM records)")
                  : database->makeFault("records cannot be removed");
  });
  if (error)
    return error;
  return removed;
}

llvm::Expected<std::vector<std::string>> ProfileStore::verify() const {
  std::vector<std::string> faults = database->checkPages();
  if (llvm::Error error = visit({}, [&](const Entry &entry) {
        if (llvm::Error fault = checkRecord(entry.record))
          faults.push_back("record " + std::to_string(entry.id) + ": " + llvm::toString(std::move(fault)));
        return true;
      })) {
    std::string message;
    takeError(std::move(error), message);
    faults.push_back(message);
  }
  return faults;
}

llvm::Expected<ImportedProfiles> tenon::importProfiles(ProfileStore &store, llvm::StringRef text) {
  ImportedProfiles result;
  std::vector<ProfileRecord> records;
  forEachJsonLine(text, [&](size_t line, llvm::Expected<ProfileRecord> record) {
    if (record) {
      records.push_back(std::move(*record));
      return;
    }
    std::string fault = llvm::toString(record.takeError());
    if (result.skipped++ == 0)
      result.firstFault = "line " + std::to_string(line) + ": " + fault;
  });
  if (llvm::Error error = store.add(records))
    return error;
  result.added = records.size();
  return result;
}
