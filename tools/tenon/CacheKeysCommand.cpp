//===- CacheKeysCommand.cpp - whose entries are used  ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/cache/CacheShares.h"
#include "compiler/errors/CompileError.h"
#include "compiler/report/ArtifactView.h"
#include "compiler/report/Table.h"
#include "tools/tenon/CacheSubcommands.h"
#include "tools/tenon/ErrorStream.h"
#include "tools/tenon/RemoteOptions.h"
#include "tools/tenon/Usage.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

using namespace tenon;
using Json = nlohmann::ordered_json;

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

static llvm::Expected<std::string> getTrustFile() {
  std::string file = TrustList::getDefaultFile();
  if (file.empty())
    return makeError(CompileStatus::resources, "there is no folder for a list of keys; set TENON_CACHE_TRUST");
  return file;
}

static llvm::Expected<int> generateKey(std::string file, const std::string &comment) {
  if (file.empty())
    file = getDefaultKeyFile();
  if (file.empty())
    return makeError(CompileStatus::resources, "there is no folder for a key; name a file");
  if (comment.find('\n') != std::string::npos)
    return makeError(CompileStatus::misuse, "--comment: expected one line");
  SigningKey key = SigningKey::generate();
  if (llvm::Error error = key.write(file, comment))
    return error;
  llvm::outs() << file << ": " << printPublicKey(key.getPublicKey()) << '\n'
               << "Others trust it by 'tenon cache trust' with " << file << ".pub.\n";
  return 0;
}

/// Returns the key in a text, or in the file that it names, with the comment there.
static llvm::Expected<TrustList::Signer> readSigner(const std::string &text) {
  TrustList::Signer signer;
  std::optional<std::string> key = parsePublicKey(text);
  if (!key) {
    auto file = llvm::MemoryBuffer::getFile(text, /*IsText=*/true);
    if (!file)
      return makeError(CompileStatus::invalid, text + ": " + file.getError().message());
    auto [digits, comment] = (*file)->getBuffer().split('\n').first.split(' ');
    key = parsePublicKey(digits);
    signer.comment = getPrintable(comment.str());
  }
  if (!key)
    return makeError(CompileStatus::invalid, text + ": not a public key, which begins with 'ed25519:'");
  signer.key = *key;
  return signer;
}

namespace {
/// A key in the list of signers.
struct ListedSigner {
  std::string file;
  TrustList list;
  TrustList::Signer signer;
};
} // namespace

static llvm::Expected<ListedSigner> readListed(const std::string &text) {
  llvm::Expected<std::string> file = getTrustFile();
  if (!file)
    return file.takeError();
  llvm::Expected<TrustList::Signer> signer = readSigner(text);
  if (!signer)
    return signer.takeError();
  llvm::Expected<TrustList> list = TrustList::read(*file);
  if (!list)
    return list.takeError();
  return ListedSigner{std::move(*file), std::move(*list), std::move(*signer)};
}

static llvm::Expected<int> trustKey(const std::string &text, const std::vector<std::string> &namespaces) {
  llvm::Expected<ListedSigner> listed = readListed(text);
  if (!listed)
    return listed.takeError();
  auto &[file, list, signer] = *listed;
  signer.namespaces = namespaces.empty() ? std::vector<std::string>{"default"} : namespaces;
  auto judge = [&listed](const std::string &space) { return listed->list.judge(listed->signer.key, space); };
  if (judge(signer.namespaces.front()) == TrustList::Standing::revoked)
    return makeError(CompileStatus::invalid, printPublicKey(signer.key) + " is revoked; " + file + " says so");
  if (!llvm::all_of(signer.namespaces,
                    [&](const std::string &space) { return judge(space) == TrustList::Standing::trusted; }))
    if (llvm::Error error = TrustList::append(file, signer))
      return error;
  llvm::outs() << printPublicKey(signer.key) << " is trusted in " << llvm::join(signer.namespaces, ", ") << '\n';
  return 0;
}

