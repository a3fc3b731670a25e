//===- ProfilesCommand.cpp - tenon profiles -------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/artifact/OutputFile.h"
#include "compiler/errors/CompileError.h"
#include "compiler/profiles/ProfileStore.h"
#include "compiler/report/ArtifactView.h"
#include "compiler/report/Describe.h"
#include "compiler/report/Table.h"
#include "tools/tenon/Commands.h"
#include "tools/tenon/ErrorStream.h"
#include "tools/tenon/Usage.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include <CLI/CLI.hpp>
#include <map>
#include <nlohmann/json.hpp>

using namespace tenon;
using Access = ProfileStore::Access;
using Entry = ProfileStore::Entry;

namespace {
/// The options of all subcommands. `status` is the program's exit code.
struct ProfilesOptions {
  std::string database;
  ProfileStore::Filter filter;
  bool json = false;
};
} // namespace

/// Opens the database and runs `use` with it. A missing database that would only be read is treated as empty.
static int withStore(const ProfilesOptions &options, Access access,
                     llvm::function_ref<llvm::Expected<int>(ProfileStore &)> use) {
  std::string file = options.database.empty() ? ProfileStore::getDefaultFile() : options.database;
  if (file.empty())
    return finish(
        makeError(CompileStatus::resources, "there is no folder for a profile database; pass --profiles FILE"));
  llvm::Expected<std::unique_ptr<ProfileStore>> store = ProfileStore::open(file, access);
  return finish(store ? use(**store) : store.takeError());
}

static std::string getErrorText(const std::optional<double> &error) {
  return error ? llvm::formatv("{0:e1}", *error).str() : "-";
}

static std::string getDateText(int64_t seconds) {
  return llvm::formatv("{0:%Y-%m-%d %H:%M}", llvm::sys::TimePoint<>(llvm::sys::toTimePoint(seconds)));
}

//===----------------------------------------------------------------------===//
// list and show
//===----------------------------------------------------------------------===//

static llvm::Expected<int> listRecords(ProfileStore &store, const ProfilesOptions &options) {
  llvm::Expected<std::vector<Entry>> entries = store.list(options.filter);
  if (!entries)
    return entries.takeError();
  if (options.json) {
    llvm::outs() << '[';
    for (auto [i, entry] : llvm::enumerate(*entries)) {
      nlohmann::ordered_json json = nlohmann::ordered_json::parse(toJsonLine(entry.record));
      json["id"] = entry.id;
      json["region_fingerprint"] = entry.record.kernel.getRegionFingerprint();
      json["hardware_fingerprint"] = entry.record.hardware.getFingerprint();
      json["origin"] = entry.record.origin;
      llvm::outs() << (i ? ",\n " : "") << json.dump();
    }
    llvm::outs() << "]\n";
    return 0;
  }
  constexpr size_t kDigits = 8;
  Table table({">id", "region", "schedule", ">threads", ">median", ">spread", ">error", "date", "~cpu"});
  for (const Entry &entry : *entries) {
    const ProfileRecord &record = entry.record;
    table.add({std::to_string(entry.id), record.kernel.getRegionFingerprint().substr(0, kDigits),
               getPrintable(record.kernel.schedule), std::to_string(record.threads), timeText(record.median),
               llvm::formatv("{0:F0} %", 100 * record.spread), getErrorText(record.error), getDateText(record.time),
               getPrintable(record.hardware.cpu)});
  }
  constexpr size_t kWidth = 120;
  if (!entries->empty())
    table.print(llvm::outs(), kWidth);
  llvm::outs() << entries->size() << (entries->size() == 1 ? " record\n" : " records\n");
  return 0;
}

