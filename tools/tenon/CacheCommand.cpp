//===- CacheCommand.cpp - tenon cache -------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/ArtifactCache.h"
#include "compiler/report/ArtifactView.h"
#include "compiler/report/Describe.h"
#include "compiler/report/Table.h"
#include "tools/tenon/Commands.h"
#include "tools/tenon/ErrorStream.h"
#include "tools/tenon/Usage.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/FormatVariadic.h"
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

using namespace tenon;

namespace {
struct CacheOptions {
  uint64_t limit = 0;
  bool clears = false, json = false;
};
} // namespace

/// The model that an entry was compiled from; empty if it is no artifact any more.
static std::string getModelName(const std::string &artifact) {
  ArtifactView view;
  return view.open(artifact, /*verify=*/false, {}).failed() ? "" : getPrintable(view.getPlan().modelName);
}

static void printEntries(const ArtifactCache &cache, bool json) {
  std::vector<ArtifactCache::Entry> entries = cache.list();
  uint64_t bytes = 0;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  Table table({"last use", ">size", "model", "artifact"});
  for (const ArtifactCache::Entry &entry : entries) {
    bytes += entry.bytes;
    std::string used = llvm::formatv("{0:%Y-%m-%d %H:%M}", entry.lastUse), model = getModelName(entry.artifact);
    list.push_back({{"artifact", entry.artifact}, {"bytes", entry.bytes}, {"last_use", used}, {"model", model}});
    table.add({used, bytesText(entry.bytes), model.empty() ? "-" : model, entry.artifact});
  }
  if (json) {
    llvm::outs() << nlohmann::ordered_json{{"folder", cache.getFolder()}, {"bytes", bytes}, {"entries", list}}.dump(2)
                 << '\n';
    return;
  }
  if (!entries.empty())
    table.print(llvm::outs());
  llvm::outs() << cache.getFolder() << ": " << entries.size() << (entries.size() == 1 ? " artifact, " : " artifacts, ")
               << bytesText(bytes) << '\n';
}

/// `trims`: whether all but `limit` bytes are to go.
static int runCacheCommand(const CacheOptions &options, bool trims) {
  ArtifactCache cache(ArtifactCache::getDefaultFolder());
  if (cache.getFolder().empty()) {
    errors() << "tenon: error: there is no folder for a cache; set TENON_CACHE_DIR\n";
    return 4;
  }
  if (!trims) {
    printEntries(cache, options.json);
    return 0;
  }
  size_t removed = cache.trim(options.limit);
  if (options.json)
    llvm::outs() << nlohmann::ordered_json{{"folder", cache.getFolder()}, {"removed", removed}}.dump() << '\n';
  else
    llvm::outs() << cache.getFolder() << ": removed " << removed << (removed == 1 ? " artifact\n" : " artifacts\n");
  return 0;
}

void tenon::addCacheCommand(CLI::App &app, int &status) {
  auto options = std::make_shared<CacheOptions>();
  CLI::App *command = app.add_subcommand("cache", "list or remove the artifacts that tenon run keeps");
  auto *trim =
      command->add_option("--trim", options->limit, "remove those not used for longest until SIZE is left (K, M, G)")
          ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false).description(""))
          ->type_name("SIZE");
  command->add_flag("--clear", options->clears, "remove all of them");
  command->add_flag("--json", options->json, "print JSON");
  addExamples(*command, {"tenon cache", "tenon cache --trim 1G", "tenon cache --clear"},
              "The artifacts are in TENON_CACHE_DIR, or else in the folder tenon of XDG_CACHE_HOME or ~/.cache; at "
              "most 10 GB of them.");
  command->callback([options, trim, &status] {
    // To clear it is to leave 0 bytes.
    status = runCacheCommand(*options, options->clears || trim->count());
  });
}
