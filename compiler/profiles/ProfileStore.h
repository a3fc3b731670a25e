//===- ProfileStore.h - records of real runs, in a file ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One SQLite file with write-ahead logging: many processes may read and write it at the same time, and a process that
// is killed leaves what it had committed. Tables: hardware and kernels, each row once, and records, which refer to
// both.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_PROFILES_PROFILESTORE_H
#define TENON_COMPILER_PROFILES_PROFILESTORE_H

#include "compiler/profiles/Profile.h"
#include "compiler/sqlite/Database.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace tenon {

class ProfileStore {
public:
  using Access = Database::Access;

  /// Returns the file of the user's records: TENON_PROFILES, which may be "none", or tenon/profiles.db in XDG_DATA_HOME
  /// or ~/.local/share. Empty if there is no such folder.
  static std::string getDefaultFile();

  /// Opens a file; creates it and its folder if it does not exist and `access` is to write. Fails if it has another
  /// format or a newer version.
  static llvm::Expected<std::unique_ptr<ProfileStore>> open(const std::string &file, Access access);

  /// Adds records atomically. They must be valid.
  llvm::Error add(llvm::ArrayRef<ProfileRecord> records);

  /// A filter for listed records. Empty texts match everything.
  struct Filter {
    std::string region;   ///< beginning of a region's fingerprint
    std::string hardware; ///< beginning of a machine's fingerprint
    std::string schedule;
    std::string compiler;
    int64_t threads = 0; ///< 0: any number
  };
  struct Entry {
    int64_t id;
    ProfileRecord record;
  };
  /// Visits the records by region, the fastest first, until `visit` returns false.
  llvm::Error visit(const Filter &filter, llvm::function_ref<bool(const Entry &)> visit) const;
  llvm::Expected<std::vector<Entry>> list(const Filter &filter) const;
  llvm::Expected<std::optional<Entry>> find(int64_t id) const;

  /// Removes records older than `time`, and all but the `keep` newest ones of each variant (0 keeps all). Returns their
  /// number.
  llvm::Expected<int64_t> prune(int64_t time, int64_t keep);

  /// Lists what is wrong with the file or its records, one line each.
  llvm::Expected<std::vector<std::string>> verify() const;

private:
  explicit ProfileStore(std::unique_ptr<Database> database) : database(std::move(database)) {}
  llvm::Error addAll(llvm::ArrayRef<ProfileRecord> records);
  llvm::Expected<int64_t> getRow(const char *insert, const char *select, llvm::ArrayRef<std::string> texts,
                                 llvm::ArrayRef<int64_t> numbers);

  std::unique_ptr<Database> database;
};

/// What came of an import.
struct ImportedProfiles {
  size_t added = 0, skipped = 0;
  std::string firstFault; ///< of the first that was skipped, with its line
};
/// Adds the records of `text`, which has lines of toJsonLine. Invalid lines are skipped.
llvm::Expected<ImportedProfiles> importProfiles(ProfileStore &store, llvm::StringRef text);

} // namespace tenon

#endif // TENON_COMPILER_PROFILES_PROFILESTORE_H
