//===- CacheCommand.cpp - tenon cache -------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/cache/CacheArchive.h"
#include "compiler/cache/CacheStore.h"
#include "compiler/errors/CompileError.h"
#include "compiler/report/ArtifactView.h"
#include "compiler/report/Describe.h"
#include "compiler/report/Table.h"
#include "tools/tenon/CacheSubcommands.h"
#include "tools/tenon/Commands.h"
#include "tools/tenon/ErrorStream.h"
#include "tools/tenon/RemoteOptions.h"
#include "tools/tenon/Usage.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/FormatVariadic.h"
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <set>

using namespace tenon;
using Filter = CacheStore::Filter;
using Json = nlohmann::ordered_json;

namespace {
/// What all subcommands share.
struct CacheOptions {
  Filter filter;
  std::string kind; ///< empty: both
  RemoteArguments remotes;
  bool json = false;
};
} // namespace

int tenon::withCacheStore(llvm::function_ref<llvm::Expected<int>(CacheStore &)> use) {
  std::string folder = CacheStore::getDefaultFolder();
  if (folder.empty())
    return finish(makeError(CompileStatus::resources, "there is no folder for a cache; set TENON_CACHE_DIR"));
  llvm::Expected<uint64_t> limit = CacheStore::getDefaultLimit();
  if (!limit)
    return finish(limit.takeError());
  llvm::Expected<std::unique_ptr<CacheStore>> store = CacheStore::open(folder, *limit);
  return finish(store ? use(**store) : store.takeError());
}

std::string tenon::getTimeText(int64_t microseconds) {
  return llvm::formatv("{0:%Y-%m-%d %H:%M}", llvm::sys::TimePoint<>(std::chrono::microseconds(microseconds)));
}

/// Names come from untrusted models, so they are escaped.
static void print(const Json &json) {
  llvm::outs() << json.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) << '\n';
}

static std::string countEntries(uint64_t number) {
  return std::to_string(number) + (number == 1 ? " entry" : " entries");
}

//===----------------------------------------------------------------------===//
// list, search and show
//===----------------------------------------------------------------------===//

static Json toJson(const CacheStore &store, const CacheEntry &entry) {
  Json uses = Json::array();
  for (const CacheUse &use : entry.uses)
    uses.push_back({{"model", use.model}, {"node", use.node}});
  Json files = Json::array();
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(entry.files).split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines)
    files.push_back(line.split(' ').second.str());
  return {{"kind", getName(entry.kind).str()},
          {"key", entry.key},
          {"file", store.getPath(entry)},
          {"bytes", entry.bytes},
          {"title", entry.title},
          {"hardware", entry.hardware},
          {"compiler", entry.compiler},
          {"origin", entry.origin},
          {"created", entry.created / 1000000},
          {"last_use", entry.lastUse / 1000000},
          {"uses", std::move(uses)},
          {"files", std::move(files)}};
}

/// "model.onnx", or "model.onnx and 2 more".
static std::string listModels(const CacheEntry &entry) {
  std::set<std::string> models;
  for (const CacheUse &use : entry.uses)
    models.insert(use.model);
  if (models.empty())
    return "-";
  std::string text = getPrintable(*models.begin());
  return models.size() == 1 ? text : text + " and " + std::to_string(models.size() - 1) + " more";
}

static std::string listNodes(const CacheEntry &entry) {
  std::set<std::string> nodes; // which have the same names in other models
  for (const CacheUse &use : entry.uses)
    if (!use.node.empty())
      nodes.insert(getPrintable(use.node));
  return llvm::join(nodes, "; ");
}

/// What a key is called in tables, and is found by.
static constexpr size_t kKeyDigits = 12;

