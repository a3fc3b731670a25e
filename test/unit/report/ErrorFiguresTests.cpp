//===- ErrorFiguresTests.cpp - what an artifact says of its error ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/ErrorFigures.h"
#include <catch2/catch.hpp>

using namespace tenon;

TEST_CASE("the largest error is that of outputs that count") {
  CHECK(getLargestError(R"({"error": {"largest": 2e-6, "outputs": [{"name": "y", "error": 2e-6}]}})") == 2e-6);
  CHECK(getLargestError(R"({"error": {"largest": 2e-6, "outputs": [{"name": "y", "error": 2e-6},
                                                                   {"name": "z", "error": 1.0, "note": "follows a cast"}]}})") ==
        2e-6);
}

TEST_CASE("where no output counts, there is no largest error") {
  CHECK(!getLargestError(
      R"({"error": {"largest": 0, "outputs": [{"name": "y", "error": 9e-7, "note": "follows a cast"}]}})"));
  CHECK(!getLargestError(R"({"error": {"largest": 0, "outputs": [{"name": "y", "differing": 0, "elements": 4}]}})"));
  CHECK(!getLargestError(R"({"error": {"largest": null, "outputs": [{"name": "y", "error": null}]}})"));
  CHECK(!getLargestError(R"({"error": {"not_measured": "the sizes are open"}})"));
}

TEST_CASE("a section that is not as the compiler writes it has no largest error") {
  for (const char *meta : {"", "{", "[]", "7", R"({"error": 7})", R"({"error": {"largest": 1, "outputs": 7}})",
                           R"({"error": {"largest": 1, "outputs": [7]}})"})
    CHECK(!getLargestError(meta));
}

TEST_CASE("outputs with a note are not bounded") {
  CHECK(countUnbounded(R"({"error": {"outputs": [{"name": "y", "error": 2e-6}, {"name": "z", "note": "follows"}]}})") ==
        std::pair<size_t, size_t>(1, 2));
  CHECK(countUnbounded(R"({"error": {"not_measured": "the sizes are open"}})") == std::pair<size_t, size_t>(0, 0));
  CHECK(countUnbounded(R"({"error": {"outputs": [7]}})") == std::pair<size_t, size_t>(0, 1));
}