static llvm::Expected<int> printRecord(ProfileStore &store, const ProfilesOptions &options, int64_t id) {
  llvm::Expected<std::optional<Entry>> found = store.find(id);
  if (!found)
    return found.takeError();
  if (!*found)
    return makeError(CompileStatus::invalid, "there is no record " + std::to_string(id));
  const ProfileRecord &record = (*found)->record;
  if (options.json) {
    llvm::outs() << toJsonLine(record);
    return 0;
  }
  const Hardware &hardware = record.hardware;
  auto print = [](const char *title, const std::string &text) {
    llvm::outs() << llvm::formatv("{0,-10}{1}\n", title, text);
  };
  print("record", std::to_string(id) + ", " + record.origin + " " + getDateText(record.time));
  print("schedule", getPrintable(record.kernel.schedule));
  print("compiler", getPrintable(record.kernel.compiler));
  print("time", "median " + timeText(record.median) + ", min " + timeText(record.min) + ", p95 " +
                    timeText(record.p95) + llvm::formatv(", spread {0:F0} %, ", 100 * record.spread).str() +
                    std::to_string(record.runs) + " runs, " + std::to_string(record.threads) +
                    (record.threads == 1 ? " thread, " : " threads, ") + (record.isWarm ? "warm" : "cold"));
  print("error", record.error ? getErrorText(record.error) + " of the largest element, against " +
                                    getPrintable(record.errorReference)
                              : "not measured");
  print("machine", getPrintable(hardware.cpu) + ", " + std::to_string(hardware.cores) + " cores, L1 " +
                       bytesText(hardware.l1Bytes) + ", L2 " + bytesText(hardware.l2Bytes) + ", last level " +
                       bytesText(hardware.llcBytes));
  print("", hardware.getFingerprint());
  print("features", getPrintable(hardware.features));
  print("system",
        getPrintable(hardware.os) + (hardware.governor.empty() ? "" : ", governor " + getPrintable(hardware.governor)));
  print("region", record.kernel.getRegionFingerprint());
  for (llvm::StringRef line : llvm::split(record.kernel.region, '\n'))
    llvm::outs() << "  " << getPrintable(line) << '\n';
  return 0;
}

//===----------------------------------------------------------------------===//
// diff
//===----------------------------------------------------------------------===//

namespace {
/// A region on a machine with a number of threads: the fastest schedule, and the best median of each schedule.
struct Comparison {
  std::string fastest;
  std::map<std::string, double> medians;
};
using Comparisons = std::map<std::tuple<std::string, std::string, int64_t>, Comparison>;
} // namespace

static llvm::Expected<Comparisons> readBest(const ProfileStore &store, const ProfileStore::Filter &filter) {
  Comparisons comparisons;
  llvm::Error error = store.visit(filter, [&](const Entry &entry) {
    const ProfileRecord &record = entry.record;
    Comparison &comparison =
        comparisons[{record.kernel.getRegionFingerprint(), record.hardware.getFingerprint(), record.threads}];
    // The fastest comes first.
    if (comparison.medians.empty())
      comparison.fastest = record.kernel.schedule;
    comparison.medians.emplace(record.kernel.schedule, record.median);
    return true;
  });
  if (error)
    return error;
  return comparisons;
}

static llvm::Expected<int> printDifferences(ProfileStore &store, const ProfilesOptions &options,
                                            const std::string &other) {
  llvm::Expected<std::unique_ptr<ProfileStore>> second = ProfileStore::open(other, Access::read);
  if (!second)
    return second.takeError();
  llvm::Expected<Comparisons> here = readBest(store, options.filter), there = readBest(**second, options.filter);
  if (!here || !there)
    return llvm::joinErrors(here.takeError(), there.takeError());
  constexpr size_t kDigits = 8;
  Table table({"region", ">threads", "schedule", ">this", ">other", ">ratio", "fastest"});
  size_t shared = 0, changed = 0;
  for (const auto &[key, mine] : *here) {
    auto it = there->find(key);
    if (it == there->end())
      continue;
    ++shared;
    changed += mine.fastest != it->second.fastest;
    for (const auto &[schedule, median] : mine.medians) {
      auto theirs = it->second.medians.find(schedule);
      if (theirs == it->second.medians.end())
        continue;
      bool isHere = schedule == mine.fastest, isThere = schedule == it->second.fastest;
      table.add({std::get<0>(key).substr(0, kDigits), std::to_string(std::get<2>(key)), getPrintable(schedule),
                 timeText(median), timeText(theirs->second), llvm::formatv("{0:F2}", theirs->second / median),
                 isHere && isThere ? "in both"
                 : isHere          ? "in this"
                 : isThere         ? "in the other"
                                   : ""});
    }
  }
  table.print(llvm::outs(), 120);
  llvm::outs() << shared << " regions are in both, another schedule is the fastest for " << changed << " of them\n";
  return 0;
}

