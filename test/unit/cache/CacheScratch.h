//===- CacheScratch.h - a cache that is gone after the test ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TEST_UNIT_CACHE_CACHESCRATCH_H
#define TENON_TEST_UNIT_CACHE_CACHESCRATCH_H

#include "compiler/cache/CacheStore.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <catch2/catch.hpp>

namespace tenon {

/// The value, where there is one.
template <typename T> T takeValue(llvm::Expected<T> value) {
  std::string why = value ? "" : llvm::toString(value.takeError());
  INFO(why);
  REQUIRE(why.empty());
  return std::move(*value);
}

struct CacheScratch {
  CacheScratch() {
    llvm::SmallString<128> made;
    REQUIRE(!llvm::sys::fs::createUniqueDirectory("tenon-cache-test", made));
    folder = made.str().str();
  }
  ~CacheScratch() { llvm::sys::fs::remove_directories(folder); }

  std::string getCache() const { return folder + "/cache"; }
  std::unique_ptr<CacheStore> open(uint64_t limit = CacheStore::kDefaultLimit) const {
    return takeValue(CacheStore::open(getCache(), limit));
  }

  std::string folder;
};

inline CacheEntry makeEntry(const std::string &name, CacheKind kind = CacheKind::kernel) {
  CacheEntry entry;
  entry.kind = kind;
  entry.key = Fingerprint().add(name).get();
  entry.title = "contract";
  entry.hardware = "host x86_64-unknown-linux-gnu avx2,fma";
  entry.compiler = "tenon test";
  entry.uses = {{"model.onnx", name}};
  return entry;
}

inline llvm::Error tryAdd(CacheStore &store, const std::string &name, llvm::StringRef content,
                          CacheKind kind = CacheKind::kernel) {
  std::vector<CacheStore::Addition> additions;
  additions.push_back({makeEntry(name, kind), content, ""});
  return store.commit(additions, {});
}

inline void add(CacheStore &store, const std::string &name, llvm::StringRef content,
                CacheKind kind = CacheKind::kernel) {
  llvm::Error error = tryAdd(store, name, content, kind);
  std::string why = llvm::toString(std::move(error));
  INFO(why);
  REQUIRE(why.empty());
}

/// The content of that name; empty where there is none.
inline std::string findContent(CacheStore &store, const std::string &name, CacheKind kind = CacheKind::kernel) {
  std::optional<CacheStore::Hit> hit = takeValue(store.find(kind, Fingerprint().add(name).get()));
  return hit ? hit->content->getBuffer().str() : "";
}

inline size_t countFiles(const std::string &folder) {
  size_t count = 0;
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    count += it->type() == llvm::sys::fs::file_type::regular_file;
  return count;
}

} // namespace tenon

#endif // TENON_TEST_UNIT_CACHE_CACHESCRATCH_H
