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

  /// True if the statement matches the tables of the file.
  bool isPrepared() const { return statement != nullptr; }
  Statement &bind(const std::string &text);
  Statement &bind(int64_t number);
  Statement &bind(double number);
  Statement &bind(std::optional<double> number);
  Statement &bindBytes(llvm::StringRef bytes);
  /// Steps to the next row, or to the end; returns SQLite's result code. Columns are read from the first one on.
  int step();
  /// Resets values and rows, so that the statement can run again.
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
  /// `snapshot` reads a file in a read-only folder as it is.
  enum class Access { read, write, snapshot };

  /// The identity of a file format, and its tables.
  struct Format {
    const char *name; ///< "profile database", for messages
    int version;      ///< a file of a newer one is refused
    int application;  ///< so that the file command and SQLite's own tools know whose file it is
    const char *schema;
  };

  /// Opens a file; creates it and its folder if it does not exist and `access` is to write. Fails if it has another
  /// format or a newer version.
  static llvm::Expected<std::unique_ptr<Database>> open(const std::string &file, Access access, const Format &format);
  ~Database();
  Database(const Database &) = delete;

  const std::string &getFile() const { return file; }
  sqlite3 *get() const { return handle; }
  Statement prepare(const std::string &sql) const { return {handle, sql}; }
  /// How many rows the last statement changed.
  int64_t getChanges() const;

  llvm::Error execute(const char *sql) const;
  /// Runs `work` as one atomic transaction.
  llvm::Error transact(llvm::function_ref<llvm::Error()> work) const;
  /// Returns the error of the last call, with category `resources` if a retry may succeed.
  llvm::Error makeFault(const std::string &what) const;
  /// Lists what SQLite finds wrong with the file, one line each.
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
