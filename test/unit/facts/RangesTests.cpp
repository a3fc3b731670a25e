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
  std::vector<NamedRange> ranges = llvm::cantFail(parseRanges("N=128;a=b=1..512"));
  REQUIRE(ranges.size() == 2);
  CHECK(ranges[0].symbol == "N");
  CHECK(ranges[0].range == Interval::of(128));
  CHECK(ranges[1].symbol == "a=b");
  CHECK(ranges[1].range == Interval{1, 512});
  CHECK(printRanges(ranges) == "N=128;a=b=1..512");
  ranges = llvm::cantFail(parseRanges("N=1..512@128;M=4"));
  CHECK(printRanges(ranges) == "N=1..512;M=4");
  CHECK(printRanges(ranges, /*withHints=*/true) == "N=1..512@128;M=4");
}

TEST_CASE("what is no range says why") {
  auto getError = [](const char *text) { return llvm::toString(parseRanges(text).takeError()); };
  for (const char *text :
       {"N", "N=", "=4", "N=-1", "N=4..2", "N=1..", "N=1...4", "N=99999999999999999999", "N=1..4@", "N=1..4@5"})
    CHECK(getError(text) == "'" + std::string(text) + "' is no range; write N=128 or N=1..512");
  CHECK(getError("") == "'' is no range; write N=128 or N=1..512");
  CHECK(getError("N=1;") == "'' is no range; write N=128 or N=1..512");
  CHECK(getError("N=1;N=2") == "'N' is named twice");
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
