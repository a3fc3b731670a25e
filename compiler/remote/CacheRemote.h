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

/// A place where other machines put envelopes, or find them. It is trusted with nothing: an EnvelopeReceiver checks
/// what comes from it. For one thread at a time, and for a process that forks: each process has its own connection.
class CacheRemote {
public:
  virtual ~CacheRemote() = default;

  /// Told of each envelope that was found: what went wrong with it, or nothing if it is complete.
  using Done = llvm::function_ref<void(EnvelopeReceiver &, llvm::Error)>;
  /// Looks for all of the envelopes, in as few round trips as possible; those that are not there are passed over. Fails
  /// where the place cannot be used, and then should not be asked again.
  virtual llvm::Error get(llvm::ArrayRef<std::unique_ptr<EnvelopeReceiver>> wanted, Done done) = 0;

  using Publication = CacheExchange::Publication;
  /// Writes envelopes, each as a whole or not at all. Category `unsupported` where nothing can be written.
  virtual llvm::Error put(llvm::ArrayRef<Publication> publications) = 0;

  /// The signed entries of a namespace, not verified, in no order. `visit` returns whether to go on.
  virtual llvm::Error list(llvm::StringRef nameSpace, llvm::function_ref<bool(SignedEntry)> visit) = 0;
};

struct RemoteSettings {
  const TrustList *trust = nullptr; ///< outlives the remote cache
  std::string token;                ///< for those that want one; empty: none
  double timeout = 60;              ///< seconds that one request may take
};

/// The remote cache of a URL: file:///FOLDER (or a path), redis://HOST[:PORT][/DATABASE], http://HOST[:PORT] or
/// https://HOST. Connects to nothing yet. Fails with category `misuse` if the URL is none.
llvm::Expected<std::unique_ptr<CacheRemote>> openRemote(const std::string &url, const RemoteSettings &settings);

/// What a remote cache said, for a terminal: one line of printable characters, and not too many.
std::string makePlain(llvm::StringRef text);

/// The seconds of TENON_CACHE_TIMEOUT, or the default. Fails where that is no number.
llvm::Expected<double> getRemoteTimeout();

std::unique_ptr<CacheRemote> makeFolderRemote(std::string folder, const RemoteSettings &settings);
llvm::Expected<std::unique_ptr<CacheRemote>> makeRedisRemote(llvm::StringRef url, const RemoteSettings &settings);
llvm::Expected<std::unique_ptr<CacheRemote>> makeHttpRemote(llvm::StringRef url, const RemoteSettings &settings);

} // namespace tenon

#endif // TENON_COMPILER_REMOTE_CACHEREMOTE_H
