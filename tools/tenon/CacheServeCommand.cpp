//===- CacheServeCommand.cpp - tenon cache serve  -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/errors/CompileError.h"
#include "compiler/remote/CacheServer.h"
#include "tools/tenon/CacheSubcommands.h"
#include "tools/tenon/ErrorStream.h"
#include "tools/tenon/RemoteOptions.h"
#include "tools/tenon/Usage.h"
#include <CLI/CLI.hpp>
#include <csignal>

using namespace tenon;

namespace {
struct ServeArguments {
  ServerOptions server;
  std::string tokenFile;
  bool isOpen = false;
};
} // namespace

/// The signals that end the server.
static sigset_t blockSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGINT, SIGTERM})
    sigaddset(&signals, signal);
  // The server's threads inherit this mask, so that the main thread receives the signals.
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

static llvm::Error takeTokens(ServeArguments &arguments) {
  if (!arguments.tokenFile.empty()) {
    llvm::Expected<ServerTokens> tokens = ServerTokens::read(arguments.tokenFile);
    if (!tokens)
      return tokens.takeError();
    arguments.server.tokens = std::move(*tokens);
    return llvm::Error::success();
  }
  if (arguments.isOpen)
    return llvm::Error::success();
  llvm::Expected<std::string> token = getRemoteToken();
  if (!token)
    return token.takeError();
  if (token->empty())
    return makeError(CompileStatus::misuse, "clients have to be authenticated: pass --token-file, set "
                                            "TENON_CACHE_TOKEN, or let everybody read with --no-token");
  arguments.server.tokens.add("*", *token);
  return llvm::Error::success();
}

static llvm::Expected<int> serve(CacheStore &store, ServeArguments &arguments) {
  if (arguments.server.certificateFile.empty() != arguments.server.keyFile.empty())
    return makeError(CompileStatus::misuse, "--tls-certificate and --tls-key belong together");
  if (llvm::Error error = takeTokens(arguments))
    return error;
  sigset_t signals = blockSignals();
  llvm::Expected<std::unique_ptr<CacheServer>> server = CacheServer::start(store, arguments.server);
  if (!server)
    return server.takeError();
  llvm::outs() << "serving " << store.getFolder() << " at " << (*server)->getUrl() << '\n';
  llvm::outs().flush();
  int signal = 0;
  while (sigwait(&signals, &signal) != 0)
    continue;
  return 0;
}

void tenon::addCacheServeCommand(CLI::App &command, int &status) {
  auto arguments = std::make_shared<ServeArguments>();
  ServerOptions &server = arguments->server;
  constexpr uint16_t kDefaultPort = 8470;
  server.port = kDefaultPort;
  CLI::App *sub = command.add_subcommand("serve", "let other machines read the signed entries of this cache by HTTP");
  sub->add_option("--address", server.address, "IP address to listen on; 0.0.0.0 is all addresses of this machine")
      ->capture_default_str()
      ->type_name("IP");
  sub->add_option("--port", server.port, "0: any that is free")->capture_default_str()->type_name("NUMBER");
  CLI::Option *file =
      sub->add_option(
             "--token-file", arguments->tokenFile,
             "who may read what: lines 'NAMESPACE TOKEN', where * is any namespace; default: TENON_CACHE_TOKEN "
             "opens all")
          ->type_name("FILE");
  sub->add_flag("--no-token", arguments->isOpen, "let everybody read")->excludes(file);
  sub->add_option("--max-connections", server.maxConnections,
                  "largest number of connections at a time; others are refused")
      ->check(CLI::Range(4, 10000).description(""))
      ->capture_default_str()
      ->type_name("NUMBER");
  sub->add_option("--tls-certificate", server.certificateFile, "serve HTTPS with this certificate (PEM)")
      ->type_name("FILE");
  sub->add_option("--tls-key", server.keyFile, "the certificate's key (PEM)")->type_name("FILE");
  addExamples(*sub, {"TENON_CACHE_TOKEN_FILE=token tenon cache serve --address 0.0.0.0"},
              "Only entries that were signed when they were compiled are served: see 'tenon cache keygen'. The server "
              "writes nothing, and ends with Ctrl-C.");
  sub->callback(
      [arguments, &status] { status = withCacheStore([&](CacheStore &store) { return serve(store, *arguments); }); });
}
