//===- CacheEntry.h - what a cache knows of one result --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_CACHE_CACHEENTRY_H
#define TENON_COMPILER_CACHE_CACHEENTRY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/BLAKE3.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tenon {

/// A kernel is an object file with one entry point; an artifact is the result of a whole compilation.
enum class CacheKind { kernel, artifact };

/// "kernel" or "artifact", and back.
llvm::StringRef getName(CacheKind kind);
std::optional<CacheKind> getCacheKind(llvm::StringRef name);

/// The BLAKE3 hash of a sequence of texts: other texts, or the same ones divided otherwise, have another one.
class Fingerprint {
public:
  Fingerprint &add(llvm::StringRef text);
  /// 64 hexadecimal digits.
  std::string get() const;

private:
  llvm::BLAKE3 hash;
};

/// Where a kernel is used: the name of a model's file, and of the nodes that the kernel computes in it. The use of an
/// artifact is its model alone.
struct CacheUse {
  std::string model, node;
};

struct CacheEntry {
  int64_t id = 0; ///< in the index
  CacheKind kind = CacheKind::kernel;
  std::string key;                  ///< fingerprint of all that the content follows from
  std::string seal;                 ///< fingerprint of key and content: see seal()
  uint64_t bytes = 0;               ///< of the content
  std::string title;                ///< for people: the heaviest operation of a kernel, the options of an artifact
  std::string hardware;             ///< for people: the targets, with the features that the code requires
  std::string compiler;             ///< for people: version of the compiler that generated the content
  std::string files;                ///< of an artifact: a line "XXH3 PATH" for each file that it was made of
  std::string messages;             ///< of an artifact: the warnings of its compilation
  std::string origin;               ///< "compiled" here, "imported" from a file, or "fetched" from a remote cache
  int64_t created = 0, lastUse = 0; ///< microseconds since 1970
  std::vector<CacheUse> uses;       ///< the most recent ones alone, if there are many

  /// The seal of an entry with that content. It covers all that a compilation takes from an entry, so that neither a
  /// damaged file nor a damaged index leads to another result.
  std::string computeSeal(llvm::StringRef content) const;
};

/// An entry as other machines may have it: all that is said of it, and a signature of that.
struct SignedEntry {
  std::string nameSpace; ///< keeps entries of those who share a remote cache apart
  CacheKind kind = CacheKind::kernel;
  std::string key;       ///< by which others find it. Of an artifact, it does not depend on where files are
  std::string manifest;  ///< JSON, with the fields above and the seal of the content
  std::string signer;    ///< an Ed25519 key, 64 hexadecimal digits
  std::string signature; ///< of the manifest, 128 hexadecimal digits
};

/// Whether a text is what Fingerprint returns.
bool isFingerprint(llvm::StringRef text);

/// Why no cache made such an entry; empty if it may be one. Entries of an index or of an export are checked as hostile
/// input.
std::string findFault(const CacheEntry &entry);

/// Microseconds since 1970.
int64_t getCacheTime();

} // namespace tenon

#endif // TENON_COMPILER_CACHE_CACHEENTRY_H
