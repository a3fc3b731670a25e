//===- PlanSearchTests.cpp - what is tried to keep a memory limit ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/PlanSearch.h"
#include <catch2/catch.hpp>

using namespace tenon;

TEST_CASE("a plan that keeps the limit ends the search") {
  PlanSearch search(100);
  REQUIRE(search.getNext());
  CHECK(search.report(100, 50));
  CHECK_FALSE(search.getNext());
  CHECK(search.getCount() == 1);
}

TEST_CASE("what has no bound is not searched for") {
  PlanSearch search(100);
  REQUIRE(search.getNext());
  CHECK(search.report(UINT64_MAX, 50));
  CHECK_FALSE(search.getNext());
}

TEST_CASE("an order comes first, then computing again, then letting go of weights") {
  PlanSearch search(100);
  std::optional<PlanOptions> how = search.getNext();
  int64_t usualSteps = how->orderingSteps;
  CHECK(search.report(200, 70));
  how = search.getNext();
  CHECK(how->orderingSteps > usualSteps);
  CHECK(how->recomputed == 0);
  CHECK_FALSE(search.report(200, 70));
  for (int64_t count : {1, 2, 4, 8, 16}) {
    how = search.getNext();
    CHECK(how->recomputed == count);
    CHECK_FALSE(how->weightBudget);
    CHECK(search.report(count > 4 ? 180 : 180 + 4 - count, 70) == (count <= 4));
  }
  // 110 bytes of the best one are no weights, which leaves none for these.
  for (int idle = 0; idle < 3; ++idle) {
    how = search.getNext();
    CHECK(how->recomputed == 32 << idle);
    CHECK_FALSE(search.report(180, 70));
  }
  how = search.getNext();
  CHECK(how->recomputed == 4);
  CHECK(how->weightBudget == 0);
  CHECK(search.report(120, 70));
  CHECK_FALSE(search.getNext());
}
