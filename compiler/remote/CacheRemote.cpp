//===- CacheRemote.cpp - caches that machines share  ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/remote/CacheRemote.h"
#include "compiler/errors/CompileError.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include <cmath>
#include <cstdlib>

using namespace tenon;

std::string tenon::makePlain(llvm::StringRef text) {
  constexpr size_t kMaxSize = 200;
  std::string plain = text.take_front(kMaxSize).str();
  for (char &c : plain)
    if (!llvm::isPrint(c))
      c = '?';
  return text.size() > kMaxSize ? plain + "..." : plain;
}

llvm::Expected<double> tenon::getRemoteTimeout() {
  const char *own = std::getenv("TENON_CACHE_TIMEOUT");
  double seconds = RemoteSettings().timeout;
  constexpr double kMaxSeconds = 86400;
  if (own && *own && !(llvm::to_float(own, seconds) && seconds > 0 && seconds <= kMaxSeconds))
    return makeError(CompileStatus::misuse,
                     "TENON_CACHE_TIMEOUT: expected a number of seconds, got '" + llvm::Twine(own) + "'");
  return seconds;
}

llvm::Expected<std::unique_ptr<CacheRemote>> tenon::openRemote(const std::string &url, const RemoteSettings &settings) {
  llvm::StringRef text(url);
  auto [scheme, rest] = text.split("://");
  bool isUrl = scheme.size() != text.size();
  if (!isUrl || scheme == "file") {
    llvm::SmallString<128> folder(isUrl ? rest : text);
    if (isUrl && !rest.starts_with("/"))
      return makeError(CompileStatus::misuse, url + ": expected file:///FOLDER");
    if (folder.empty() || llvm::sys::fs::make_absolute(folder))
      return makeError(CompileStatus::misuse, "'" + url + "' is no remote cache");
    return makeFolderRemote(folder.str().str(), settings);
  }
  // Credentials are rejected, because other users of the machine can read command lines.
  if (rest.split('/').first.contains('@'))
    return makeError(CompileStatus::misuse,
                     "the URL of a remote cache has no user and password; TENON_CACHE_TOKEN or TENON_CACHE_TOKEN_FILE "
                     "passes a token");
  if (scheme == "redis")
    return makeRedisRemote(text, settings);
  if (scheme == "http" || scheme == "https")
    return makeHttpRemote(text, settings);
  return makeError(CompileStatus::misuse,
                   url + ": expected a folder or a URL with file, redis, http or https, got '" + scheme + "'");
}
