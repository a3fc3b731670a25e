//===- RemoteScratch.h - keys and entries to try remote caches with  ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TEST_UNIT_REMOTE_REMOTESCRATCH_H
#define TENON_TEST_UNIT_REMOTE_REMOTESCRATCH_H

#include "compiler/remote/CacheRemote.h"
#include "test/unit/cache/CacheScratch.h"

namespace tenon {

/// Why something failed; empty if it did not.
inline std::string takeReason(llvm::Error error) { return llvm::toString(std::move(error)); }
template <typename T> std::string takeReason(llvm::Expected<T> value) {
  return value ? "" : llvm::toString(value.takeError());
}

/// A folder with a list of keys, of which one is trusted in the namespace "team".
struct RemoteScratch : CacheScratch {
  RemoteScratch() : key(SigningKey::generate()), stranger(SigningKey::generate()) { trustKey(key, "team"); }

  std::string getTrustFile() const { return folder + "/trust"; }
  void trustKey(const SigningKey &signer, const std::string &nameSpace) {
    TrustList::Signer line{signer.getPublicKey(), {nameSpace}, "", nameSpace == "revoked"};
    REQUIRE(takeReason(TrustList::append(getTrustFile(), line)).empty());
    trust = takeValue(TrustList::read(getTrustFile()));
  }

  SigningKey key, stranger;
  TrustList trust;
};

inline SignedEntry signNamed(const std::string &name, llvm::StringRef content, const SigningKey &key,
                             CacheKind kind = CacheKind::kernel, llvm::StringRef nameSpace = "team") {
  return signEntry(makeEntry(name, kind), content, nameSpace, key);
}

inline EnvelopeName getEnvelopeName(const std::string &name, CacheKind kind = CacheKind::kernel) {
  return {"team", kind, makeEntry(name).key};
}

/// What a receiver makes of an envelope: its content, or "refused: " and the reason, or "failed: ".
inline std::string receive(const RemoteScratch &scratch, llvm::StringRef envelope, EnvelopeName name,
                           size_t piece = SIZE_MAX, uint64_t limit = 1 << 20) {
  EnvelopeReceiver receiver(std::move(name), scratch.trust, limit);
  std::string reason;
  while (!envelope.empty() && reason.empty()) {
    reason = takeReason(receiver.append(envelope.take_front(piece)));
    envelope = envelope.drop_front(std::min(piece, envelope.size()));
  }
  if (reason.empty()) {
    llvm::Expected<FetchedEntry> entry = receiver.finish();
    if (entry)
      return entry->content.str();
    reason = llvm::toString(entry.takeError());
  }
  return (receiver.isRefused() ? "refused: " : "failed: ") + reason;
}

} // namespace tenon

#endif // TENON_TEST_UNIT_REMOTE_REMOTESCRATCH_H
