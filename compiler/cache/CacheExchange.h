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

/// An entry that a remote cache had. Its signature and the seal of its content are checked.
struct FetchedEntry {
  CacheEntry entry; ///< without uses: they are those of other models
  SignedEntry share;
  std::unique_ptr<llvm::MemoryBuffer> buffer; ///< owns the content
  llvm::StringRef content;
};

/// What a compilation exchanges with remote caches: compiler/remote implements it. What fails is a miss, and noted.
class CacheExchange {
public:
  virtual ~CacheExchange() = default;

  /// What remote caches have of these keys, which the cache of this machine lacks; in no order.
  virtual std::vector<FetchedEntry> fetch(CacheKind kind, const std::vector<std::string> &keys, CacheStore &store) = 0;
  /// The signed form of an entry that was made here; nothing where there is no key to sign with.
  virtual std::optional<SignedEntry> sign(const CacheEntry &entry, llvm::StringRef content) const = 0;

  struct Publication {
    SignedEntry share;
    llvm::StringRef content;
  };
  /// Writes entries to the remote caches that are written to.
  virtual void publish(llvm::ArrayRef<Publication> publications) = 0;

  /// What went wrong first, for the user; empty where nothing did.
  virtual const std::string &getNote() const = 0;
  /// The user knows it: there is no other note.
  virtual void dropNote() = 0;
};

} // namespace tenon

#endif // TENON_COMPILER_CACHE_CACHEEXCHANGE_H
