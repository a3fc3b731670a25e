//===- DepfileTests.cpp - which files an output was made of ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Depfile.h"
#include <catch2/catch.hpp>

using namespace tenon;

using Files = std::vector<std::string>;

TEST_CASE("a rule names each file once, in order") {
  CHECK(printDepfile("out.tenon", {"b", "a", "b"}) == "out.tenon: \\\n  a \\\n  b\n");
  CHECK(printDepfile("out.tenon", {}) == "out.tenon:\n");
}

TEST_CASE("names with characters that make interprets come back as they were") {
  Files files = {"a b", "c#d", "e$f", "g$$h", "i:j", "k\\l", "m\\ n", "o'p\"q", "ü"};
  CHECK(parseDepfile(printDepfile("an output: $x", files)) == files);
}

TEST_CASE("a rule without files, and no rule at all, have no files") {
  CHECK(parseDepfile(printDepfile("out", {})).empty());
  CHECK(parseDepfile("").empty());
  CHECK(parseDepfile("out: \\").size() <= 1);
}
