//===- RemoteOptions.h - which remote caches are used  --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_REMOTEOPTIONS_H
#define TENON_TOOLS_TENON_REMOTEOPTIONS_H

#include "compiler/remote/RemoteExchange.h"

namespace CLI {
class App;
}

namespace tenon {

/// The options for remote caches; the environment provides defaults.
struct RemoteArguments {
  std::vector<std::string> from, to;
  std::string nameSpace, keyFile;
};

void addRemoteSource(CLI::App &command, RemoteArguments &arguments, const char *group);
void addRemoteNamespace(CLI::App &command, RemoteArguments &arguments, const char *group);
void addSigningKey(CLI::App &command, RemoteArguments &arguments, const char *group);
void addRemoteOptions(CLI::App &command, RemoteArguments &arguments);

/// Returns the options of an exchange. Defaults are read from the environment: TENON_CACHE_FROM, TENON_CACHE_TO,
/// TENON_CACHE_NAMESPACE, TENON_CACHE_SIGNING_KEY, TENON_CACHE_TRUST, TENON_CACHE_TOKEN and TENON_CACHE_TOKEN_FILE.
llvm::Expected<ExchangeOptions> resolveRemotes(const RemoteArguments &arguments);

/// Opens the exchange of a compilation; null if neither a remote cache nor a signing key is given.
llvm::Expected<std::shared_ptr<CacheExchange>> openExchange(const RemoteArguments &arguments);

/// Returns TENON_CACHE_TOKEN, or the first line of TENON_CACHE_TOKEN_FILE; empty if none is set.
llvm::Expected<std::string> getRemoteToken();

/// Where the user's signing key is by default.
std::string getDefaultKeyFile();

} // namespace tenon

#endif // TENON_TOOLS_TENON_REMOTEOPTIONS_H
