//===- ArtifactCache.h - artifacts that need not be compiled again --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A folder with two files for each request: REQUEST.tenon, the artifact, and REQUEST.inputs, a line "XXH3 PATH" for
// each file that it was made of. An artifact is found by the hash of the request, and is used if all of its files still
// have the bytes that they had; this is what ccache calls its direct mode. Files are written beside their place and
// renamed, so that processes can share the folder.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_ARTIFACTCACHE_H
#define TENON_COMPILER_DRIVER_ARTIFACTCACHE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Chrono.h"
#include <string>
#include <vector>

namespace tenon {

class ArtifactCache {
public:
  explicit ArtifactCache(std::string folder) : folder(std::move(folder)) {}

  /// Where the user's cache is: TENON_CACHE_DIR, or the folder "tenon" in XDG_CACHE_HOME or in ~/.cache. Empty where
  /// there is no such folder, as for users without a home.
  static std::string getDefaultFolder();

  const std::string &getFolder() const { return folder; }

  /// The artifact of a request, which is a text with all that it depends on but the contents of files. Empty where
  /// there is none, or where a file has changed since.
  std::string find(llvm::StringRef request) const;

  /// A path beside the entries, to write an artifact to that `store` then takes. Makes the folder. Empty where nothing
  /// can be written there.
  std::string reserve() const;

  /// Moves `artifact` into the cache. `files` are those that it was made of since `begin`. Returns its place; empty
  /// where that fails or a file was written since, and `artifact` is still there then.
  std::string store(llvm::StringRef request, const std::string &artifact, llvm::ArrayRef<std::string> files,
                    llvm::sys::TimePoint<> begin) const;

  struct Entry {
    std::string artifact; ///< path
    uint64_t bytes;       ///< of both files
    llvm::sys::TimePoint<> lastUse;
  };
  /// The one that was used last comes first.
  std::vector<Entry> list() const;

  /// Removes entries that were not used for longest, until the rest has `limit` bytes at most. Returns how many were
  /// removed.
  size_t trim(uint64_t limit) const;

private:
  std::string getPath(llvm::StringRef request, llvm::StringRef suffix) const;

  std::string folder;
};

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_ARTIFACTCACHE_H
