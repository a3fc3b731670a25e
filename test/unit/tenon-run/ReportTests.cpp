//===- ReportTests.cpp - statistics, units, names and JSON of reports --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Processor.h"
#include "tools/tenon-run/JsonReader.h"
#include "tools/tenon-run/Layers.h"
#include "tools/tenon-run/Machine.h"
#include "tools/tenon-run/Profile.h"
#include "tools/tenon-run/Statistics.h"
#include "tools/tenon-run/Units.h"

#include <catch2/catch.hpp>

using namespace tenon::run;

TEST_CASE("statistics of one value are that value") {
  Statistics s = computeStatistics({3});
  CHECK(s.count == 1);
  for (double value : {s.min, s.median, s.mean, s.p90, s.p99, s.max})
    CHECK(value == 3);
  CHECK(s.deviation == 0);
  CHECK(s.interquartileRange == 0);
}

TEST_CASE("percentiles are nearest ranks") {
  std::vector<double> sample;
  for (int i = 100; i > 0; --i)
    sample.push_back(i);
  Statistics s = computeStatistics(sample);
  CHECK(s.min == 1);
  CHECK(s.median == 50.5);
  CHECK(s.mean == 50.5);
  CHECK(s.p90 == 90);
  CHECK(s.p99 == 99);
  CHECK(s.max == 100);
  CHECK(s.interquartileRange == 50);
  // The variance of 1 to n is n (n + 1) / 12.
  CHECK(s.deviation == Approx(29.011491975882016));
  CHECK(computeStatistics({1, 2, 3}).p90 == 3);
  CHECK(computeStatistics({1, 2, 3}).median == 2);
}

TEST_CASE("a deviation does not cancel beside a large mean") {
  CHECK(computeStatistics({1e9 + 1, 1e9 + 2, 1e9 + 3}).deviation == Approx(1));
}

TEST_CASE("figures have three digits that count") {
  CHECK(timeText(0.0000343) == "34.3 ns");
  CHECK(timeText(0.00034) == "340 ns");
  CHECK(timeText(0.0021449) == "2.14 us");
  CHECK(timeText(9.999) == "10.0 ms");
  CHECK(timeText(99.96) == "100 ms");
  CHECK(timeText(999.7) == "1.00 s");
  CHECK(timeText(123456) == "123 s");
  CHECK(bytesText(0) == "0 B");
  CHECK(bytesText(1023) == "1023 B");
  CHECK(bytesText(1024) == "1.00 KiB");
  CHECK(bytesText(436207616) == "416 MiB");
  CHECK(bytesText(UINT64_MAX) == "16777216 TiB");
  CHECK(rateText(0.957) == "0.96");
  CHECK(rateText(810.4) == "810");
  CHECK(rateText(999.6) == "1,000");
  CHECK(rateText(1234567) == "1,230,000");
  CHECK(groupDigits(1234567) == "1,234,567");
}

TEST_CASE("names that differ in numbers alone have one pattern") {
  CHECK(getPattern("encoder.layer.11.dense") == "encoder.layer.*.dense");
  CHECK(getPattern("encoder.layer.0.dense") == "encoder.layer.*.dense");
  CHECK(getPattern("") == "");
  CHECK(getPattern("3x3") == "*x*");
}

TEST_CASE("long names give way in the middle, between characters") {
  CHECK(shorten("short", 8) == "short");
  CHECK(shorten("abcdefghijkl", 8) == "abc..jkl");
  CHECK(shorten("abcdefghijkl", 9) == "abc..ijkl");
  CHECK(shorten("ab\xc3\xa4"
                "defghi\xc3\xa4kl",
                8) == "ab..kl");
}

TEST_CASE("numbers are found in JSON objects, and nowhere else") {
  CHECK(findJsonNumber(R"({"rtol": 0.001, "atol": 1e-05})", "atol") == 1e-05);
  CHECK(findJsonNumber(R"( { "a" : [1, {"x": 2}, "x"], "b": {"x": 3}, "x": -4 } )", "x") == -4);
  CHECK(findJsonNumber(R"({"quo\"te\\": "x", "x": 5})", "x") == 5);
  CHECK(findJsonNumber(R"({"x": 1} trailing)", "x") == 1);
  for (const char *text : {"",
                           "{",
                           "{}",
                           "[1]",
                           "1",
                           R"({"x")",
                           R"({"x":)",
                           R"({"x": "1"})",
                           R"({"x": null})",
                           R"({"x": 0x10})",
                           R"({"x": 1e999})",
                           R"({"x": nan})",
                           R"({"a": {"x": 1})",
                           R"({"a": ], "x": 1})",
                           R"({"a": , "x": 1})",
                           R"({"a" 1, "x": 1})",
                           R"({"a": "x)",
                           R"({"a": "\)",
                           R"({"y": 1})",
                           R"({"a": 1 "x": 2})"})
    CHECK_FALSE(findJsonNumber(text, "x"));
  // Deep nesting takes no stack.
  CHECK_FALSE(findJsonNumber(R"({"a": )" + std::string(1'000'000, '['), "x"));
}

TEST_CASE("the machine has a name and the day a date") {
  CHECK_FALSE(tenon::rt::getProcessorName().empty());
  CHECK(getDate().size() == 20);
}

TEST_CASE("time in which threads work on one instruction counts once") {
  std::vector<tenon_profile_event> events{{0, 0, 100, 200, 0, 0}, {0, 1, 150, 250, 0, 0}, {2, 0, 300, 310, 0, 0}};
  CHECK(divideTime(events, 4) == std::vector<int64_t>{150, 0, 10, 0});
}

TEST_CASE("time in which threads work on several instructions is divided among them") {
  // Alone until 150, beside the other one until 200, and that alone until 230.
  std::vector<tenon_profile_event> two{{0, 0, 100, 200, 0, 0}, {1, 1, 150, 230, 0, 0}};
  CHECK(divideTime(two, 2) == std::vector<int64_t>{75, 55});
  // Two threads on the first, one on the second.
  std::vector<tenon_profile_event> three{{0, 0, 0, 90, 0, 0}, {0, 1, 0, 90, 0, 0}, {1, 2, 0, 90, 0, 0}};
  CHECK(divideTime(three, 2) == std::vector<int64_t>{60, 30});
  CHECK(divideTime({}, 1) == std::vector<int64_t>{0});
}
