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

/// The records of regions on this machine, for the targets that it supports. While paths are measured, each region
/// takes its options in turn, one per round.
class RecordedTimes : public PathTimes {
public:
  /// `store` may be null: then only added records count. It is read when a region is first looked up.
  RecordedTimes(llvm::ArrayRef<Target> targets, std::unique_ptr<ProfileStore> store);
  /// Uses the records in `locked` instead, for every target that they name, whether or not this machine supports it.
  RecordedTimes(llvm::ArrayRef<Target> targets, std::vector<ProfileRecord> locked);

  std::optional<double> find(const PathRegion &region, llvm::StringRef path) override;
  /// Like `find`, but returns the whole record, of a path or of a schedule.
  std::optional<ProfileRecord> findRecord(const PathRegion &region, llvm::StringRef schedule);
  /// The same, which does not count as looked up.
  std::optional<ProfileRecord> peek(const PathRegion &region, llvm::StringRef schedule);
  bool isMeasuring() const override { return round.has_value(); }
  size_t pick(const PathRegion &region, llvm::ArrayRef<PathOption> options) override;

  /// Begins a round in which each region takes the option of that number, or the first one if it has fewer.
  void beginRound(size_t number) { round = number; }
  /// From here on, the fastest path is taken again.
  void endRounds() { round.reset(); }
  /// Returns the largest number of options of any region picked so far.
  size_t getMostOptions() const { return mostOptions; }

  /// An option that was picked, and how exact it is.
  struct Picked {
    std::string target, region, path;
    std::optional<double> error;
  };
  /// Returns the options that were picked in this round and have no record yet.
  std::vector<Picked> takePicked();

  /// Returns all records of a region, the fastest one of each path.
  std::vector<ProfileRecord> list(const PathRegion &region);
  /// Marks the records of a region whose path satisfies `isWanted` as used.
  void useAll(const PathRegion &region, llvm::function_ref<bool(llvm::StringRef path)> isWanted);

  /// A record that a choice was based on, or that was looked up.
  struct Used {
    std::string target;
    ProfileRecord record;
  };
  /// Lists all used records, ordered by target, region and path.
  std::vector<Used> listUsed() const;
  /// Whether nothing but locked records counts.
  bool isLocked() const { return locked.has_value(); }
  /// Locked records that no choice went by.
  std::vector<ProfileRecord> listUnused() const;

  /// Adds measurements, also to the database if it is writable.
  llvm::Error add(llvm::StringRef target, llvm::ArrayRef<ProfileRecord> records);

  /// Returns the hardware description for a target; null for a target that this machine does not support.
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

/// The version of the compiler whose code was measured.
std::string getProfiledCompiler();

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_RECORDEDTIMES_H
