//===- ArtifactCache.h - artifacts that need not be compiled again --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An artifact is found by a fingerprint of the request: all that it depends on but the contents of files. It is used if
// all of the files that it was made of still have the bytes that they had; this is what ccache calls its direct mode.
// Remote caches find it by another fingerprint, in which the model's contents stand for its path, and with files that
// are named from the model's folder.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_ARTIFACTCACHE_H
#define TENON_COMPILER_DRIVER_ARTIFACTCACHE_H

#include "compiler/cache/CacheExchange.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Chrono.h"
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace tenon {

/// The key of an artifact, and its description for listings.
struct ArtifactRequest {
  std::string key;                    ///< a Fingerprint
  std::string model, title, hardware; ///< as in CacheEntry: the name of the model's file, the options, the targets
  std::string base = "";              ///< the folder that names of files in remote caches begin from
  /// Computes the key for other machines, which reads the model; null if no remote cache is used. An empty key means
  /// that there is none.
  std::function<std::string()> makeRemoteKey = nullptr;
};

/// Opens the cache in each call, so that a compilation in a child process does not inherit it.
class ArtifactCache {
public:
  /// `folder` is that of CacheStore::getDefaultFolder; there is no cache if it is empty or unusable. `exchange` is null
  /// if there are no remote caches.
  explicit ArtifactCache(std::string folder, std::shared_ptr<CacheExchange> exchange = nullptr)
      : folder(std::move(folder)), exchange(std::move(exchange)) {}

  const std::string &getFolder() const { return folder; }
  /// Returns the first failure as a message for the user; empty if there was none.
  const std::string &getNote() const { return note.empty() && exchange ? exchange->getNote() : note; }

  /// Finds the artifact of a request, locally or in a remote cache; none if it is absent, or if a file has changed
  /// since.
  std::optional<CacheStore::Hit> find(const ArtifactRequest &request);

  /// Returns a file in the cache to which an artifact can be written for `move`. Empty if the cache is not writable.
  std::string reserve();

  /// How an artifact was made.
  struct Making {
    std::vector<std::string> files; ///< that it was made of
    llvm::sys::TimePoint<> begin;   ///< when the first of them was read, or before
    std::string messages;           ///< warnings of the compilation
  };
  /// Adds a copy of `artifact`.
  void copy(const ArtifactRequest &request, const std::string &artifact, const Making &making);
  /// Moves `artifact`, a file of `reserve`, into the cache. Returns its new path; empty if that fails or an input file
  /// was modified since, in which case `artifact` remains.
  std::string move(const ArtifactRequest &request, const std::string &artifact, const Making &making);

private:
  std::unique_ptr<CacheStore> open();
  void addNote(llvm::Error error);
  std::optional<CacheEntry> add(const ArtifactRequest &request, const std::string &artifact, const Making &making,
                                bool moves);

  std::optional<CacheStore::Hit> fetch(const ArtifactRequest &request, CacheStore &store);
  std::optional<SignedEntry> sign(const ArtifactRequest &request, const CacheEntry &entry, llvm::StringRef content);

  const std::string &getRemoteKey(const ArtifactRequest &request);

  std::string folder, note;
  std::shared_ptr<CacheExchange> exchange;
  std::map<std::string, std::string> remoteKeys; ///< by the key of a request, once they are known
};

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_ARTIFACTCACHE_H
