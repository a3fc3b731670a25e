//===- Database.h - SQLite files that may be a stranger's -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One file with write-ahead logging: many processes may read and write it at the same time, and a process that is
// killed leaves what it had committed. The file may be hostile: its schema cannot call functions, and damaged pages are
// errors.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_SQLITE_DATABASE_H
#define TENON_COMPILER_SQLITE_DATABASE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace tenon {

/// A prepared statement, with values bound in order.
class Statement {
public:
  Statement(sqlite3 *database, const std::string &sql);
  ~Statement();
  Statement(const Statement &) = delete;

  /// Whether the statement is one for the tables that the file has.
  bool isPrepared() const { return statement != nullptr; }
  Statement &bind(const std::string &text);
  Statement &bind(int64_t number);
  Statement &bind(double number);
  Statement &bind(std::optional<double> number);
  Statement &bindBytes(llvm::StringRef bytes);
  /// Runs it to the next row, or to its end; the result code is SQLite's. Columns are read from the first one on.
  int step();
  /// Forgets values and rows, so that it can be run again.
  void reset();

  std::string takeText();
  int64_t takeInteger();
  double takeNumber();
  std::optional<double> takeOptional();

private:
  sqlite3_stmt *statement = nullptr;
  int bound = 0, column = 0;
};

class Database {
public:
  /// `snapshot` reads a file in a folder that nobody can write to, as it is.
  enum class Access { read, write, snapshot };

  /// What tells a file apart from others, and its tables.
  struct Format {
    const char *name; ///< "profile database", for messages
    int version;      ///< a file of a newer one is refused
    int application;  ///< so that the file command and SQLite's own tools know whose file it is
    const char *schema;
  };

  /// Opens a file, which is made with its folder if it is not there and `access` is to write. Fails if it is no file of
  /// that format, or of a newer version.
  static llvm::Expected<std::unique_ptr<Database>> open(const std::string &file, Access access, const Format &format);
  ~Database();
  Database(const Database &) = delete;

  const std::string &getFile() const { return file; }
  sqlite3 *get() const { return handle; }
  Statement prepare(const std::string &sql) const { return {handle, sql}; }
  /// How many rows the last statement changed.
  int64_t getChanges() const;

  llvm::Error execute(const char *sql) const;
  /// Runs `work` as one transaction that others see as a whole or not at all.
  llvm::Error transact(llvm::function_ref<llvm::Error()> work) const;
  /// The failure of the last call, which is of category `resources` where another attempt may succeed.
  llvm::Error makeFault(const std::string &what) const;
  /// What SQLite finds wrong with the file, a line each.
  std::vector<std::string> checkPages() const;

private:
  Database(sqlite3 *handle, std::string file, const Format &format)
      : handle(handle), file(std::move(file)), format(format) {}
  llvm::Error beginLogging() const;
  llvm::Error prepareTables(Access access) const;
  int64_t getPragma(const char *name) const;

  sqlite3 *handle;
  std::string file;
  Format format;
};

} // namespace tenon

#endif // TENON_COMPILER_SQLITE_DATABASE_H
