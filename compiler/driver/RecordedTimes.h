//===- RecordedTimes.h - times of paths from the profile database ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_RECORDEDTIMES_H
#define TENON_COMPILER_DRIVER_RECORDEDTIMES_H

#include "compiler/backend/Target.h"
#include "compiler/profiles/ProfileStore.h"
#include "passes/paths/PathTimes.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <mutex>
#include <set>

namespace tenon {

/// What the records say of regions on this machine, for the targets that it can run. While paths are measured, each
/// region takes its options in turn, one a round.
class RecordedTimes : public PathTimes {
public:
  /// `store` may be null: then only what is added counts. It is read when a region is first asked for.
  RecordedTimes(llvm::ArrayRef<Target> targets, std::unique_ptr<ProfileStore> store);
  /// What is in `locked` counts instead, for every target of which the machine was: whether this one can run it or not.
  RecordedTimes(llvm::ArrayRef<Target> targets, std::vector<ProfileRecord> locked);

  std::optional<double> find(const PathRegion &region, llvm::StringRef path) override;
  /// The same with the whole record, of a path or of a schedule.
  std::optional<ProfileRecord> findRecord(const PathRegion &region, llvm::StringRef schedule);
  /// The same, which does not count as looked up.
  std::optional<ProfileRecord> peek(const PathRegion &region, llvm::StringRef schedule);
  bool isMeasuring() const override { return round.has_value(); }
  size_t pick(const PathRegion &region, llvm::ArrayRef<PathOption> options) override;

  /// Begins a round in which each region takes the option of that number, or the first where it has no such option.
  void beginRound(size_t number) { round = number; }
  /// From here on, the fastest path is taken again.
  void endRounds() { round.reset(); }
  /// How many options the region with most of them has, of those picked so far.
  size_t getMostOptions() const { return mostOptions; }

  /// An option that was picked, and how exact it is.
  struct Picked {
    std::string target, region, path;
    std::optional<double> error;
  };
  /// What was picked in this round, and is not known yet.
  std::vector<Picked> takePicked();

  /// All records of a region, the fastest of each path.
  std::vector<ProfileRecord> list(const PathRegion &region);
  /// Counts the records of a region whose path is such a one as looked up.
  void useAll(const PathRegion &region, llvm::function_ref<bool(llvm::StringRef path)> isWanted);

  /// A record that a choice went by, or that was looked up.
  struct Used {
    std::string target;
    ProfileRecord record;
  };
  /// All of these, in the order of targets, regions and paths.
  std::vector<Used> listUsed() const;
  /// Whether nothing but locked records counts.
  bool isLocked() const { return locked.has_value(); }
  /// Locked records that no choice went by.
  std::vector<ProfileRecord> listUnused() const;

  /// Adds what was measured, to the database as well where there is one that can be written.
  llvm::Error add(llvm::StringRef target, llvm::ArrayRef<ProfileRecord> records);

  /// The machine as code for a target sees it; null for a target that this machine cannot run.
  const Hardware *getHardware(llvm::StringRef target) const;

private:
  using Times = std::map<std::string, ProfileRecord, std::less<>>; // the fastest by path
  Times &getTimes(const PathRegion &region);
  static void addTime(Times &times, const ProfileRecord &record);

  llvm::StringMap<std::string> needed; ///< features, by the name of the target
  llvm::StringMap<Hardware> hardware;  ///< by the name of the target
  std::optional<std::vector<ProfileRecord>> locked;
  std::unique_ptr<ProfileStore> store;
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, Times> known;       ///< by target and text of the region
  std::set<std::tuple<std::string, std::string, std::string>> used; ///< targets, regions and paths
  std::vector<Picked> picked;
  std::optional<size_t> round;
  size_t mostOptions = 0;
};

/// The version of the compiler whose code is measured.
std::string getProfiledCompiler();

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_RECORDEDTIMES_H
