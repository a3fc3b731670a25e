//===- RemoteExchange.h - what a compilation has of remote caches  --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REMOTE_REMOTEEXCHANGE_H
#define TENON_COMPILER_REMOTE_REMOTEEXCHANGE_H

#include "compiler/remote/CacheRemote.h"

namespace tenon {

struct ExchangeOptions {
  std::vector<std::string> from; ///< URLs of the remote caches that are read, in this order
  std::vector<std::string> to;   ///< and of those that are written to
  std::string nameSpace = "default";
  std::string keyFile;   ///< of the signing key; empty: nothing is signed
  std::string trustFile; ///< of the trusted keys; empty: there are none
  std::string token;
};

/// Fetches from remote caches and publishes to them. Rejected entries are recorded in the quarantine of the store.
class RemoteExchange : public CacheExchange {
public:
  /// Fails if an option is invalid, or if there is no key to sign published entries.
  static llvm::Expected<std::unique_ptr<RemoteExchange>> open(const ExchangeOptions &options);

  std::vector<FetchedEntry> fetch(CacheKind kind, const std::vector<std::string> &keys, CacheStore &store) override;
  /// Visits the entries of readable remote caches, with their uses, that a trusted key has signed for the namespace,
  /// until `visit` returns false. Returns the number of other entries; fails if a cache is unusable.
  llvm::Expected<uint64_t> list(llvm::function_ref<bool(const CacheEntry &)> visit);

  std::optional<SignedEntry> sign(const CacheEntry &entry, llvm::StringRef content) const override;
  void publish(llvm::ArrayRef<Publication> publications) override;
  /// Publishes all signed entries of a store in the namespace; local kernels without a signature are signed first.
  /// Returns their number. Fails if a remote cache does.
  llvm::Expected<uint64_t> push(CacheStore &store);

  const std::string &getNote() const override { return note; }
  void dropNote() override { note.clear(); }

private:
  struct Remote {
    std::string url;
    std::unique_ptr<CacheRemote> cache;
    bool isDown = false; ///< it failed, and is not asked again
  };
  RemoteExchange(TrustList trust, std::string nameSpace) : trust(std::move(trust)), nameSpace(std::move(nameSpace)) {}
  llvm::Error connect(const std::vector<std::string> &urls, const RemoteSettings &settings,
                      std::vector<Remote> &remotes);
  void fetchFrom(Remote &remote, CacheKind kind, const std::vector<std::string> &keys, CacheStore &store,
                 std::vector<FetchedEntry> &fetched);
  llvm::Error signKernels(CacheStore &store);
  void refuse(const Remote &remote, const EnvelopeReceiver &receiver, const std::string &reason, CacheStore &store);
  void addNote(const std::string &text);

  TrustList trust;
  std::string nameSpace, note;
  bool isNoted = false;
  std::vector<Remote> from, to;
  std::optional<SigningKey> key;
};

} // namespace tenon

#endif // TENON_COMPILER_REMOTE_REMOTEEXCHANGE_H
