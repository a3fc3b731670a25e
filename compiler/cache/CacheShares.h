//===- CacheShares.h - entries that other machines may have ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an index knows of entries beyond this machine: their signatures, by which others may trust them, and what was
// refused because it had none that this machine trusts. compiler/remote makes and checks signatures.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_CACHE_CACHESHARES_H
#define TENON_COMPILER_CACHE_CACHESHARES_H

#include "compiler/cache/CacheStore.h"

namespace tenon {

/// An entry from a remote cache that was rejected.
struct QuarantinedEntry {
  int64_t time = 0;   ///< microseconds since 1970
  std::string source; ///< the URL of the remote cache
  std::string nameSpace, kind, key;
  std::string signer; ///< as the entry says, which proves nothing; empty where it says none
  std::string reason;
};

/// The tables of a store about signatures.
class CacheShares {
public:
  explicit CacheShares(const CacheStore &store) : database(store.getDatabase()) {}

  /// Creates the tables that indices of earlier versions lack.
  static llvm::Error prepare(Database &database);
  /// Adds the signed form of an entry of the index, within a transaction. It replaces an older one of the same
  /// namespace, kind and key.
  static llvm::Error add(Database &database, const CacheEntry &entry, const SignedEntry &share);

  /// The signed entry of a key, and the entry of the index whose content it covers.
  struct Found {
    SignedEntry share;
    CacheEntry entry; ///< without its uses
  };
  llvm::Expected<std::optional<Found>> find(llvm::StringRef nameSpace, CacheKind kind, llvm::StringRef key) const;
  /// Visits all signed entries of a namespace, ordered by kind and key, until `visit` returns false.
  llvm::Error visit(llvm::StringRef nameSpace, llvm::function_ref<bool(const SignedEntry &)> visit) const;
  /// Lists the entries that came from remote caches with the signature of `signer`.
  llvm::Expected<std::vector<CacheEntry>> listFetched(llvm::StringRef signer) const;

  /// Records a rejected entry. Only the most recent ones are kept.
  llvm::Error quarantine(const QuarantinedEntry &entry) const;
  /// What was refused, the last one first.
  llvm::Expected<std::vector<QuarantinedEntry>> listQuarantine() const;
  llvm::Error clearQuarantine() const;

private:
  Database &database;
};

} // namespace tenon

#endif // TENON_COMPILER_CACHE_CACHESHARES_H
