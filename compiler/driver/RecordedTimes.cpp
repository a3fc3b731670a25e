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
  for (const Target &target : targets) {
    needed[target.name] = target.needed;
    if (target.runsHere)
      hardware[target.name] = getThisHardware(target.needed);
  }
}

RecordedTimes::RecordedTimes(llvm::ArrayRef<Target> targets, std::vector<ProfileRecord> locked)
    : RecordedTimes(targets, std::unique_ptr<ProfileStore>()) {
  this->locked = std::move(locked);
}

const Hardware *RecordedTimes::getHardware(llvm::StringRef target) const {
  auto it = hardware.find(target);
  return it == hardware.end() ? nullptr : &it->second;
}

/// Keeps the record with the smallest median: other load on the machine only makes runs slower.
void RecordedTimes::addTime(Times &times, const ProfileRecord &record) {
  auto [it, isNew] = times.emplace(record.kernel.schedule, record);
  if (!isNew && record.median < it->second.median)
    it->second = record;
}

RecordedTimes::Times &RecordedTimes::getTimes(const PathRegion &region) {
  auto [it, isNew] = known.try_emplace({region.target, region.text});
  if (isNew && locked)
    for (const ProfileRecord &record : *locked)
      if (record.kernel.region == region.text && record.hardware.features == needed.lookup(region.target) &&
          record.kernel.compiler == getProfiledCompiler())
        addTime(it->second, record);
  const Hardware *machine = getHardware(region.target);
  if (!isNew || !store || !machine)
    return it->second;
  ProfileStore::Filter filter;
  filter.region = KernelVariant{region.text, "", ""}.getRegionFingerprint();
  filter.hardware = machine->getFingerprint();
  filter.compiler = getProfiledCompiler();
  filter.threads = machine->cores;
  // A record that cannot be read is ignored; the estimate decides.
  llvm::consumeError(store->visit(filter, [&](const ProfileStore::Entry &entry) {
    // The fingerprint is not the text.
    if (entry.record.kernel.region == region.text && !llvm::errorToBool(checkRecord(entry.record)))
      addTime(it->second, entry.record);
    return true;
  }));
  return it->second;
}

std::optional<double> RecordedTimes::find(const PathRegion &region, llvm::StringRef path) {
  std::optional<ProfileRecord> record = findRecord(region, path);
  // Paths run in turn, so that other load affects all of them equally. The median is used, because on a busy machine
  // the minimum of one path may be a rare undisturbed run, and that of another may not.
  return record ? std::optional(record->median) : std::nullopt;
}

std::optional<ProfileRecord> RecordedTimes::findRecord(const PathRegion &region, llvm::StringRef schedule) {
  std::optional<ProfileRecord> record = peek(region, schedule);
  std::lock_guard<std::mutex> lock(mutex);
  if (record)
    used.emplace(region.target, region.text, schedule.str());
  return record;
}

std::optional<ProfileRecord> RecordedTimes::peek(const PathRegion &region, llvm::StringRef schedule) {
  std::lock_guard<std::mutex> lock(mutex);
  Times &times = getTimes(region);
  auto it = times.find(schedule);
  return it == times.end() ? std::nullopt : std::optional(it->second);
}

std::vector<ProfileRecord> RecordedTimes::list(const PathRegion &region) {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<ProfileRecord> records;
  for (const auto &[path, record] : getTimes(region))
    records.push_back(record);
  return records;
}

void RecordedTimes::useAll(const PathRegion &region, llvm::function_ref<bool(llvm::StringRef path)> isWanted) {
  std::lock_guard<std::mutex> lock(mutex);
  for (const auto &[path, record] : getTimes(region))
    if (isWanted(path))
      used.emplace(region.target, region.text, path);
}

std::vector<RecordedTimes::Used> RecordedTimes::listUsed() const {
  std::vector<Used> list;
  for (const auto &[target, region, path] : used)
    list.push_back({target, known.at({target, region}).find(path)->second});
  return list;
}

std::vector<ProfileRecord> RecordedTimes::listUnused() const {
  std::set<std::string> lines;
  for (const Used &one : listUsed())
    lines.insert(toJsonLine(one.record));
  std::vector<ProfileRecord> unused;
  if (locked)
    llvm::copy_if(*locked, std::back_inserter(unused),
                  [&](const ProfileRecord &record) { return !lines.count(toJsonLine(record)); });
  return unused;
}

size_t RecordedTimes::pick(const PathRegion &region, llvm::ArrayRef<PathOption> options) {
  std::lock_guard<std::mutex> lock(mutex);
  mostOptions = std::max(mostOptions, options.size());
  size_t place = *round < options.size() ? *round : 0;
  const PathOption &option = options[place];
  // A region with a single option has no choice, and options with records need no measurement.
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