/// True if an entry of a remote cache matches the filter.
static bool matches(const CacheEntry &entry, const Filter &filter) {
  auto contains = [](llvm::StringRef text, llvm::StringRef part) { return text.contains_insensitive(part); };
  auto isUsed = [&](llvm::StringRef model, llvm::StringRef node) {
    return llvm::any_of(entry.uses,
                        [&](const CacheUse &use) { return contains(use.model, model) && contains(use.node, node); });
  };
  bool isAnywhere = contains(entry.title, filter.anywhere) || contains(entry.hardware, filter.anywhere) ||
                    isUsed(filter.anywhere, "") || isUsed("", filter.anywhere);
  return (!filter.kind || entry.kind == *filter.kind) && contains(entry.title, filter.title) &&
         contains(entry.hardware, filter.hardware) && (filter.model.empty() || isUsed(filter.model, "")) &&
         (filter.node.empty() || isUsed("", filter.node)) && isAnywhere;
}

/// Calls `visit` with the entries of the local cache, or of the remote ones if some are given.
static llvm::Error visitEntries(CacheStore &store, const CacheOptions &options,
                                llvm::function_ref<bool(const CacheEntry &)> visit) {
  if (options.remotes.from.empty())
    return store.visit(options.filter, visit);
  llvm::Expected<ExchangeOptions> remotes = resolveRemotes(options.remotes);
  if (!remotes)
    return remotes.takeError();
  remotes->to.clear();
  remotes->keyFile.clear();
  llvm::Expected<std::unique_ptr<RemoteExchange>> exchange = RemoteExchange::open(*remotes);
  if (!exchange)
    return exchange.takeError();
  std::vector<CacheEntry> entries;
  llvm::Expected<uint64_t> others = (*exchange)->list([&](const CacheEntry &entry) {
    if (matches(entry, options.filter))
      entries.push_back(entry);
    return true;
  });
  // A remote cache has them in no order.
  llvm::sort(entries, [](const CacheEntry &a, const CacheEntry &b) {
    return std::tie(a.kind, a.title, a.key) < std::tie(b.kind, b.title, b.key);
  });
  for (const CacheEntry &entry : entries)
    if (!visit(entry))
      break;
  if (others && *others)
    errors() << "tenon: warning: " << countEntries(*others) << (*others == 1 ? " is" : " are")
             << " not shown: no trusted key has signed " << (*others == 1 ? "it" : "them") << " for this namespace\n";
  return others ? llvm::Error::success() : others.takeError();
}

static llvm::Expected<int> listEntries(CacheStore &store, const CacheOptions &options) {
  bool isHere = options.remotes.from.empty();
  std::string place = isHere ? store.getFolder() : llvm::join(options.remotes.from, ", ");
  Json list = Json::array();
  Table table({"key", "last use", ">size", "kind", "~what", "~model", "~nodes"});
  uint64_t entries = 0, bytes = 0;
  if (llvm::Error error = visitEntries(store, options, [&](const CacheEntry &entry) {
        ++entries;
        bytes += entry.bytes;
        if (options.json) {
          list.push_back(toJson(store, entry));
          if (!isHere)
            list.back().erase("file");
        } else
          table.add({entry.key.substr(0, kKeyDigits), isHere ? getTimeText(entry.lastUse) : "-", bytesText(entry.bytes),
                     getName(entry.kind).str(), entry.title.empty() ? "-" : getPrintable(entry.title),
                     listModels(entry), listNodes(entry)});
        return true;
      }))
    return error;
  if (options.json) {
    print({{"folder", place}, {"bytes", bytes}, {"entries", std::move(list)}});
    return 0;
  }
  constexpr size_t kWidth = 120;
  if (entries)
    table.print(llvm::outs(), kWidth);
  llvm::outs() << place << ": " << countEntries(entries) << ", " << bytesText(bytes) << '\n';
  return 0;
}

