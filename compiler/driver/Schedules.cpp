//===- Schedules.cpp - schedules of kernels, by records or by test --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Schedules.h"
#include "passes/cost/SchedulePolicy.h"
#include <cstdlib>

#define XXH_INLINE_ALL
#include "xxhash.h"

using namespace tenon;

size_t RecordedSchedules::choose(const KernelRegion &region, llvm::StringRef kernel,
                                 llvm::ArrayRef<ScheduleOption> options) {
  std::lock_guard<std::mutex> lock(mutex);
  size_t place = 0;
  if (forced) {
    if (auto it = forced->find(region.text); it != forced->end())
      for (auto [i, option] : llvm::enumerate(options))
        if (option.schedule == it->second)
          place = i;
  } else {
    PathRegion known{region.target, region.text};
    std::vector<std::optional<ScheduleTime>> measured;
    for (const ScheduleOption &option : options) {
      std::optional<ProfileRecord> record = times->findRecord(known, option.schedule);
      measured.push_back(record ? std::optional(ScheduleTime{record->min, record->median}) : std::nullopt);
    }
    place = pickFastest(measured, SchedulePolicy().minGain);
  }
  taken.emplace_back(region.target, Taken{kernel.str(), region.text, options[place].schedule});
  return place;
}

void RecordedSchedules::force(std::map<std::string, std::string> schedules) {
  std::lock_guard<std::mutex> lock(mutex);
  forced = std::move(schedules);
}

void RecordedSchedules::endForce() {
  std::lock_guard<std::mutex> lock(mutex);
  forced.reset();
}

std::vector<RecordedSchedules::Taken> RecordedSchedules::list(llvm::StringRef target) {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<Taken> own;
  for (auto &[name, one] : taken)
    if (name == target)
      own.push_back(std::move(one));
  taken.clear();
  return own;
}

namespace {
class SeededSchedules : public ScheduleChooser {
public:
  explicit SeededSchedules(uint64_t seed) : seed(seed) {}
  size_t choose(const KernelRegion &region, llvm::StringRef, llvm::ArrayRef<ScheduleOption> options) override {
    return XXH3_64bits_withSeed(region.text.data(), region.text.size(), seed) % options.size();
  }

private:
  uint64_t seed;
};
} // namespace

std::shared_ptr<ScheduleChooser> tenon::makeSchedules(std::shared_ptr<RecordedTimes> times) {
  if (times)
    return std::make_shared<RecordedSchedules>(std::move(times));
  const char *seed = std::getenv("TENON_TEST_SCHEDULE");
  uint64_t number = 0;
  if (!seed || llvm::StringRef(seed).getAsInteger(10, number))
    return nullptr;
  return std::make_shared<SeededSchedules>(number);
}
