//===- ProfileStore.cpp - records of real runs, in a file ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/profiles/ProfileStore.h"
#include "compiler/errors/CompileError.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <sqlite3.h>

using namespace tenon;

/// Of the tables. A file of a newer one is refused.
static constexpr int kSchemaVersion = 1;
/// "Tenn", so that the file command and SQLite's own tools know whose file it is.
static constexpr int kApplicationId = 0x54656e6e;

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

static constexpr char kSelect[] =
    "SELECT r.id, k.region, k.schedule, k.compiler, h.cpu, h.features, h.cores, h.l1_bytes, h.l2_bytes, h.llc_bytes, "
    "h.os, h.governor, r.threads, r.runs, r.min_ns, r.median_ns, r.p95_ns, r.spread, r.error, r.error_reference, "
    "r.warm, "
    "r.time, r.origin FROM records r JOIN kernels k ON k.id = r.kernel JOIN hardware h ON h.id = r.hardware ";

namespace {
/// A prepared statement, with values bound in order.
class Statement {
public:
  Statement(sqlite3 *database, const std::string &sql) {
    status = sqlite3_prepare_v2(database, sql.c_str(), static_cast<int>(sql.size()), &statement, nullptr);
  }
  ~Statement() { sqlite3_finalize(statement); }
  Statement(const Statement &) = delete;

