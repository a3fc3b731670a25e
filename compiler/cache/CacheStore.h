//===- CacheStore.h - results of compilations, in a folder ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A folder for many processes:
//
//   index.db            an SQLite database: what there is, when it was used last, by which models
//   objects/ab/ab12...  the contents, each named after its seal
//   tmp/                what is being written
//
// Contents are written to tmp/ without any lock. The transaction that adds their rows moves them to objects/, and the
// one that deletes rows removes their files: whoever is killed leaves a file without a row, which is swept later, or a
// row without a file, which counts as none.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_CACHE_CACHESTORE_H
#define TENON_COMPILER_CACHE_CACHESTORE_H

#include "compiler/cache/CacheEntry.h"
#include "compiler/sqlite/Database.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace llvm {
class MemoryBuffer;
}

namespace tenon {

class CacheStore {
public:
  /// Bytes that contents may have by default.
  static constexpr uint64_t kDefaultLimit = uint64_t(10) << 30;

  /// Returns the folder of the user's cache: TENON_CACHE_DIR, which may be "none", or the folder "tenon" in
  /// XDG_CACHE_HOME or ~/.cache. Empty if there is none, as for users without a home folder.
  static std::string getDefaultFolder();
  /// Returns the size limit for contents: TENON_CACHE_LIMIT, or the default. Fails if the variable is no size.
  static llvm::Expected<uint64_t> getDefaultLimit();

  /// Opens a cache, and creates it if it does not exist. A read-only folder is opened for reading. Fails if that is
  /// impossible, with category `resources` if the folder is the reason.
  static llvm::Expected<std::unique_ptr<CacheStore>> open(const std::string &folder, uint64_t limit = kDefaultLimit);

  const std::string &getFolder() const { return folder; }
  bool isWritable() const { return isWriter; }
  uint64_t getLimit() const { return limit; }
  Database &getDatabase() const { return *database; }

  /// The content of an entry, which has been checked.
  struct Hit {
    CacheEntry entry; ///< without its uses
    std::string path;
    std::unique_ptr<llvm::MemoryBuffer> content;
  };
  /// Finds the entry of a key. An entry whose content is damaged or missing is removed, and counts as a miss.
  llvm::Expected<std::optional<Hit>> find(CacheKind kind, const std::string &key);
  /// Returns the number of damaged entries that `find` encountered; the reason for the first one is kept, too.
  unsigned getDamaged() const { return numDamaged; }
  const std::string &getFirstDamage() const { return firstDamage; }

  /// An entry to be added. Its seal, size, times and origin are filled in.
  struct Addition {
    CacheEntry entry;
    llvm::StringRef content;
    std::string file; ///< of reserve(), with this content: it is moved. Empty: the content is written
    std::optional<SignedEntry> share = std::nullopt; ///< the same for other machines
  };
  /// An entry that was used again.
  struct Reuse {
    int64_t id;
    std::vector<CacheUse> uses;
  };
  /// Adds and updates entries atomically; then evicts the least recently used ones until the limit holds. Contents that
  /// exceed the limit by themselves are not added, and are removed from `additions`.
  llvm::Error commit(std::vector<Addition> &additions, llvm::ArrayRef<Reuse> reuses);
  llvm::Error reuse(llvm::ArrayRef<Reuse> reuses);

  /// Returns the path of a new file in tmp/. Fails if that folder is not writable.
  llvm::Expected<std::string> reserve() const;

  /// A filter for listed entries. Empty texts match everything; others match substrings, ignoring case.
  struct Filter {
    std::optional<CacheKind> kind;
    std::string key; ///< the beginning of a fingerprint
    std::string model, node, title, hardware;
    std::string anywhere; ///< in any of these four
  };
  /// Visits the entries with their uses, most recently used first, until `visit` returns false. Invalid rows are
  /// skipped.
  llvm::Error visit(const Filter &filter, llvm::function_ref<bool(const CacheEntry &)> visit) const;
  llvm::Expected<std::vector<CacheEntry>> list(const Filter &filter) const;
  /// Where the content of an entry is.
  static std::string getPath(const std::string &folder, const CacheEntry &entry);
  std::string getPath(const CacheEntry &entry) const { return getPath(folder, entry); }

  struct Usage {
    uint64_t kernels = 0, kernelBytes = 0, artifacts = 0, artifactBytes = 0;
    uint64_t indexBytes = 0, otherBytes = 0; ///< other: temporary files, and contents that the index does not have
  };
  llvm::Expected<Usage> measure() const;

  /// Removes the filtered entries that were last used before `time`, and then the least recently used ones until the
  /// rest has at most `limit` bytes. Removes files of killed processes. Returns the number of removed entries.
  llvm::Expected<uint64_t> prune(const Filter &filter, int64_t time, uint64_t limit);

  /// Lists what is wrong with the index or contents, one line each. With `removes`, damaged entries are removed.
  llvm::Expected<std::vector<std::string>> verify(bool removes);

private:
  CacheStore(std::unique_ptr<Database> database, std::string folder, bool isWriter, uint64_t limit)
      : database(std::move(database)), folder(std::move(folder)), isWriter(isWriter), limit(limit) {}
  llvm::Error add(Addition &addition);
  llvm::Error addUses(int64_t id, llvm::ArrayRef<CacheUse> uses);
  llvm::Expected<uint64_t> evict(uint64_t limit);
  llvm::Error remove(const CacheEntry &entry);
  llvm::Expected<uint64_t> removeUnused(const Filter &filter, int64_t time);
  llvm::Error sweepContents() const;
  void sweepTemporaryFiles() const;
  llvm::Expected<std::vector<CacheEntry>> select(const std::string &sql, llvm::ArrayRef<std::string> texts) const;
  std::string checkContent(const CacheEntry &entry, std::unique_ptr<llvm::MemoryBuffer> &content) const;

  std::unique_ptr<Database> database;
  std::string folder;
  bool isWriter;
  uint64_t limit;
  unsigned numDamaged = 0;
  std::string firstDamage;
};

} // namespace tenon

#endif // TENON_COMPILER_CACHE_CACHESTORE_H
