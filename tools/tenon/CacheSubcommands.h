//===- CacheSubcommands.h - what parts of tenon cache share  --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_CACHESUBCOMMANDS_H
#define TENON_TOOLS_TENON_CACHESUBCOMMANDS_H

#include "compiler/cache/CacheStore.h"

namespace CLI {
class App;
}

namespace tenon {

/// Opens the user's cache and runs `use` with it. Returns the exit code.
int withCacheStore(llvm::function_ref<llvm::Expected<int>(CacheStore &)> use);
/// "2026-11-26 19:13", of microseconds since 1970.
std::string getTimeText(int64_t microseconds);

/// Adds keygen, trust, signers, revoke, quarantine and push.
void addCacheKeyCommands(CLI::App &command, int &status);
void addCachePlanCommand(CLI::App &command, int &status);
void addCacheServeCommand(CLI::App &command, int &status);

} // namespace tenon

#endif // TENON_TOOLS_TENON_CACHESUBCOMMANDS_H
