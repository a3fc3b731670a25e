//===- Envelope.h - entries as remote caches have them  -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An envelope is one text:
//
//   tenon-cache-entry 1 SIGNER SIGNATURE BYTES\n     the key and its signature of the manifest, which has so many bytes
//   {"version":1,"namespace":...}                    the manifest
//   ...                                              the content, whose seal and size the manifest says
//
// Head and manifest come first, so that whoever receives an envelope knows before the content whose it is, and that it
// is what was asked for; no more than the bytes that a trusted signer vouches for are ever received.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REMOTE_ENVELOPE_H
#define TENON_COMPILER_REMOTE_ENVELOPE_H

#include "compiler/cache/CacheExchange.h"
#include "compiler/remote/SigningKey.h"
#include "compiler/remote/TrustList.h"

namespace tenon {

/// Upper bound for the head and the manifest of an envelope.
inline constexpr size_t kMaxHeadBytes = size_t(4) << 20;

/// What an envelope is asked for by.
struct EnvelopeName {
  std::string nameSpace;
  CacheKind kind = CacheKind::kernel;
  std::string key;
};

/// Signs an entry with that content; computes its seal and size.
SignedEntry signEntry(const CacheEntry &entry, llvm::StringRef content, llvm::StringRef nameSpace,
                      const SigningKey &key);

/// What comes before the content.
std::string makeEnvelopeHead(const SignedEntry &entry);

/// The unverified signed entry at the beginning of an envelope, and the offset of its content.
struct EnvelopeHead {
  SignedEntry entry; ///< signer, signature and manifest
  size_t bytes = 0;
};
/// Returns none if the head is longer than `begin`. Fails if this is no envelope.
llvm::Expected<std::optional<EnvelopeHead>> parseEnvelopeHead(llvm::StringRef begin);

/// Returns the entry that the manifest describes, if a key of the list has signed it for that name; otherwise fails
/// with the reason. Sets the namespace, kind and key of `entry`.
llvm::Expected<CacheEntry> verifyEntry(SignedEntry &entry, const EnvelopeName &name, const TrustList &trust);

/// The same for an entry of any kind and key, from a list.
llvm::Expected<CacheEntry> verifyListed(SignedEntry &entry, llvm::StringRef nameSpace, const TrustList &trust);

/// Receives one envelope in pieces, and rejects it as early as possible.
class EnvelopeReceiver {
public:
  /// `file` is overwritten with the envelope; if it is empty, the envelope is kept in memory. `limit` bounds the bytes
  /// of the content.
  EnvelopeReceiver(EnvelopeName name, const TrustList &trust, uint64_t limit, std::string file = "");
  ~EnvelopeReceiver();
  EnvelopeReceiver(const EnvelopeReceiver &) = delete;

  const EnvelopeName &getName() const { return name; }
  /// Bytes received.
  uint64_t getSize() const { return size; }
  bool isComplete() const { return total && size == total; }
  /// Returns the identity of the envelope at its source, which may change between two attempts; empty while it is
  /// unknown.
  std::string getTag() const;
  /// Fails if the envelope is rejected, or if it cannot be written.
  llvm::Error append(llvm::StringRef bytes);
  /// Resumes from the bytes that an earlier attempt left in the file, if they are the beginning of an acceptable
  /// envelope.
  llvm::Error resume();
  /// Forgets what was received.
  llvm::Error restart();
  /// Removes the file. The result of `finish` remains readable.
  void removeFile();
  /// True if the envelope was rejected, rather than incomplete or out of space.
  bool isRefused() const { return refused; }
  const SignedEntry &getShare() const { return head.entry; }

  /// Returns the entry, if it was received completely and its content matches the signed seal.
  llvm::Expected<FetchedEntry> finish();

private:
  llvm::Error refuse(llvm::Error error);
  llvm::Error write(llvm::StringRef bytes);

  EnvelopeName name;
  const TrustList &trust;
  uint64_t limit, size = 0, total = 0; ///< total: 0 until the head is verified
  std::string file, memory;            ///< memory: the head, and all of it where there is no file
  int fd = -1;
  EnvelopeHead head;
  CacheEntry entry;
  bool refused = false;
};

/// Returns the tag of an envelope (RFC 9110, ETag, without the quotes).
std::string getEnvelopeTag(const SignedEntry &entry);

} // namespace tenon

#endif // TENON_COMPILER_REMOTE_ENVELOPE_H