static llvm::Expected<int> listSigners(bool json) {
  llvm::Expected<std::string> file = getTrustFile();
  if (!file)
    return file.takeError();
  llvm::Expected<TrustList> list = TrustList::read(*file);
  if (!list)
    return list.takeError();
  Json signers = Json::array();
  Table table({"key", "namespaces", "~comment"});
  for (const TrustList::Signer &signer : list->getSigners()) {
    std::string spaces = signer.isRevoked ? "revoked" : llvm::join(signer.namespaces, ",");
    table.add({printPublicKey(signer.key), spaces, getPrintable(signer.comment)});
    signers.push_back({{"key", printPublicKey(signer.key)},
                       {"namespaces", signer.namespaces},
                       {"revoked", signer.isRevoked},
                       {"comment", signer.comment}});
  }
  if (json)
    llvm::outs() << Json{{"file", *file}, {"signers", std::move(signers)}}.dump(2, ' ', /*ensure_ascii=*/false,
                                                                                Json::error_handler_t::replace)
                 << '\n';
  else if (list->getSigners().empty())
    llvm::outs() << *file << ": no key is trusted\n";
  else
    table.print(llvm::outs());
  return 0;
}

/// Removes the entries of a key that came from remote caches, and all artifacts, of whatever origin, since any of them
/// may have been linked from kernels of that key. Returns their number.
static llvm::Expected<uint64_t> removeFetched(CacheStore &store, const std::string &key) {
  llvm::Expected<std::vector<CacheEntry>> entries = CacheShares(store).listFetched(key);
  if (!entries)
    return entries.takeError();
  std::vector<CacheStore::Filter> filters(1);
  filters.front().kind = CacheKind::artifact;
  for (const CacheEntry &entry : *entries) {
    filters.emplace_back();
    filters.back().kind = entry.kind;
    filters.back().key = entry.key;
  }
  uint64_t removed = 0;
  for (const CacheStore::Filter &filter : filters) {
    llvm::Expected<uint64_t> number = store.prune(filter, INT64_MAX, UINT64_MAX);
    if (!number)
      return number;
    removed += *number;
  }
  return removed;
}

static llvm::Expected<int> revokeKey(CacheStore &store, const std::string &text) {
  llvm::Expected<ListedSigner> listed = readListed(text);
  if (!listed)
    return listed.takeError();
  auto &[file, list, signer] = *listed;
  signer.isRevoked = true;
  // The key is revoked first, so that no new entries arrive while existing ones are removed.
  if (list.judge(signer.key, "default") != TrustList::Standing::revoked)
    if (llvm::Error error = TrustList::append(file, signer))
      return error;
  llvm::Expected<uint64_t> removed = removeFetched(store, signer.key);
  if (!removed)
    return removed.takeError();
  llvm::outs() << printPublicKey(signer.key) << " is revoked; " << *removed
               << (*removed == 1 ? " entry was" : " entries were") << " removed from " << store.getFolder() << '\n';
  return 0;
}

//===----------------------------------------------------------------------===//
// Quarantine
//===----------------------------------------------------------------------===//

static llvm::Expected<int> showQuarantine(CacheStore &store, bool json, bool clears) {
  CacheShares shares(store);
  llvm::Expected<std::vector<QuarantinedEntry>> entries = shares.listQuarantine();
  if (!entries)
    return entries.takeError();
  Json list = Json::array();
  constexpr size_t kKeyDigits = 12, kWidth = 160;
  Table table({"time", "namespace", "kind", "key", "remote cache", "~reason"});
  for (const QuarantinedEntry &entry : *entries) {
    table.add({getTimeText(entry.time), getPrintable(entry.nameSpace), getPrintable(entry.kind),
               getPrintable(entry.key.substr(0, kKeyDigits)), getPrintable(entry.source), getPrintable(entry.reason)});
    list.push_back({{"time", entry.time / 1000000},
                    {"remote", entry.source},
                    {"namespace", entry.nameSpace},
                    {"kind", entry.kind},
                    {"key", entry.key},
                    {"signer", entry.signer},
                    {"reason", entry.reason}});
  }
  if (json)
    llvm::outs() << Json{{"entries", std::move(list)}}.dump(2, ' ', /*ensure_ascii=*/false,
                                                            Json::error_handler_t::replace)
                 << '\n';
  else if (entries->empty())
    llvm::outs() << "nothing is in quarantine\n";
  else
    table.print(llvm::outs(), kWidth);
  if (clears)
    if (llvm::Error error = shares.clearQuarantine())
      return error;
  return 0;
}

//===----------------------------------------------------------------------===//
// Pushing
//===----------------------------------------------------------------------===//

