//===- CacheRemote.h - caches that machines share  ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REMOTE_CACHEREMOTE_H
#define TENON_COMPILER_REMOTE_CACHEREMOTE_H

#include "compiler/remote/Envelope.h"

namespace tenon {

/// A place through which machines exchange envelopes. It is untrusted: an EnvelopeReceiver verifies what comes from it.
/// Not thread-safe; after a fork, each process has its own connection.
class CacheRemote {
public:
  virtual ~CacheRemote() = default;

  /// Called for each envelope that was found, with an error or success.
  using Done = llvm::function_ref<void(EnvelopeReceiver &, llvm::Error)>;
  /// Fetches the envelopes in as few round trips as possible; missing ones are skipped. Fails if the place is unusable,
  /// in which case it should not be used again.
  virtual llvm::Error get(llvm::ArrayRef<std::unique_ptr<EnvelopeReceiver>> wanted, Done done) = 0;

  using Publication = CacheExchange::Publication;
  /// Writes envelopes, each atomically. The category is `unsupported` if nothing can be written.
  virtual llvm::Error put(llvm::ArrayRef<Publication> publications) = 0;

  /// Visits the unverified signed entries of a namespace in any order, until `visit` returns false.
  virtual llvm::Error list(llvm::StringRef nameSpace, llvm::function_ref<bool(SignedEntry)> visit) = 0;
};

struct RemoteSettings {
  const TrustList *trust = nullptr; ///< outlives the remote cache
  std::string token;                ///< for those that want one; empty: none
  double timeout = 60;              ///< seconds that one request may take
};

/// Returns the remote cache of a URL: file:///FOLDER (or a path), redis://HOST[:PORT][/DATABASE], http://HOST[:PORT] or
/// https://HOST. Does not connect yet. Fails with category `misuse` if the URL is invalid.
llvm::Expected<std::unique_ptr<CacheRemote>> openRemote(const std::string &url, const RemoteSettings &settings);

/// Returns a message of a remote cache in a form that is safe for a terminal: one short line of printable characters.
std::string makePlain(llvm::StringRef text);

/// Returns the seconds in TENON_CACHE_TIMEOUT, or the default. Fails if it is not a number.
llvm::Expected<double> getRemoteTimeout();

std::unique_ptr<CacheRemote> makeFolderRemote(std::string folder, const RemoteSettings &settings);
llvm::Expected<std::unique_ptr<CacheRemote>> makeRedisRemote(llvm::StringRef url, const RemoteSettings &settings);
llvm::Expected<std::unique_ptr<CacheRemote>> makeHttpRemote(llvm::StringRef url, const RemoteSettings &settings);

} // namespace tenon

#endif // TENON_COMPILER_REMOTE_CACHEREMOTE_H
