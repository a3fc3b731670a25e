//===- RangesTests.cpp - ranges as text -----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Ranges.h"
#include <catch2/catch.hpp>

using namespace tenon;

TEST_CASE("ranges are read and written") {
  std::string error;
  auto ranges = parseRanges("N=128;a=b=1..512", error);
  REQUIRE(ranges);
  REQUIRE(ranges->size() == 2);
  CHECK((*ranges)[0].symbol == "N");
  CHECK((*ranges)[0].range == Interval::of(128));
  CHECK((*ranges)[1].symbol == "a=b");
  CHECK((*ranges)[1].range == Interval{1, 512});
  CHECK(printRanges(*ranges) == "N=128;a=b=1..512");
  CHECK(printRanges(*parseRanges("N=1..512@128;M=4", error)) == "N=1..512;M=4");
  CHECK(printRanges(*parseRanges("N=1..512@128;M=4", error), /*withHints=*/true) == "N=1..512@128;M=4");
}

TEST_CASE("what is no range says why") {
  for (const char *text : {"", "N", "N=", "=4", "N=-1", "N=4..2", "N=1..", "N=1...4", "N=1;", "N=1;N=2",
                           "N=99999999999999999999", "N=1..4@", "N=1..4@5"}) {
    std::string error;
    INFO(text);
    CHECK_FALSE(parseRanges(text, error));
    CHECK_FALSE(error.empty());
  }
}

TEST_CASE("arithmetic of ranges keeps open ends") {
  Interval open{1, INT64_MAX};
  CHECK(addIntervals(open, Interval::of(-3)) == Interval{-2, INT64_MAX});
  CHECK(mulIntervals(open, Interval::of(-2)) == Interval{INT64_MIN, -2});
  CHECK(mulIntervals(Interval{0, INT64_MAX}, Interval::of(0)) == Interval::of(0));
  CHECK(floorDivIntervals(Interval{-3, 9}, Interval::of(4)) == Interval{-1, 2});
  CHECK(ceilDivIntervals(Interval{-3, 9}, Interval::of(4)) == Interval{0, 3});
  CHECK(floorDivIntervals(Interval{4, 9}, Interval{1, INT64_MAX}) == Interval{0, 9});
  CHECK(floorDivIntervals(open, Interval{0, 3}) == Interval::all());
  CHECK(modIntervals(Interval{0, 3}, Interval::of(4)) == Interval{0, 3});
  CHECK(modIntervals(Interval{0, 9}, Interval::of(4)) == Interval{0, 3});
}