static void printEntry(const CacheStore &store, const CacheEntry &entry) {
  auto line = [](const char *title, const std::string &text) {
    llvm::outs() << llvm::formatv("{0,-10}{1}\n", title, text);
  };
  line(getName(entry.kind).data(), entry.key);
  line("what", entry.title.empty() ? "-" : getPrintable(entry.title));
  line("hardware", getPrintable(entry.hardware));
  line("compiler", getPrintable(entry.compiler));
  line("file", getPrintable(store.getPath(entry)) + ", " + bytesText(entry.bytes));
  line("created", getTimeText(entry.created) + ", " + entry.origin);
  line("last use", getTimeText(entry.lastUse));
  for (const CacheUse &use : entry.uses)
    line("used by", getPrintable(use.model) + (use.node.empty() ? "" : ": " + getPrintable(use.node)));
  llvm::SmallVector<llvm::StringRef> files;
  llvm::StringRef(entry.files).split(files, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (llvm::StringRef file : files)
    line("made of", getPrintable(file.split(' ').second.str()));
}

static llvm::Expected<int> showEntry(CacheStore &store, const CacheOptions &options, const std::string &key) {
  Filter filter;
  filter.key = key;
  std::vector<CacheEntry> found;
  if (llvm::Error error = store.visit(filter, [&](const CacheEntry &entry) {
        found.push_back(entry);
        return found.size() < 2;
      }))
    return error;
  if (found.size() != 1)
    return makeError(CompileStatus::invalid, (found.empty() ? "there is no entry " : "there are several entries ") +
                                                 getPrintable(key) + (found.empty() ? "" : "...; give more digits"));
  if (options.json)
    print(toJson(store, found.front()));
  else
    printEntry(store, found.front());
  return 0;
}

//===----------------------------------------------------------------------===//
// The other subcommands
//===----------------------------------------------------------------------===//

static llvm::Expected<int> printUsage(CacheStore &store, const CacheOptions &options) {
  llvm::Expected<CacheStore::Usage> usage = store.measure();
  if (!usage)
    return usage.takeError();
  uint64_t contents = usage->kernelBytes + usage->artifactBytes;
  if (options.json) {
    print({{"folder", store.getFolder()},
           {"kernels", usage->kernels},
           {"kernel_bytes", usage->kernelBytes},
           {"artifacts", usage->artifacts},
           {"artifact_bytes", usage->artifactBytes},
           {"index_bytes", usage->indexBytes},
           {"other_bytes", usage->otherBytes},
           {"limit_bytes", store.getLimit()}});
    return 0;
  }
  Table table({"what", ">entries", ">size"});
  table.add({"kernels", std::to_string(usage->kernels), bytesText(usage->kernelBytes)});
  table.add({"artifacts", std::to_string(usage->artifacts), bytesText(usage->artifactBytes)});
  table.add({"index", "", bytesText(usage->indexBytes)});
  table.add({"other files", "", bytesText(usage->otherBytes)});
  table.print(llvm::outs());
  llvm::outs() << store.getFolder() << ": " << bytesText(contents) << " of " << bytesText(store.getLimit()) << '\n';
  return 0;
}

namespace {
/// What `prune` removes.
struct Pruning {
  int64_t days = 0; ///< 0: of whatever age
  uint64_t limit = UINT64_MAX;
  bool isAll = false;
};
} // namespace

static llvm::Expected<int> pruneEntries(CacheStore &store, const CacheOptions &options, const Pruning &pruning) {
  constexpr int64_t kMicrosecondsOfDay = int64_t(86400) * 1000000;
  bool isFiltered = options.filter.kind || !options.filter.model.empty() || !options.filter.node.empty() ||
                    !options.filter.title.empty() || !options.filter.hardware.empty();
  if (!pruning.isAll && !pruning.days && pruning.limit == UINT64_MAX && !isFiltered)
    return makeError(CompileStatus::misuse, "nothing selects the entries to remove: pass --limit, --older-than, --all, "
                                            "or which entries; see 'tenon cache prune --help'");
  if (pruning.isAll && isFiltered)
    return makeError(CompileStatus::misuse, "--all removes every entry, not some");
  int64_t time = pruning.days                  ? getCacheTime() - pruning.days * kMicrosecondsOfDay
                 : isFiltered || pruning.isAll ? INT64_MAX
                                               : 0;
  llvm::Expected<uint64_t> removed = store.prune(options.filter, time, pruning.limit);
  if (!removed)
    return removed.takeError();
  if (options.json)
    print({{"folder", store.getFolder()}, {"removed", *removed}});
  else
    llvm::outs() << store.getFolder() << ": removed " << countEntries(*removed) << '\n';
  return 0;
}

static llvm::Expected<int> verifyEntries(CacheStore &store, const CacheOptions &options, bool removes) {
  llvm::Expected<std::vector<std::string>> faults = store.verify(removes);
  if (!faults)
    return faults.takeError();
  if (options.json)
    print({{"faults", *faults}});
  else
    for (const std::string &fault : *faults)
      errors() << "tenon: error: " << getPrintable(fault) << '\n';
  if (faults->empty() && !options.json)
    llvm::outs() << "no fault found\n";
  return faults->empty() || removes ? 0 : 1;
}

static void warnOfSkipped(const CacheTransfer &transfer, const std::string &file) {
  if (transfer.skipped)
    errors() << "tenon: warning: " << file << ": skipped " << countEntries(transfer.skipped) << "; "
             << getPrintable(transfer.firstFault) << '\n';
}

static llvm::Expected<int> exportEntries(CacheStore &store, const CacheOptions &options, const std::string &file) {
  llvm::Expected<CacheTransfer> transfer = exportCache(store, options.filter, file);
  if (!transfer)
    return transfer.takeError();
  warnOfSkipped(*transfer, file);
  if (options.json)
    print({{"exported", transfer->moved}, {"skipped", transfer->skipped}});
  else
    llvm::outs() << file << ": " << countEntries(transfer->moved) << '\n';
  return 0;
}

static llvm::Expected<int> importEntries(CacheStore &store, const CacheOptions &options, const std::string &file) {
  llvm::Expected<CacheTransfer> transfer = importCache(store, file);
  if (!transfer)
    return transfer.takeError();
  warnOfSkipped(*transfer, file);
  if (options.json)
    print({{"added", transfer->moved}, {"known", transfer->known}, {"skipped", transfer->skipped}});
  else
    llvm::outs() << "added " << countEntries(transfer->moved)
                 << (transfer->known ? ", " + std::to_string(transfer->known) + " were there" : "") << '\n';
  return transfer->moved + transfer->known == 0 && transfer->skipped != 0;
}

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

namespace {
/// Adds subcommands that work on the cache.
class CacheCommand {
public:
  CacheCommand(CLI::App &command, int &status) : command(command), status(status) {}

  template <typename Use> CLI::App *add(const char *name, const char *description, Use use) {
    CLI::App *sub = command.add_subcommand(name, description);
    sub->callback([options = options, use, &status = status] {
      options->filter.kind = getCacheKind(options->kind);
      status = withCacheStore([&](CacheStore &store) { return use(store, *options); });
    });
    sub->add_flag("--json", options->json, "print JSON");
    return sub;
  }
  void addFilter(CLI::App *sub) {
    sub->add_option("--kind", options->kind, "only kernels, or only artifacts")
        ->check(CLI::Validator(
            [](std::string &text) {
              return getCacheKind(text) ? "" : "expected kernel or artifact, got '" + text + "'";
            },
            ""))
        ->type_name("KIND");
    sub->add_option("--model", options->filter.model, "only those that a model of this name uses")->type_name("NAME");
    sub->add_option("--node", options->filter.node, "only kernels of a node of this name")->type_name("NAME");
    sub->add_option("--operation", options->filter.title,
                    "only kernels of this operation (contract, convolve...), or artifacts with this option")
        ->type_name("NAME");
    sub->add_option("--hardware", options->filter.hardware, "only for this target, triple or feature")
        ->type_name("NAME");
  }
  void addRemotes(CLI::App *sub) {
    constexpr char kGroup[] = "Remote caches";
    sub->add_option("--cache-from", options->remotes.from, "list a remote cache instead; repeatable")
        ->allow_extra_args(false)
        ->type_name("URL")
        ->group(kGroup);
    addRemoteNamespace(*sub, options->remotes, kGroup);
  }
  std::shared_ptr<CacheOptions> getOptions() { return options; }

private:
  CLI::App &command;
  int &status;
  std::shared_ptr<CacheOptions> options = std::make_shared<CacheOptions>();
};
} // namespace

static void addRemovals(CacheCommand &cache) {
  auto pruning = std::make_shared<Pruning>();
  CLI::App *prune = cache.add("prune", "remove entries", [pruning](CacheStore &store, const CacheOptions &options) {
    return pruneEntries(store, options, *pruning);
  });
  prune->add_option("--limit", pruning->limit, "remove those not used for longest until SIZE is left (K, M, G)")
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false).description(""))
      ->type_name("SIZE");
  prune->add_option("--older-than", pruning->days, "remove entries that were not used for this number of days")
      ->check(CLI::Range(1, 36500))
      ->type_name("DAYS");
  prune->add_flag("--all", pruning->isAll, "remove all entries");
  cache.addFilter(prune);
  auto removes = std::make_shared<bool>(false);
  CLI::App *verify = cache.add(
      "verify", "check the index and the hash of each content",
      [removes](CacheStore &store, const CacheOptions &options) { return verifyEntries(store, options, *removes); });
  verify->add_flag("--remove", *removes, "remove what is damaged");
}

