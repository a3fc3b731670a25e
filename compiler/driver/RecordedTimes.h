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

namespace tenon {

/// What the records say of regions on this machine, for the targets that it can run. While paths are measured, each
/// region takes its options in turn, one a round.
class RecordedTimes : public PathTimes {
public:
  /// `store` may be null: then only what is added counts. It is read when a region is first asked for.
  RecordedTimes(llvm::ArrayRef<Target> targets, std::unique_ptr<ProfileStore> store);

  std::optional<double> find(const PathRegion &region, llvm::StringRef path) override;
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

  /// Adds what was measured, to the database as well where there is one that can be written.
  llvm::Error add(llvm::StringRef target, llvm::ArrayRef<ProfileRecord> records);

  /// The machine as code for a target sees it; null for a target that this machine cannot run.
  const Hardware *getHardware(llvm::StringRef target) const;

private:
  using Times = std::map<std::string, double, std::less<>>; // nanoseconds by path
  Times &getTimes(const PathRegion &region);
  static void addTime(Times &times, const ProfileRecord &record);

  llvm::StringMap<Hardware> hardware; ///< by the name of the target
  std::unique_ptr<ProfileStore> store;
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, Times> known; ///< by target and text of the region
  std::vector<Picked> picked;
  std::optional<size_t> round;
  size_t mostOptions = 0;
};

/// The version of the compiler whose code is measured.
std::string getProfiledCompiler();

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_RECORDEDTIMES_H
