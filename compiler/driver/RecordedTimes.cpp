//===- RecordedTimes.cpp - times of paths from the profile database -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/RecordedTimes.h"
#include "llvm/ADT/STLExtras.h"

using namespace tenon;

std::string tenon::getProfiledCompiler() { return "tenon " TENON_VERSION; }

RecordedTimes::RecordedTimes(llvm::ArrayRef<Target> targets, std::unique_ptr<ProfileStore> store)
    : store(std::move(store)) {
  for (const Target &target : targets)
    if (target.runsHere)
      hardware[target.name] = getThisHardware(target.needed);
}

const Hardware *RecordedTimes::getHardware(llvm::StringRef target) const {
  auto it = hardware.find(target);
  return it == hardware.end() ? nullptr : &it->second;
}

/// The fastest run counts: other work on the machine only makes runs slower, and not those of all paths alike.
void RecordedTimes::addTime(Times &times, const ProfileRecord &record) {
  auto [it, isNew] = times.emplace(record.kernel.schedule, record.min);
  if (!isNew)
    it->second = std::min(it->second, record.min);
}

RecordedTimes::Times &RecordedTimes::getTimes(const PathRegion &region) {
  auto [it, isNew] = known.try_emplace({region.target, region.text});
  const Hardware *machine = getHardware(region.target);
  if (!isNew || !store || !machine)
    return it->second;
  ProfileStore::Filter filter;
  filter.region = KernelVariant{region.text, "", ""}.getRegionFingerprint();
  filter.hardware = machine->getFingerprint();
  filter.compiler = getProfiledCompiler();
  filter.threads = machine->cores;
  // A record that cannot be read is as good as none: the estimate decides.
  llvm::consumeError(store->visit(filter, [&](const ProfileStore::Entry &entry) {
    // The fingerprint is not the text.
    if (entry.record.kernel.region == region.text && findFault(entry.record).empty())
      addTime(it->second, entry.record);
    return true;
  }));
  return it->second;
}

std::optional<double> RecordedTimes::find(const PathRegion &region, llvm::StringRef path) {
  std::lock_guard<std::mutex> lock(mutex);
  Times &times = getTimes(region);
  auto it = times.find(path);
  return it == times.end() ? std::nullopt : std::optional(it->second);
}

size_t RecordedTimes::pick(const PathRegion &region, llvm::ArrayRef<PathOption> options) {
  std::lock_guard<std::mutex> lock(mutex);
  mostOptions = std::max(mostOptions, options.size());
  size_t place = *round < options.size() ? *round : 0;
  const PathOption &option = options[place];
  // A single option is no choice; what is known need not be measured.
  if (options.size() > 1 && !getTimes(region).contains(option.name))
    picked.push_back({region.target, region.text, option.name.str(), option.error});
  return place;
}

std::vector<RecordedTimes::Picked> RecordedTimes::takePicked() { return std::exchange(picked, {}); }

llvm::Error RecordedTimes::add(llvm::StringRef target, llvm::ArrayRef<ProfileRecord> records) {
  std::lock_guard<std::mutex> lock(mutex);
  for (const ProfileRecord &record : records)
    addTime(known[{target.str(), record.kernel.region}], record);
  return store ? store->add(records) : llvm::Error::success();
}