  bool isPrepared() const { return status == SQLITE_OK; }
  Statement &bind(const std::string &text) {
    sqlite3_bind_text(statement, ++bound, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
    return *this;
  }
  Statement &bind(int64_t number) {
    sqlite3_bind_int64(statement, ++bound, number);
    return *this;
  }
  Statement &bind(double number) {
    sqlite3_bind_double(statement, ++bound, number);
    return *this;
  }
  Statement &bind(std::optional<double> number) {
    if (number)
      return bind(*number);
    sqlite3_bind_null(statement, ++bound);
    return *this;
  }
  int step() { return sqlite3_step(statement); }

  std::string takeText() {
    const void *text = sqlite3_column_blob(statement, column);
    return std::string(static_cast<const char *>(text), sqlite3_column_bytes(statement, column++));
  }
  int64_t takeInteger() { return sqlite3_column_int64(statement, column++); }
  double takeNumber() { return sqlite3_column_double(statement, column++); }
  std::optional<double> takeOptional() {
    bool isNull = sqlite3_column_type(statement, column) == SQLITE_NULL;
    double number = takeNumber();
    return isNull ? std::nullopt : std::optional(number);
  }
  void beginRow() { column = 0; }

private:
  sqlite3_stmt *statement = nullptr;
  int status, bound = 0, column = 0;
};
} // namespace

static ProfileStore::Entry takeEntry(Statement &row) {
  row.beginRow();
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
  // Without a home, the place would be below the current folder.
  if (!llvm::sys::path::is_absolute(file))
    return "";
  llvm::sys::path::append(file, "tenon", "profiles.db");
  return file.str().str();
}

llvm::Error ProfileStore::makeFault(const char *what) const {
  int code = sqlite3_errcode(database);
  bool isFull = code == SQLITE_FULL || code == SQLITE_NOMEM || code == SQLITE_IOERR || code == SQLITE_BUSY;
  return makeError(isFull ? CompileStatus::resources : CompileStatus::invalid,
                   file + ": " + what + ": " + sqlite3_errmsg(database));
}

llvm::Error ProfileStore::execute(const char *sql) const {
  if (sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK)
    return llvm::Error::success();
  return makeFault("the profile database cannot be used");
}

llvm::Expected<std::unique_ptr<ProfileStore>> ProfileStore::open(const std::string &file, Access access) {
  if (access == Access::read && !llvm::sys::fs::exists(file))
    return makeError(CompileStatus::invalid, file + ": No such file or directory");
  if (llvm::StringRef folder = llvm::sys::path::parent_path(file); access == Access::write && !folder.empty())
    if (std::error_code error = llvm::sys::fs::create_directories(folder))
      return makeError(CompileStatus::resources, file + ": its folder cannot be made: " + error.message());
  int flags = access == Access::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3 *database = nullptr;
  int status = sqlite3_open_v2(file.c_str(), &database, flags, nullptr);
  std::unique_ptr<ProfileStore> store(new ProfileStore(database, file));
  if (status != SQLITE_OK)
    return store->makeFault("the profile database cannot be opened");
  // Another process writes for milliseconds.
  constexpr int kPatience = 10'000;
  sqlite3_busy_timeout(database, kPatience);
  // The file may be hostile: its schema cannot call functions, and corrupt pages are errors.
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  if (llvm::Error error = store->prepareTables(access))
    return error;
  return store;
}

ProfileStore::~ProfileStore() { sqlite3_close(database); }

static int64_t getPragma(sqlite3 *database, const char *pragma) {
  Statement statement(database, std::string("PRAGMA ") + pragma);
  return statement.isPrepared() && statement.step() == SQLITE_ROW ? (statement.beginRow(), statement.takeInteger())
                                                                  : -1;
}

llvm::Error ProfileStore::prepareTables(Access access) {
  if (access == Access::write)
    if (llvm::Error error = execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE"))
      return error;
  int64_t version = getPragma(database, "user_version"), owner = getPragma(database, "application_id");
  if (version < 0)
    return makeFault("this is no profile database");
  bool isNew = version == 0 && owner == 0 && access == Access::write && getPragma(database, "page_count") <= 1;
  if (isNew) {
    if (llvm::Error error = execute(kSchema))
      return error;
    std::string mark = "PRAGMA user_version = " + std::to_string(kSchemaVersion) +
                       "; PRAGMA application_id = " + std::to_string(kApplicationId);
    if (llvm::Error error = execute(mark.c_str()))
      return error;
  } else if (owner != kApplicationId || version == 0) {
    return makeError(CompileStatus::invalid, file + ": this is no profile database");
  } else if (version > kSchemaVersion) {
    return makeError(CompileStatus::unsupported, file + ": its version is " + std::to_string(version) +
                                                     ", this compiler knows versions up to " +
                                                     std::to_string(kSchemaVersion));
  }
  return access == Access::write ? execute("COMMIT; PRAGMA foreign_keys = ON") : llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

llvm::Expected<int64_t> ProfileStore::getRow(const char *insert, const char *select, llvm::ArrayRef<std::string> texts,
                                             llvm::ArrayRef<int64_t> numbers) {
  Statement inserts(database, insert), selects(database, select);
  if (!inserts.isPrepared() || !selects.isPrepared())
    return makeFault("the profile database has other tables");
  for (const std::string &text : texts)
    inserts.bind(text);
  for (int64_t number : numbers)
    inserts.bind(number);
  if (inserts.step() != SQLITE_DONE)
    return makeFault("a record cannot be written");
  for (const std::string &text : texts.take_front(3))
    selects.bind(text);
  if (selects.step() != SQLITE_ROW)
    return makeFault("a record cannot be written");
  return selects.takeInteger();
}

llvm::Error ProfileStore::addAll(llvm::ArrayRef<ProfileRecord> records) {
  for (const ProfileRecord &record : records) {
    assert(findFault(record).empty() && "records are checked before they are added");
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
    Statement insert(database,
                     "INSERT INTO records (kernel, hardware, threads, runs, min_ns, median_ns, p95_ns, spread, "
                     "error, error_reference, warm, time, origin) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    if (!insert.isPrepared())
      return makeFault("the profile database has other tables");
    insert.bind(*kernelRow).bind(*hardwareRow).bind(record.threads).bind(record.runs).bind(record.min);
    insert.bind(record.median).bind(record.p95).bind(record.spread).bind(record.error).bind(record.errorReference);
    insert.bind(int64_t(record.isWarm)).bind(record.time).bind(record.origin);
    if (insert.step() != SQLITE_DONE)
      return makeFault("a record cannot be written");
  }
  return llvm::Error::success();
}

llvm::Error ProfileStore::add(llvm::ArrayRef<ProfileRecord> records) {
  if (llvm::Error error = execute("BEGIN IMMEDIATE"))
    return error;
  llvm::Error error = addAll(records);
  if (!error)
    return execute("COMMIT");
  llvm::consumeError(execute("ROLLBACK"));
  return error;
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
  Statement rows(database, sql);
  if (!rows.isPrepared())
    return makeFault("the profile database has other tables");
  for (const std::string &text : texts)
    rows.bind(text);
  int status;
  while ((status = rows.step()) == SQLITE_ROW)
    if (!visit(takeEntry(rows)))
      return llvm::Error::success();
  return status == SQLITE_DONE ? llvm::Error::success() : makeFault("the profile database cannot be read");
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
  Statement row(database, std::string(kSelect) + "WHERE r.id = ?");
  if (!row.isPrepared())
    return makeFault("the profile database has other tables");
  row.bind(id);
  int status = row.step();
  if (status == SQLITE_ROW)
    return takeEntry(row);
  return status == SQLITE_DONE ? llvm::Expected<std::optional<Entry>>(std::nullopt)
                               : makeFault("the profile database cannot be read");
}

llvm::Expected<int64_t> ProfileStore::prune(int64_t time, int64_t keep) {
  if (llvm::Error error = execute("BEGIN IMMEDIATE"))
    return error;
  Statement old(database, "DELETE FROM records WHERE time < ?"),
      surplus(database,
              "DELETE FROM records WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY "
              "kernel, hardware, threads, warm ORDER BY time DESC, id DESC) AS place FROM records) WHERE place > ?)");
  int64_t removed = 0;
  bool isGood = old.isPrepared() && surplus.isPrepared() && old.bind(time).step() == SQLITE_DONE;
  removed += isGood ? sqlite3_changes64(database) : 0;
  if (isGood && keep > 0) {
    isGood = surplus.bind(keep).step() == SQLITE_DONE;
    removed += isGood ? sqlite3_changes64(database) : 0;
  }
  llvm::Error error = isGood ? execute("DELETE FROM kernels WHERE id NOT IN (SELECT kernel FROM records); DELETE FROM "
                                       "hardware WHERE id NOT IN (SELECT hardware FROM records); COMMIT")
                             : makeFault("records cannot be removed");
  if (!error)
    return removed;
  llvm::consumeError(execute("ROLLBACK"));
  return error;
}

llvm::Expected<std::vector<std::string>> ProfileStore::verify() const {
  std::vector<std::string> faults;
  Statement check(database, "PRAGMA integrity_check");
  while (check.isPrepared() && check.step() == SQLITE_ROW) {
    check.beginRow();
    if (std::string line = check.takeText(); line != "ok")
      faults.push_back(line);
  }
  if (llvm::Error error = visit({}, [&](const Entry &entry) {
        if (std::string fault = findFault(entry.record); !fault.empty())
          faults.push_back("record " + std::to_string(entry.id) + ": " + fault);
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
  for (size_t number = 1; !text.empty(); ++number) {
    llvm::StringRef line;
    std::tie(line, text) = text.split('\n');
    if (line.trim().empty())
      continue;
    std::string fault;
    if (std::optional<ProfileRecord> record = parseJsonLine(line, fault)) {
      records.push_back(std::move(*record));
      continue;
    }
    if (result.skipped++ == 0)
      result.firstFault = "line " + std::to_string(number) + ": " + fault;
  }
  if (llvm::Error error = store.add(records))
    return error;
  result.added = records.size();
  return result;
}
