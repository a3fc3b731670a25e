//===- CacheServer.h - a cache for other machines  ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REMOTE_CACHESERVER_H
#define TENON_COMPILER_REMOTE_CACHESERVER_H

#include "compiler/cache/CacheShares.h"
#include "compiler/remote/HttpProtocol.h"
#include <memory>

namespace tenon {

/// Who may read which namespace of a server.
class ServerTokens {
public:
  /// A token for a namespace; "*" is all of them.
  void add(std::string nameSpace, std::string token);
  bool isEmpty() const { return tokens.empty(); }
  /// True if a header field "Authorization" (null if absent) grants access to a namespace, in constant time for tokens
  /// of equal length. Without any tokens, access is unrestricted.
  bool isAllowed(const char *authorization, llvm::StringRef nameSpace) const;
  /// Reads a file with a line "NAMESPACE TOKEN" for each token, which must not be readable by others. Lines that begin
  /// with # are comments.
  static llvm::Expected<ServerTokens> read(const std::string &file);

private:
  struct Token {
    std::string nameSpace, token;
  };
  std::vector<Token> tokens;
};

struct ServerOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 0; ///< 0: any that is free
  unsigned maxConnections = 64;
  ServerTokens tokens;
  std::string certificateFile, keyFile; ///< of TLS, in PEM; empty: plain HTTP
};

/// Serves the signed entries of a store by HTTP, while other processes write to it. It neither writes nor signs.
class CacheServer {
public:
  /// Begins to listen. `store` outlives the server.
  static llvm::Expected<std::unique_ptr<CacheServer>> start(const CacheStore &store, ServerOptions options);
  /// Waits for responses that are being sent, and closes all connections.
  ~CacheServer();
  CacheServer(const CacheServer &) = delete;

  /// "http://127.0.0.1:8080".
  const std::string &getUrl() const { return url; }

private:
  struct State;
  explicit CacheServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
  std::string url;
};

} // namespace tenon

#endif // TENON_COMPILER_REMOTE_CACHESERVER_H
