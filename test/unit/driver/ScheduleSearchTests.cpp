//===- ScheduleSearchTests.cpp - which schedules are measured -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/EstimateFit.h"
#include "compiler/driver/ScheduleSearch.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

using namespace tenon;

namespace {
/// Options 1 to 4 are single changes, and the others pairs of these.
std::vector<ScheduleOption> makeOptions() {
  std::vector<ScheduleOption> options(8);
  for (size_t i = 0; i < options.size(); ++i)
    options[i].schedule = "s" + std::to_string(i);
  double costs[] = {1, 1.3, 0.9, 1.1, 1.2, 1, 1, 1};
  for (size_t i = 0; i < options.size(); ++i)
    options[i].cost = costs[i];
  options[5].parts = {1, 2};
  options[6].parts = {2, 3};
  options[7].parts = {1, 3};
  return options;
}

/// Measures by a table; none is an option that cannot be measured.
struct Meter {
  std::vector<std::optional<double>> times;
  std::vector<std::vector<size_t>> calls = {};

  std::vector<std::optional<ScheduleTime>> operator()(llvm::ArrayRef<size_t> places, bool) {
    calls.push_back(places.vec());
    std::vector<std::optional<ScheduleTime>> found;
    for (size_t place : places)
      found.push_back(times[place] ? std::optional(ScheduleTime{*times[place], *times[place]}) : std::nullopt);
    return found;
  }
};
} // namespace

TEST_CASE("a search measures single changes, then pairs of good ones, then the best again", "[search]") {
  Meter meter{{100, 90, 80, 120, 101, 70, 1, 1}};
  std::vector<MeasuredSchedule> found = searchSchedules(makeOptions(), std::ref(meter), [] { return false; });
  REQUIRE(meter.calls.size() == 3);
  // The estimate says in which order.
  CHECK(meter.calls[0] == std::vector<size_t>{0, 2, 3, 4, 1});
  // The other pairs have a change that takes longer.
  CHECK(meter.calls[1] == std::vector<size_t>{0, 5});
  CHECK(meter.calls[2] == std::vector<size_t>{0, 5, 2, 1});
  REQUIRE(found.size() == 6);
  CHECK(found.front().place == 5);
  CHECK(found.front().ratio == Approx(0.7));
}

TEST_CASE("a search is over where the time is, and keeps what it has", "[search]") {
  Meter meter{{100, 90, 80, 120, 101, 70, 1, 1}};
  ScheduleSearchLimits limits;
  limits.batch = 2;
  std::vector<MeasuredSchedule> found =
      searchSchedules(makeOptions(), std::ref(meter), [&] { return meter.calls.size() == 1; }, limits);
  CHECK(meter.calls.size() == 1);
  CHECK(found.size() == 3);
  CHECK(found.front().place == 2);
  CHECK(searchSchedules(makeOptions(), std::ref(meter), [] { return true; }).empty());
}

TEST_CASE("a search leaves out what cannot be measured", "[search]") {
  Meter meter{{100, std::nullopt, 80, 120, 101, 70, 1, 1}};
  std::vector<MeasuredSchedule> found = searchSchedules(makeOptions(), std::ref(meter), [] { return false; });
  CHECK(std::none_of(found.begin(), found.end(), [](const MeasuredSchedule &one) { return one.place == 1; }));
  // Without the policy's schedule there is nothing to compare with.
  Meter none{std::vector<std::optional<double>>(8)};
  CHECK(searchSchedules(makeOptions(), std::ref(none), [] { return false; }).empty());
}

TEST_CASE("estimates are fitted by a scale for each source", "[fit]") {
  EstimateFit fit;
  CHECK(fit.getScale("tile rows") == 1);
  CHECK(!fit.getError(false));
  // Twice as slow as estimated, in the geometric mean.
  fit.add("tile rows", 1, 4);
  fit.add("tile rows", 2, 2);
  fit.add("unrolling", 1, 1);
  CHECK(fit.getScale("tile rows") == Approx(2));
  CHECK(fit.getScale("unrolling") == Approx(1));
  CHECK(fit.getScale("packing") == 1);
  CHECK(*fit.getError(false) == Approx(std::pow(4, 1.0 / 3)));
  // Fitted, they are off by 2, 2 and 1.
  CHECK(*fit.getError(true) == Approx(std::pow(4, 1.0 / 3)));
  EstimateFit exact;
  exact.add("tile rows", 1, 3);
  exact.add("tile rows", 2, 6);
  CHECK(*exact.getError(false) == Approx(3));
  CHECK(*exact.getError(true) == Approx(1));
}
