//===- StatePairsTests.cpp - which outputs a model keeps for the next run --===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/StatePairs.h"

#include <catch2/catch.hpp>

using namespace tenon;
using Catch::Matchers::Contains;

using Names = std::vector<std::string>;

static const Names kInputs{"ids", "past.0.key", "past.0.value", "past.1.key", "h"};
static const Names kOutputs{"logits", "present.1.key", "present.0.value", "present.0.key", "hn"};

static Names expand(const Names &patterns) {
  llvm::Expected<Names> pairs = expandStatePairs(patterns, kInputs, kOutputs);
  if (!pairs)
    return {llvm::toString(pairs.takeError())};
  return *pairs;
}

TEST_CASE("a star matches pairs in the order of the inputs") {
  CHECK(expand({"past.*=present.*"}) ==
        Names{"past.0.key=present.0.key", "past.0.value=present.0.value", "past.1.key=present.1.key"});
  CHECK(expand({"past.*.key=present.*.key", "h=hn"}) ==
        Names{"past.0.key=present.0.key", "past.1.key=present.1.key", "h=hn"});
  CHECK(expand({}).empty());
  // A star may stand for nothing.
  CHECK(expand({"h*=h*n"}) == Names{"h=hn"});
}

TEST_CASE("patterns that do not match say so") {
  for (const char *pattern : {"", "h", "=hn", "h=", "past.*=present", "past=present.*", "**=**", "*.*=*.*"}) {
    INFO(pattern);
    CHECK_THAT(expand({pattern}).front(),
               Contains("--state: expected INPUT=OUTPUT, with one star in both or in neither"));
  }
  CHECK_THAT(expand({"cache*=present*"}).front(), Contains("matches no input, and the inputs are 'ids', 'past.0.key'"));
  CHECK_THAT(expand({"past.*=hidden.*"}).front(),
             Contains("input 'past.0.key' goes with output 'hidden.0.key', and the outputs are 'logits'"));
  // The text on both sides of the star must not overlap.
  CHECK_THAT(expand({"hh*h=hn*"}).front(), Contains("matches no input"));
  CHECK_THAT(expand({"h=hn", "h=logits"}).front(), Contains("'h' or 'logits' is in another pair already"));
  CHECK_THAT(expand({"h=hn", "ids=hn"}).front(), Contains("'ids' or 'hn' is in another pair already"));
}