//===----------------------------------------------------------------------===//
// The other subcommands
//===----------------------------------------------------------------------===//

static llvm::Expected<int> exportRecords(ProfileStore &store, const ProfilesOptions &options, const std::string &file) {
  llvm::Expected<std::vector<Entry>> entries = store.list(options.filter);
  if (!entries)
    return entries.takeError();
  if (llvm::Error error = writeOutputFile(file, [&](llvm::raw_pwrite_stream &os) {
        for (const Entry &entry : *entries)
          os << toJsonLine(entry.record);
      }))
    return makeError(CompileStatus::resources, "cannot write " + file + ": " + llvm::toString(std::move(error)));
  return 0;
}

static llvm::Expected<int> importRecords(ProfileStore &store, const ProfilesOptions &options, const std::string &file) {
  auto text = llvm::MemoryBuffer::getFileOrSTDIN(file);
  if (!text)
    return makeError(CompileStatus::invalid, file + ": " + text.getError().message());
  llvm::Expected<ImportedProfiles> imported = importProfiles(store, (*text)->getBuffer());
  if (!imported)
    return imported.takeError();
  if (imported->skipped)
    errors() << "tenon: warning: " << file << ": skipped " << imported->skipped << " of "
             << imported->added + imported->skipped << " records; " << getPrintable(imported->firstFault) << '\n';
  if (options.json)
    llvm::outs() << nlohmann::json{{"added", imported->added}, {"skipped", imported->skipped}}.dump() << '\n';
  else
    llvm::outs() << "added " << imported->added << (imported->added == 1 ? " record\n" : " records\n");
  return imported->added == 0 && imported->skipped != 0;
}

static llvm::Expected<int> pruneRecords(ProfileStore &store, const ProfilesOptions &options, int64_t days,
                                        int64_t keep) {
  constexpr int64_t kSecondsOfDay = 86400;
  int64_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  llvm::Expected<int64_t> removed = store.prune(days ? now - days * kSecondsOfDay : 0, keep);
  if (!removed)
    return removed.takeError();
  if (options.json)
    llvm::outs() << nlohmann::json{{"removed", *removed}}.dump() << '\n';
  else
    llvm::outs() << "removed " << *removed << (*removed == 1 ? " record\n" : " records\n");
  return 0;
}

static llvm::Expected<int> verifyRecords(ProfileStore &store, const ProfilesOptions &options) {
  llvm::Expected<std::vector<std::string>> faults = store.verify();
  if (!faults)
    return faults.takeError();
  if (options.json)
    llvm::outs() << nlohmann::json{{"faults", *faults}}.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
                 << '\n';
  else
    for (const std::string &fault : *faults)
      errors() << "tenon: error: " << getPrintable(fault) << '\n';
  if (faults->empty() && !options.json)
    llvm::outs() << "no fault found\n";
  return faults->empty() ? 0 : 1;
}

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

namespace {
/// Adds subcommands that work on one database.
class ProfilesCommand {
public:
  ProfilesCommand(CLI::App &command, int &status) : command(command), status(status) {}

