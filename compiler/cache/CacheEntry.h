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
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tenon {

/// A `kernel` is an object file with one entry point; an `artifact` is the result of a whole compilation.
enum class CacheKind { kernel, artifact };

/// "kernel" or "artifact", and back.
llvm::StringRef getName(CacheKind kind);
std::optional<CacheKind> getCacheKind(llvm::StringRef name);

/// The BLAKE3 hash of a sequence of texts; it depends on the boundaries between them.
class Fingerprint {
public:
  Fingerprint &add(llvm::StringRef text);
  /// 64 hexadecimal digits.
  std::string get() const;

private:
  llvm::BLAKE3 hash;
};

/// Where a kernel is used: the file name of a model, and the nodes that the kernel computes in it. An artifact only has
/// the model.
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

  /// Returns the seal of an entry with that content. It covers everything that a compilation uses from an entry, so
  /// that neither a damaged file nor a damaged index can change a result.
  std::string computeSeal(llvm::StringRef content) const;
};

/// An entry in the form that is shared with other machines: its manifest, and a signature of that.
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

/// Fails with the reason why an entry is invalid. Entries of an index or an export are treated as hostile input.
llvm::Error checkEntry(const CacheEntry &entry);

/// Microseconds since 1970.
int64_t getCacheTime();

} // namespace tenon

#endif // TENON_COMPILER_CACHE_CACHEENTRY_H
