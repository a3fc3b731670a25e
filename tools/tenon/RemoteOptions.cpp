//===- RemoteOptions.cpp - which remote caches are used  ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/RemoteOptions.h"
#include "compiler/errors/CompileError.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <CLI/CLI.hpp>
#include <cstdlib>

using namespace tenon;

void tenon::addRemoteSource(CLI::App &command, RemoteArguments &arguments, const char *group) {
  command
      .add_option("--cache-from", arguments.from,
                  "look for what this machine's cache lacks in a remote one: a folder, redis://HOST, http://HOST or "
                  "https://HOST; repeatable; default: TENON_CACHE_FROM")
      ->allow_extra_args(false)
      ->type_name("URL")
      ->group(group);
}

void tenon::addRemoteNamespace(CLI::App &command, RemoteArguments &arguments, const char *group) {
  command
      .add_option("--cache-namespace", arguments.nameSpace,
                  "entries of remote caches that are meant; default: TENON_CACHE_NAMESPACE, or 'default'")
      ->type_name("NAME")
      ->group(group);
}

void tenon::addSigningKey(CLI::App &command, RemoteArguments &arguments, const char *group) {
  command
      .add_option("--cache-signing-key", arguments.keyFile,
                  "key to sign entries with for other machines; default: TENON_CACHE_SIGNING_KEY, or the one that "
                  "'tenon cache keygen' made")
      ->type_name("FILE")
      ->group(group);
}

void tenon::addRemoteOptions(CLI::App &command, RemoteArguments &arguments) {
  constexpr char kGroup[] = "Remote caches";
  addRemoteSource(command, arguments, kGroup);
  command
      .add_option("--cache-to", arguments.to,
                  "also write what is compiled to a remote cache: a folder or redis://HOST; repeatable; default: "
                  "TENON_CACHE_TO")
      ->allow_extra_args(false)
      ->type_name("URL")
      ->group(kGroup);
  addRemoteNamespace(command, arguments, kGroup);
  addSigningKey(command, arguments, kGroup);
}

static std::string getVariable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// The URLs of a variable, which blanks separate.
static std::vector<std::string> listUrls(const char *variable) {
  std::string text = getVariable(variable);
  llvm::SmallVector<llvm::StringRef> words;
  llvm::SplitString(text, words);
  return {words.begin(), words.end()};
}

llvm::Expected<std::string> tenon::getRemoteToken() {
  std::string token = getVariable("TENON_CACHE_TOKEN"), file = getVariable("TENON_CACHE_TOKEN_FILE");
  if (token.empty() && !file.empty()) {
    if (llvm::Error error = checkPermissions(file, /*isSecret=*/true))
      return error;
    auto text = llvm::MemoryBuffer::getFile(file, /*IsText=*/true);
    if (!text)
      return makeError(CompileStatus::invalid, file + ": " + text.getError().message());
    token = (*text)->getBuffer().split('\n').first.trim().str();
    if (token.empty())
      return makeError(CompileStatus::invalid, file + ": its first line is no token");
  }
  if (llvm::any_of(token, [](char c) { return !llvm::isPrint(c) || c == ' '; }))
    return makeError(CompileStatus::invalid, "a token may only contain letters, digits and punctuation");
  return token;
}

std::string tenon::getDefaultKeyFile() { return getConfigFile("cache-signing-key"); }

llvm::Expected<ExchangeOptions> tenon::resolveRemotes(const RemoteArguments &arguments) {
  ExchangeOptions options;
  options.from = arguments.from.empty() ? listUrls("TENON_CACHE_FROM") : arguments.from;
  options.to = arguments.to.empty() ? listUrls("TENON_CACHE_TO") : arguments.to;
  options.keyFile = arguments.keyFile.empty() ? getVariable("TENON_CACHE_SIGNING_KEY") : arguments.keyFile;
  if (options.keyFile.empty())
    if (std::string file = getDefaultKeyFile(); !file.empty() && llvm::sys::fs::exists(file))
      options.keyFile = file;
  std::string space = arguments.nameSpace.empty() ? getVariable("TENON_CACHE_NAMESPACE") : arguments.nameSpace;
  if (!space.empty())
    options.nameSpace = space;
  options.trustFile = TrustList::getDefaultFile();
  llvm::Expected<std::string> token = getRemoteToken();
  if (!token)
    return token.takeError();
  options.token = *token;
  return options;
}

llvm::Expected<std::shared_ptr<CacheExchange>> tenon::openExchange(const RemoteArguments &arguments) {
  llvm::Expected<ExchangeOptions> options = resolveRemotes(arguments);
  if (!options)
    return options.takeError();
  if (options->from.empty() && options->to.empty() && options->keyFile.empty())
    return std::shared_ptr<CacheExchange>();
  llvm::Expected<std::unique_ptr<RemoteExchange>> exchange = RemoteExchange::open(*options);
  if (!exchange)
    return exchange.takeError();
  return std::shared_ptr<CacheExchange>(std::move(*exchange));
}