  template <typename Use> CLI::App *add(const char *name, const char *description, Access access, Use use) {
    CLI::App *sub = command.add_subcommand(name, description);
    sub->add_option("--profiles", options->database,
                    "profile database; default: TENON_PROFILES, or tenon/profiles.db in XDG_DATA_HOME")
        ->type_name("FILE");
    sub->callback([options = options, access, use, &status = status] {
      status = withStore(*options, access, [&](ProfileStore &store) { return use(store, *options); });
    });
    return sub;
  }
  void addFilter(CLI::App *sub) {
    sub->add_option("--region", options->filter.region, "only regions whose fingerprint begins so")->type_name("HEX");
    sub->add_option("--hardware", options->filter.hardware, "only machines whose fingerprint begins so")
        ->type_name("HEX");
    sub->add_option("--schedule", options->filter.schedule, "only this schedule")->type_name("NAME");
    sub->add_option("--threads", options->filter.threads, "only runs with T threads")->type_name("T");
  }
  void addJson(CLI::App *sub) { sub->add_flag("--json", options->json, "print JSON"); }

private:
  CLI::App &command;
  int &status;
  std::shared_ptr<ProfilesOptions> options = std::make_shared<ProfilesOptions>();
};
} // namespace

void tenon::addProfilesCommand(CLI::App &app, int &status) {
  CLI::App *command = app.add_subcommand("profiles", "show and manage records of what kernels took on machines");
  command->require_subcommand(1);
  addExamples(*command,
              {"tenon profiles list", "tenon profiles export records.jsonl", "tenon profiles prune --older-than 90"},
              "'tenon profiles COMMAND --help' describes a command.");
  ProfilesCommand profiles(*command, status);
  CLI::App *list = profiles.add("list", "list records, the fastest of a region first", Access::read, listRecords);
  profiles.addFilter(list);
  profiles.addJson(list);
  auto id = std::make_shared<int64_t>(0);
  CLI::App *show = profiles.add(
      "show", "print all that is known of a record", Access::read,
      [id](ProfileStore &store, const ProfilesOptions &options) { return printRecord(store, options, *id); });
  show->add_option("id", *id, "number of the record, as list prints it")->required()->type_name("ID");
  profiles.addJson(show);
  auto file = std::make_shared<std::string>();
  CLI::App *diff = profiles.add(
      "diff", "compare with the records of another database", Access::read,
      [file](ProfileStore &store, const ProfilesOptions &options) { return printDifferences(store, options, *file); });
  diff->add_option("other", *file, "the other database")->required()->type_name("FILE");
  profiles.addFilter(diff);
  CLI::App *exports = profiles.add(
      "export", "write records as lines of JSON", Access::read,
      [file](ProfileStore &store, const ProfilesOptions &options) { return exportRecords(store, options, *file); });
  exports->add_option("file", *file, "file to write, - for standard output")->required()->type_name("FILE");
  profiles.addFilter(exports);
  CLI::App *imports = profiles.add(
      "import", "add records of an export; lines that cannot be true are skipped", Access::write,
      [file](ProfileStore &store, const ProfilesOptions &options) { return importRecords(store, options, *file); });
  imports->add_option("file", *file, "file to read, - for standard input")->required()->type_name("FILE");
  profiles.addJson(imports);
  auto days = std::make_shared<int64_t>(0), keep = std::make_shared<int64_t>(0);
  CLI::App *prune = profiles.add("prune", "remove old records", Access::write,
                                 [days, keep](ProfileStore &store, const ProfilesOptions &options) {
                                   return pruneRecords(store, options, *days, *keep);
                                 });
  prune->add_option("--older-than", *days, "remove records that are older than this number of days")
      ->check(CLI::Range(1, 36500))
      ->type_name("DAYS");
  prune->add_option("--keep", *keep, "keep this number of newest records for each schedule of a region")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N");
  profiles.addJson(prune);
  profiles.addJson(profiles.add("verify", "check the database and each record", Access::read, verifyRecords));
}
