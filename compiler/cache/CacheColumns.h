//===- CacheColumns.h - what an index and an export have of an entry ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_CACHE_CACHECOLUMNS_H
#define TENON_COMPILER_CACHE_CACHECOLUMNS_H

#include "compiler/cache/CacheEntry.h"
#include "compiler/sqlite/Database.h"
#include <algorithm>

namespace tenon {

/// The columns that both tables have, in the order in which takeColumns reads them.
inline constexpr char kEntryColumns[] =
    "e.id, e.kind, e.key, e.seal, e.bytes, e.title, e.hardware, e.compiler, e.files, e.messages";

/// Reads these columns of a row. Returns false if the kind of the entry is invalid.
inline bool takeColumns(Statement &row, CacheEntry &entry) {
  entry.id = row.takeInteger();
  std::optional<CacheKind> kind = getCacheKind(row.takeText());
  entry.kind = kind.value_or(CacheKind::kernel);
  entry.key = row.takeText();
  entry.seal = row.takeText();
  entry.bytes = std::max<int64_t>(row.takeInteger(), 0);
  entry.title = row.takeText();
  entry.hardware = row.takeText();
  entry.compiler = row.takeText();
  entry.files = row.takeText();
  entry.messages = row.takeText();
  return kind.has_value();
}

} // namespace tenon

#endif // TENON_COMPILER_CACHE_CACHECOLUMNS_H
