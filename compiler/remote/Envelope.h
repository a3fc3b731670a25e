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

/// Head and manifest of an envelope have no more bytes.
inline constexpr size_t kMaxHeadBytes = size_t(4) << 20;

/// What an envelope is asked for by.
struct EnvelopeName {
  std::string nameSpace;
  CacheKind kind = CacheKind::kernel;
  std::string key;
};

/// Signs an entry with that content; its seal and size are computed.
SignedEntry signEntry(const CacheEntry &entry, llvm::StringRef content, llvm::StringRef nameSpace,
                      const SigningKey &key);

/// What comes before the content.
std::string makeEnvelopeHead(const SignedEntry &entry);

/// The signed entry at the beginning of an envelope, not verified, and where its content begins.
struct EnvelopeHead {
  SignedEntry entry; ///< signer, signature and manifest
  size_t bytes = 0;
};
/// Nothing if the head is longer than `begin`. Fails if this is no envelope.
llvm::Expected<std::optional<EnvelopeHead>> parseEnvelopeHead(llvm::StringRef begin);

/// The entry that the manifest describes, if a key of the list has signed it for that name. Fails with the reason
/// otherwise. Namespace, kind and key of `entry` are filled in.
llvm::Expected<CacheEntry> verifyEntry(SignedEntry &entry, const EnvelopeName &name, const TrustList &trust);

/// The same for an entry of whatever kind and key, as lists have them.
llvm::Expected<CacheEntry> verifyListed(SignedEntry &entry, llvm::StringRef nameSpace, const TrustList &trust);

/// Receives one envelope, a piece at a time, and refuses it as early as it can.
class EnvelopeReceiver {
public:
  /// `file`: where the envelope is written to, from its beginning; empty: it is kept in memory. `limit`: the most bytes
  /// that a content may have.
  EnvelopeReceiver(EnvelopeName name, const TrustList &trust, uint64_t limit, std::string file = "");
  ~EnvelopeReceiver();
  EnvelopeReceiver(const EnvelopeReceiver &) = delete;

  const EnvelopeName &getName() const { return name; }
  /// Bytes received.
  uint64_t getSize() const { return size; }
  bool isComplete() const { return total && size == total; }
  /// Identifies the envelope at its source, which may change between two attempts; empty as long as it is unknown.
  std::string getTag() const;
  /// Fails if the envelope is not to be used, or if it cannot be written.
  llvm::Error append(llvm::StringRef bytes);
  /// Takes in what an earlier attempt left in the file, if it is the beginning of an envelope to be used.
  llvm::Error resume();
  /// Forgets what was received.
  llvm::Error restart();
  /// Removes the file. What `finish` returned can still be read.
  void removeFile();
  /// Whether an envelope was refused, and not merely incomplete or without room.
  bool isRefused() const { return refused; }
  const SignedEntry &getShare() const { return head.entry; }

  /// The entry, if all of it was received and its content has the seal that was signed.
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

/// What tags an envelope (RFC 9110, ETag, without the quotes).
std::string getEnvelopeTag(const SignedEntry &entry);

} // namespace tenon

#endif // TENON_COMPILER_REMOTE_ENVELOPE_H
