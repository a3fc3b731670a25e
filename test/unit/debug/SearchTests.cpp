//===- SearchTests.cpp - bisection and delta debugging ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/debug/Search.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

using namespace tenon::debug;
using Items = std::vector<size_t>;

static bool has(const Items &items, size_t item) { return std::find(items.begin(), items.end(), item) != items.end(); }

TEST_CASE("bisection finds each place where a predicate changes, in logarithmic time") {
  for (size_t end : {1, 2, 3, 7, 100})
    for (size_t first = 1; first <= end; ++first) {
      size_t asked = 0;
      CHECK(findFirstFailing(0, end, [&](size_t n) {
              ++asked;
              CHECK((n > 0 && n < end));
              return n >= first;
            }) == first);
      CHECK(asked <= 7);
    }
}

TEST_CASE("where a predicate changes often, one change is found") {
  auto fails = [](size_t n) { return n % 3 == 1 || n == 20; };
  size_t found = findFirstFailing(0, 20, fails);
  CHECK(fails(found));
  CHECK_FALSE(fails(found - 1));
}

TEST_CASE("minimization keeps what is needed together, in order") {
  for (Items needed : {Items{0}, Items{9}, Items{3, 4}, Items{0, 5, 9}, Items{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}})
    CHECK(minimize(10, [&](const Items &items) {
            CHECK(std::is_sorted(items.begin(), items.end()));
            return std::all_of(needed.begin(), needed.end(), [&](size_t item) { return has(items, item); });
          }) == needed);
}

TEST_CASE("no single item of a minimal subset can be left out") {
  // Any two of three, and an item that must not be there without another one: not monotonic.
  auto fails = [](const Items &items) {
    return has(items, 2) + has(items, 6) + has(items, 11) >= 2 && (!has(items, 2) || has(items, 3));
  };
  Items minimal = minimize(12, fails);
  REQUIRE(fails(minimal));
  for (size_t item : minimal) {
    Items rest = minimal;
    rest.erase(std::find(rest.begin(), rest.end(), item));
    CHECK_FALSE(fails(rest));
  }
}

TEST_CASE("minimization of one item among many asks about few subsets") {
  size_t asked = 0;
  CHECK(minimize(1024, [&](const Items &items) {
          ++asked;
          return has(items, 777);
        }) == Items{777});
  CHECK(asked <= 2 * 10);
}

TEST_CASE("a single item is minimal") {
  CHECK(minimize(1, [](const Items &) { return true; }) == Items{0});
}
