//===- CompareTests.cpp - changes of numbers, and kernels that are equal -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/Compare.h"
#include <catch2/catch.hpp>

using namespace tenon;

TEST_CASE("changes are percentages, or factors where a number has doubled") {
  CHECK(describeChange(100, 100).empty());
  CHECK(describeChange(100, 110) == "+10.0 %");
  CHECK(describeChange(100, 55) == "-45.0 %");
  CHECK(describeChange(100, 0) == "-100.0 %");
  CHECK(describeChange(100, 199) == "+99.0 %");
  CHECK(describeChange(100, 200) == "2.0×");
  CHECK(describeChange(1, 1234) == "1234.0×");
  CHECK(describeChange(0, 7) == "new");
  CHECK(describeChange(0, 0).empty());
  CHECK(describeChange(std::nullopt, 7).empty());
  CHECK(describeChange(7, std::nullopt).empty());
}

TEST_CASE("kernels are equal by what they do and not by name, and what one artifact lacks is not") {
  Comparison::KernelPair::Side side{"k1", "direct", 10, 20, 30};
  Comparison::KernelPair pair{side, side, 1, "n"};
  pair.b->kernel = "k2";
  CHECK(pair.isEqual());
  for (auto change : {+[](Comparison::KernelPair::Side &b) { b.path = "panels"; },
                      +[](Comparison::KernelPair::Side &b) { b.flops = 11; },
                      +[](Comparison::KernelPair::Side &b) { b.bytes = std::nullopt; },
                      +[](Comparison::KernelPair::Side &b) { b.code = 31; }}) {
    Comparison::KernelPair other = pair;
    change(*other.b);
    CHECK_FALSE(other.isEqual());
  }
  pair.a.reset();
  CHECK_FALSE(pair.isEqual());
  pair.b.reset();
  CHECK_FALSE(pair.isEqual());
}

TEST_CASE("facts that both lack, and figures of the machine, are not listed as equal") {
  Comparison comparison;
  comparison.facts = {{"model", "m", "m"}, {"symbols", "", ""}, {"machine l2", "1", "1"}, {"inputs", "x", "y"}};
  CHECK(listEqual(comparison) == std::vector<std::string>{"model"});
}
