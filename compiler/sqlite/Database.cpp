//===- Database.cpp - SQLite files that may be a stranger's ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/sqlite/Database.h"
#include "compiler/errors/CompileError.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <sqlite3.h>

using namespace tenon;

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

Statement::Statement(sqlite3 *database, const std::string &sql) {
  sqlite3_prepare_v2(database, sql.c_str(), static_cast<int>(sql.size()), &statement, nullptr);
}

Statement::~Statement() { sqlite3_finalize(statement); }

Statement &Statement::bind(const std::string &text) {
  sqlite3_bind_text64(statement, ++bound, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement &Statement::bind(int64_t number) {
  sqlite3_bind_int64(statement, ++bound, number);
  return *this;
}

Statement &Statement::bind(double number) {
  sqlite3_bind_double(statement, ++bound, number);
  return *this;
}

Statement &Statement::bind(std::optional<double> number) {
  if (number)
    return bind(*number);
  sqlite3_bind_null(statement, ++bound);
  return *this;
}

Statement &Statement::bindBytes(llvm::StringRef bytes) {
  sqlite3_bind_blob64(statement, ++bound, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
  return *this;
}

int Statement::step() {
  column = 0;
  return sqlite3_step(statement);
}

void Statement::reset() {
  sqlite3_reset(statement);
  bound = column = 0;
}

std::string Statement::takeText() {
  const void *text = sqlite3_column_blob(statement, column);
  return std::string(static_cast<const char *>(text), sqlite3_column_bytes(statement, column++));
}

int64_t Statement::takeInteger() { return sqlite3_column_int64(statement, column++); }

double Statement::takeNumber() { return sqlite3_column_double(statement, column++); }

std::optional<double> Statement::takeOptional() {
  bool isNull = sqlite3_column_type(statement, column) == SQLITE_NULL;
  double number = takeNumber();
  return isNull ? std::nullopt : std::optional(number);
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// The time in milliseconds to wait for another process that is writing.
static constexpr int kPatience = 10'000;

/// The URI of a file that SQLite takes no locks for.
static std::string getSnapshotUri(llvm::StringRef file) {
  std::string uri = "file:";
  for (char letter : file)
    if (llvm::isAlnum(letter) || llvm::StringRef("/._-").contains(letter))
      uri += letter;
    else
      uri += "%" + llvm::utohexstr(static_cast<unsigned char>(letter), /*LowerCase=*/true, 2);
  return uri + "?immutable=1";
}

llvm::Expected<std::unique_ptr<Database>> Database::open(const std::string &file, Access access, const Format &format) {
  if (access != Access::write && !llvm::sys::fs::exists(file))
    return makeError(CompileStatus::invalid, file + ": No such file or directory");
  if (llvm::StringRef folder = llvm::sys::path::parent_path(file); access == Access::write && !folder.empty())
    if (std::error_code error = llvm::sys::fs::create_directories(folder))
      return makeError(CompileStatus::resources, file + ": its folder cannot be made: " + error.message());
  int flags = access == Access::write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  std::string name = file;
  if (access == Access::snapshot) {
    name = getSnapshotUri(file);
    flags |= SQLITE_OPEN_URI;
  }
  sqlite3 *handle = nullptr;
  int status = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  std::unique_ptr<Database> database(new Database(handle, file, format));
  if (status != SQLITE_OK)
    return database->makeFault("the " + std::string(format.name) + " cannot be opened");
  sqlite3_busy_timeout(handle, kPatience);
  // The file may be hostile: its schema cannot call functions, and corrupt pages are errors.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  if (llvm::Error error = database->prepareTables(access))
    return error;
  return database;
}

Database::~Database() { sqlite3_close(handle); }

int64_t Database::getPragma(const char *name) const {
  Statement statement = prepare(std::string("PRAGMA ") + name);
  return statement.isPrepared() && statement.step() == SQLITE_ROW ? statement.takeInteger() : -1;
}

/// Enables write-ahead logging, which several processes may do at the same time when they create a file. SQLite does
/// not wait for the others in this case, because it must release a lock first.
llvm::Error Database::beginLogging() const {
  constexpr int kPause = 10;
  for (int waited = 0;; waited += kPause) {
    int status = sqlite3_exec(handle, "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
    if (status == SQLITE_OK)
      return execute("PRAGMA synchronous = NORMAL");
    if ((status != SQLITE_BUSY && status != SQLITE_LOCKED) || waited >= kPatience)
      return makeFault("the " + std::string(format.name) + " cannot be used");
    sqlite3_sleep(kPause);
  }
}

llvm::Error Database::prepareTables(Access access) const {
  if (access == Access::write) {
    if (llvm::Error error = beginLogging())
      return error;
    if (llvm::Error error = execute("BEGIN IMMEDIATE"))
      return error;
  }
  int64_t version = getPragma("user_version"), owner = getPragma("application_id");
  if (version < 0)
    return makeFault("this is no " + std::string(format.name));
  bool isNew = version == 0 && owner == 0 && access == Access::write && getPragma("page_count") <= 1;
  if (isNew) {
    if (llvm::Error error = execute(format.schema))
      return error;
    std::string mark = "PRAGMA user_version = " + std::to_string(format.version) +
                       "; PRAGMA application_id = " + std::to_string(format.application);
    if (llvm::Error error = execute(mark.c_str()))
      return error;
  } else if (owner != format.application || version == 0) {
    return makeError(CompileStatus::invalid, file + ": this is no " + format.name);
  } else if (version > format.version) {
    return makeError(CompileStatus::unsupported, file + ": its version is " + std::to_string(version) +
                                                     ", this compiler knows versions up to " +
                                                     std::to_string(format.version));
  }
  return access == Access::write ? execute("COMMIT; PRAGMA foreign_keys = ON") : llvm::Error::success();
}

int64_t Database::getChanges() const { return sqlite3_changes64(handle); }

llvm::Error Database::execute(const char *sql) const {
  if (sqlite3_exec(handle, sql, nullptr, nullptr, nullptr) == SQLITE_OK)
    return llvm::Error::success();
  return makeFault("the " + std::string(format.name) + " cannot be used");
}

llvm::Error Database::transact(llvm::function_ref<llvm::Error()> work) const {
  if (llvm::Error error = execute("BEGIN IMMEDIATE"))
    return error;
  llvm::Error error = work();
  if (!error)
    error = execute("COMMIT");
  if (error)
    llvm::consumeError(execute("ROLLBACK"));
  return error;
}

llvm::Error Database::makeFault(const std::string &what) const {
  int code = sqlite3_errcode(handle);
  bool isFull = code == SQLITE_FULL || code == SQLITE_NOMEM || code == SQLITE_IOERR || code == SQLITE_BUSY;
  return makeError(isFull ? CompileStatus::resources : CompileStatus::invalid,
                   file + ": " + what + ": " + sqlite3_errmsg(handle));
}

std::vector<std::string> Database::checkPages() const {
  std::vector<std::string> faults;
  Statement check = prepare("PRAGMA integrity_check");
  while (check.isPrepared() && check.step() == SQLITE_ROW)
    if (std::string line = check.takeText(); line != "ok")
      faults.push_back(line);
  return faults;
}
