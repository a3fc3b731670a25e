//===- PlanTimesTests.cpp - what an artifact says of its times ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/Meta.h"
#include <catch2/catch.hpp>

using namespace tenon;
using Lines = std::vector<std::string>;

TEST_CASE("plans of one target are one line, the artifact's own first") {
  CHECK(listPlanTimes(R"({"plans": [
    {"target": "host", "tolerance": 1e-3, "nanoseconds": 41200000, "error": 3.1e-4},
    {"target": "host", "tolerance": 1e-5, "nanoseconds": 63000000}]})") ==
        Lines{"fastest plan within 1e-3: 41.2 ms (error 3.1e-4); within 1e-5: 63.0 ms"});
  CHECK(listPlanTimes(R"({"plans": [{"target": "host", "tolerance": 0.5, "nanoseconds": 1500, "error": 0}]})") ==
        Lines{"fastest plan within 5e-1: 1.50 us (error 0e0)"});
}

TEST_CASE("several targets have a line each") {
  CHECK(listPlanTimes(R"({"plans": [{"target": "a", "tolerance": 1e-5, "nanoseconds": 1e6},
                                    {"target": "b", "tolerance": 1e-5, "nanoseconds": 2e6}]})") ==
        Lines{"a: fastest plan within 1e-5: 1.00 ms", "b: fastest plan within 1e-5: 2.00 ms"});
}

TEST_CASE("what the compiler does not write is left out") {
  for (const char *meta : {"", "{", "[]", "7", R"({"plans": 7})", R"({"plans": [7]})", R"({"plans": [{}]})",
                           R"({"plans": [{"target": 3, "tolerance": 1, "nanoseconds": 1}]})"})
    CHECK(listPlanTimes(meta).empty());
}

TEST_CASE("what is nested deeper than the compiler writes is dropped, at any depth and in any number") {
  std::string deep = std::string(100000, '[') + "7" + std::string(100000, ']');
  nlohmann::ordered_json meta = parseMeta(R"({"a": [[7]], "b": )" + deep + "}");
  CHECK(meta["a"].dump() == "[[7]]");
  CHECK(meta["b"].dump() == std::string(14, '[') + "null" + std::string(14, ']'));
  CHECK(parseMeta("[" + deep + "]").dump().size() < 40);
}
