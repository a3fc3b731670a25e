//===- CacheExchange.h - entries of other machines  -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_CACHE_CACHEEXCHANGE_H
#define TENON_COMPILER_CACHE_CACHEEXCHANGE_H

#include "compiler/cache/CacheStore.h"
#include "llvm/Support/MemoryBuffer.h"

namespace tenon {

/// An entry from a remote cache, whose signature and seal have been verified.
struct FetchedEntry {
  CacheEntry entry; ///< without uses: they are those of other models
  SignedEntry share;
  std::unique_ptr<llvm::MemoryBuffer> buffer; ///< owns the content
  llvm::StringRef content;
};

/// The interface to remote caches for a compilation, implemented by compiler/remote. A failure counts as a miss, and is
/// noted.
class CacheExchange {
public:
  virtual ~CacheExchange() = default;

  /// Fetches the entries of these keys that remote caches have and the cache of this machine lacks, in any order.
  virtual std::vector<FetchedEntry> fetch(CacheKind kind, const std::vector<std::string> &keys, CacheStore &store) = 0;
  /// Returns the signed form of a local entry; none if there is no signing key.
  virtual std::optional<SignedEntry> sign(const CacheEntry &entry, llvm::StringRef content) const = 0;

  struct Publication {
    SignedEntry share;
    llvm::StringRef content;
  };
  /// Writes entries to the remote caches that are writable.
  virtual void publish(llvm::ArrayRef<Publication> publications) = 0;

  /// Returns the first failure as a message for the user; empty if there was none.
  virtual const std::string &getNote() const = 0;
  /// The user knows it: there is no other note.
  virtual void dropNote() = 0;
};

} // namespace tenon

#endif // TENON_COMPILER_CACHE_CACHEEXCHANGE_H