void tenon::addCacheCommand(CLI::App &app, int &status) {
  CLI::App *command = app.add_subcommand("cache", "show and manage kernels and artifacts of earlier compilations");
  command->require_subcommand(1);
  addExamples(
      *command,
      {"tenon cache du", "tenon cache search conv1 --model resnet50", "tenon cache plan model.onnx --only planned",
       "tenon cache prune --older-than 30"},
      "The cache is in TENON_CACHE_DIR, or else in the folder tenon of XDG_CACHE_HOME or ~/.cache; with "
      "TENON_CACHE_DIR=none there is none. It has at most TENON_CACHE_LIMIT bytes, 10G by default: what was not "
      "used for longest goes first. 'tenon cache COMMAND --help' describes a command.");
  CacheCommand cache(*command, status);
  CLI::App *list = cache.add("list", "list entries, the one that was used last first", listEntries);
  cache.addFilter(list);
  cache.addRemotes(list);
  auto key = std::make_shared<std::string>();
  CLI::App *show =
      cache.add("show", "print all that is known of an entry",
                [key](CacheStore &store, const CacheOptions &options) { return showEntry(store, options, *key); });
  show->add_option("key", *key, "its key as list prints it, or more digits")->required()->type_name("KEY");
  CLI::App *search = cache.add("search",
                               "list entries that have a text in the name of their model, node, operation or "
                               "hardware",
                               listEntries);
  search->add_option("text", cache.getOptions()->filter.anywhere, "text to search for, ignoring case")
      ->required()
      ->type_name("TEXT");
  cache.addFilter(search);
  cache.addRemotes(search);
  addCachePlanCommand(*command, status);
  cache.add("du", "print how much room the cache takes", printUsage);
  addRemovals(cache);
  auto file = std::make_shared<std::string>();
  CLI::App *exports =
      cache.add("export", "write entries to one file", [file](CacheStore &store, const CacheOptions &options) {
        return exportEntries(store, options, *file);
      });
  exports->add_option("file", *file, "file to write")->required()->type_name("FILE");
  cache.addFilter(exports);
  CLI::App *imports =
      cache.add("import", "add the entries of an export", [file](CacheStore &store, const CacheOptions &options) {
        return importEntries(store, options, *file);
      });
  imports->add_option("file", *file, "file to read")->required()->type_name("FILE");
  addExamples(*imports, {"tenon cache import kernels.db"},
              "An export holds code, which models that are compiled here will run: import it only from whom you would "
              "take a program. Its hashes show that it is complete, not who made it.");
  addCacheKeyCommands(*command, status);
  addCacheServeCommand(*command, status);
}
