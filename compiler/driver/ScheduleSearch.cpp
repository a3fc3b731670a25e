//===- ScheduleSearch.cpp - which schedules of a kernel are measured ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/ScheduleSearch.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace tenon;

namespace {
class Search {
public:
  Search(llvm::ArrayRef<ScheduleOption> options, ScheduleMeter measure, llvm::function_ref<bool()> isOver,
         const ScheduleSearchLimits &limits)
      : options(options), measure(measure), isOver(isOver), limits(limits) {}

  std::vector<MeasuredSchedule> run() {
    measureAll(listSingles(), limits.batch, /*isFinal=*/false);
    measureAll(listPairs(), limits.batch, /*isFinal=*/false);
    measureAll(listFinalists(), limits.finalists, /*isFinal=*/true);
    return list();
  }

private:
  void measureAll(std::vector<size_t> places, size_t batch, bool isFinal);
  std::vector<size_t> listSingles() const;
  std::vector<size_t> listPairs() const;
  std::vector<size_t> listFinalists() const;
  std::vector<MeasuredSchedule> list() const;

  llvm::ArrayRef<ScheduleOption> options;
  ScheduleMeter measure;
  llvm::function_ref<bool()> isOver;
  const ScheduleSearchLimits &limits;
  std::map<size_t, MeasuredSchedule> measured; ///< by place
};
} // namespace

void Search::measureAll(std::vector<size_t> places, size_t batch, bool isFinal) {
  for (size_t first = 0; first < places.size() && !isOver(); first += batch) {
    // The first option is part of each batch, so that other load affects it, too.
    std::vector<size_t> own{0};
    own.insert(own.end(), places.begin() + first, places.begin() + std::min(first + batch, places.size()));
    std::vector<std::optional<ScheduleTime>> times = measure(own, isFinal);
    assert(times.size() == own.size() && "each option has a time, or none");
    if (!times.front() || times.front()->min <= 0)
      return;
    for (auto [place, time] : llvm::zip(own, times))
      if (time)
        measured.insert_or_assign(place, MeasuredSchedule{place, *time, time->min / times.front()->min});
  }
}

std::vector<size_t> Search::listSingles() const {
  std::vector<size_t> places;
  for (size_t i = 1; i < options.size(); ++i)
    if (!options[i].parts)
      places.push_back(i);
  llvm::stable_sort(places, [&](size_t a, size_t b) { return options[a].cost < options[b].cost; });
  return places;
}

/// Lists pairs of changes that each save time, the one with the smallest product of ratios first.
std::vector<size_t> Search::listPairs() const {
  std::vector<std::pair<double, size_t>> pairs;
  for (size_t i = 1; i < options.size(); ++i) {
    if (!options[i].parts)
      continue;
    auto first = measured.find(options[i].parts->first), second = measured.find(options[i].parts->second);
    if (first == measured.end() || second == measured.end())
      continue;
    double worst = std::max(first->second.ratio, second->second.ratio);
    if (worst < 1 - limits.minGain)
      pairs.emplace_back(first->second.ratio * second->second.ratio, i);
  }
  llvm::sort(pairs);
  std::vector<size_t> places;
  for (auto [ratio, place] : pairs)
    if (places.size() < limits.maxPairs)
      places.push_back(place);
  return places;
}

std::vector<size_t> Search::listFinalists() const {
  std::vector<size_t> places;
  for (const MeasuredSchedule &option : list())
    if (option.place != 0 && option.ratio < 1 - limits.minGain && places.size() < limits.finalists)
      places.push_back(option.place);
  return places;
}

std::vector<MeasuredSchedule> Search::list() const {
  std::vector<MeasuredSchedule> all;
  for (const auto &[place, option] : measured)
    all.push_back(option);
  llvm::stable_sort(all, [](const auto &a, const auto &b) { return a.ratio < b.ratio; });
  return all;
}

std::vector<MeasuredSchedule> tenon::searchSchedules(llvm::ArrayRef<ScheduleOption> options, ScheduleMeter measure,
                                                     llvm::function_ref<bool()> isOver,
                                                     const ScheduleSearchLimits &limits) {
  return Search(options, measure, isOver, limits).run();
}