static llvm::Expected<int> pushEntries(CacheStore &store, RemoteArguments arguments, const std::string &url) {
  arguments.to = {url};
  llvm::Expected<ExchangeOptions> options = resolveRemotes(arguments);
  if (!options)
    return options.takeError();
  options->from.clear();
  llvm::Expected<std::unique_ptr<RemoteExchange>> exchange = RemoteExchange::open(*options);
  if (!exchange)
    return exchange.takeError();
  llvm::Expected<uint64_t> pushed = (*exchange)->push(store);
  if (!pushed)
    return pushed.takeError();
  llvm::outs() << url << ": " << *pushed << (*pushed == 1 ? " entry" : " entries") << '\n';
  return 0;
}

static void addPush(CLI::App &command, int &status) {
  auto arguments = std::make_shared<RemoteArguments>();
  auto url = std::make_shared<std::string>();
  CLI::App *sub = command.add_subcommand("push", "write the signed entries of this cache to a remote one");
  sub->add_option("url", *url, "a folder, or redis://HOST")->required()->type_name("URL");
  constexpr char kGroup[] = "Remote caches";
  addRemoteNamespace(*sub, *arguments, kGroup);
  addSigningKey(*sub, *arguments, kGroup);
  addExamples(
      *sub, {"tenon cache push redis://cache.example"},
      "Kernels that were compiled here before there was a key are signed now. Artifacts are signed when they are "
      "compiled.");
  sub->callback([arguments, url, &status] {
    status = withCacheStore([&](CacheStore &store) { return pushEntries(store, *arguments, *url); });
  });
}

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

static void addKeyGeneration(CLI::App &command, int &status) {
  auto file = std::make_shared<std::string>(), comment = std::make_shared<std::string>();
  CLI::App *sub = command.add_subcommand("keygen", "make a key to sign entries with for other machines");
  sub->add_option("file", *file, "file to make, with FILE.pub for others; default: where compilations look for it")
      ->type_name("FILE");
  sub->add_option("--comment", *comment, "comment that says whose key it is")->type_name("TEXT");
  sub->callback([file, comment, &status] { status = finish(generateKey(*file, *comment)); });
}

void tenon::addCacheKeyCommands(CLI::App &command, int &status) {
  addKeyGeneration(command, status);
  addPush(command, status);
  auto key = std::make_shared<std::string>();
  auto namespaces = std::make_shared<std::vector<std::string>>();
  CLI::App *trust = command.add_subcommand("trust", "use entries of remote caches that are signed with a key");
  trust->add_option("key", *key, "FILE.pub of 'tenon cache keygen', or the key itself")->required()->type_name("KEY");
  trust->add_option("--cache-namespace", *namespaces, "where it is trusted; repeatable; '*' is everywhere")
      ->allow_extra_args(false)
      ->type_name("NAME");
  addExamples(*trust, {"tenon cache trust builder.pub"},
              "Entries are code, which models that are compiled here will run: trust whom you would take a program "
              "from. The list is in TENON_CACHE_TRUST, or else in tenon/cache-trust of XDG_CONFIG_HOME or ~/.config.");
  trust->callback([key, namespaces, &status] { status = finish(trustKey(*key, *namespaces)); });
  auto json = std::make_shared<bool>(false);
  CLI::App *signers = command.add_subcommand("signers", "list the keys that are trusted or revoked");
  signers->add_flag("--json", *json, "print JSON");
  signers->callback([json, &status] { status = finish(listSigners(*json)); });
  CLI::App *revoke = command.add_subcommand(
      "revoke", "use no entries of a key any more; remove those that were fetched, and all artifacts");
  revoke->add_option("key", *key, "FILE.pub, or the key itself")->required()->type_name("KEY");
  revoke->callback(
      [key, &status] { status = withCacheStore([&](CacheStore &store) { return revokeKey(store, *key); }); });
  auto clears = std::make_shared<bool>(false);
  CLI::App *quarantine =
      command.add_subcommand("quarantine", "list entries of remote caches that were not used, and why");
  quarantine->add_flag("--json", *json, "print JSON");
  quarantine->add_flag("--clear", *clears, "forget them then");
  quarantine->callback([json, clears, &status] {
    status = withCacheStore([&](CacheStore &store) { return showQuarantine(store, *json, *clears); });
  });
}
