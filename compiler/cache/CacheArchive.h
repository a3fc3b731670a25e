//===- CacheArchive.h - entries of a cache in one file --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_CACHE_CACHEARCHIVE_H
#define TENON_COMPILER_CACHE_CACHEARCHIVE_H

#include "compiler/cache/CacheStore.h"

namespace tenon {

/// What came of an export or import.
struct CacheTransfer {
  uint64_t moved = 0, skipped = 0;
  uint64_t known = 0;     ///< of an import: the cache has them already, and keeps its own
  std::string firstFault; ///< of the first that was skipped
};

/// Writes the filtered entries with their contents to an SQLite file. Damaged ones are skipped.
llvm::Expected<CacheTransfer> exportCache(const CacheStore &store, const CacheStore::Filter &filter,
                                          const std::string &file);

/// Adds the entries of an export, each in its own transaction. Invalid entries are skipped, as are those whose content
/// does not match the seal. The seal proves that the content is the exported one, not who exported it: it is code that
/// will be executed.
llvm::Expected<CacheTransfer> importCache(CacheStore &store, const std::string &file);

} // namespace tenon

#endif // TENON_COMPILER_CACHE_CACHEARCHIVE_H
