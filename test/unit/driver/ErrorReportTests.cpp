//===- ErrorReportTests.cpp - when a tolerance is kept --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/ErrorReport.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace tenon;

static OutputError makeOutput(const char *name, double error) {
  OutputError output;
  output.name = name;
  output.error = error;
  return output;
}

static ErrorReport makeReport(std::vector<OutputError> outputs) {
  ErrorReport report;
  report.numSets = 1;
  report.outputs = std::move(outputs);
  return report;
}

TEST_CASE("the worst of the outputs that exceed the tolerance is found") {
  ErrorReport report = makeReport({makeOutput("a", 2e-5), makeOutput("b", 3e-5), makeOutput("c", 1e-6)});
  REQUIRE(report.findExceeding(1e-5));
  CHECK(report.findExceeding(1e-5)->name == "b");
  CHECK(report.getUsedShare(1e-5) == Approx(3));
  CHECK(!report.findExceeding(3e-5));
  CHECK(report.getLargest() == 3e-5);
}

TEST_CASE("a tolerance of 0 allows no error and what is exact") {
  CHECK(makeReport({makeOutput("a", 1e-30)}).findExceeding(0));
  CHECK(!makeReport({makeOutput("a", 0)}).findExceeding(0));
  CHECK(makeReport({makeOutput("a", 0)}).getUsedShare(0) == 0);
}

TEST_CASE("what is not finite exceeds any finite tolerance") {
  ErrorReport report = makeReport({makeOutput("a", INFINITY)});
  CHECK(report.findExceeding(1e300));
  CHECK(!report.findExceeding(INFINITY));
  CHECK(report.describeExceeding(1e-5, false).find("not finite") != std::string::npos);
}

TEST_CASE("types of the model's own allow twice what they are off by, and their roundoff at least") {
  OutputError half = makeOutput("a", 9e-4);
  half.roundoff = std::ldexp(1.0, -11);
  CHECK(half.getAllowed(1e-5) == Approx(2 * std::ldexp(1.0, -11)));
  CHECK(half.keeps(1e-5));
  half.own = 4e-3;
  CHECK(half.getAllowed(1e-5) == Approx(8e-3));
  CHECK(half.getAllowed(1e-1) == 1e-1);
  half.error = 9e-3;
  CHECK(!half.keeps(1e-5));
}

TEST_CASE("outputs that cannot be bounded keep any tolerance") {
  OutputError chosen = makeOutput("a", 1);
  chosen.note = "follows a top_k";
  CHECK(!makeReport({chosen}).findExceeding(1e-5));
  CHECK(makeReport({chosen}).getLargest() == 0);
}

TEST_CASE("integers that follow no floats are exact") {
  OutputError counts = makeOutput("a", 0);
  counts.isFloat = false;
  counts.count = 10;
  CHECK(!makeReport({counts}).findExceeding(0));
  counts.differing = 1;
  CHECK(makeReport({counts}).findExceeding(1));
  CHECK(makeReport({counts}).describeExceeding(1, false) ==
        "output 'a' differs from the model in f64 in 1 of 10 integers "
        "that depend on no float, with 1 generated input set");
}

TEST_CASE("the message says which tolerance would do") {
  for (auto [error, text] :
       {std::pair(2.3e-4, "--tolerance 3e-4"), {9.5e-6, "--tolerance 1e-5"}, {2.0, "--tolerance 2e0"}}) {
    std::string message = makeReport({makeOutput("y", error)}).describeExceeding(1e-7, false);
    INFO(message);
    CHECK(message.find(text) != std::string::npos);
  }
}

TEST_CASE("reports of several targets have the larger error of each output") {
  ErrorReport report = makeReport({makeOutput("a", 1e-6), makeOutput("b", 5e-6)});
  report.merge(makeReport({makeOutput("a", 2e-6), makeOutput("b", 1e-6)}));
  CHECK(report.outputs[0].error == 2e-6);
  CHECK(report.outputs[1].error == 5e-6);
}

TEST_CASE("places keep a tolerance by their scores, or else by those of another output") {
  OutputError places = makeOutput("a", 0);
  places.isFloat = false;
  places.differing = 2;
  places.count = 5;
  CHECK(!places.keeps(1e-5));
  CHECK(!makeReport({places}).hasBounded());
  places.scores = "logits";
  CHECK(places.keeps(1e-5));
  places.scores = "";
  places.scoreError = 3e-5;
  ErrorReport report = makeReport({places, makeOutput("b", 1e-6)});
  CHECK(report.getLargest() == 3e-5);
  CHECK(report.getUsedShare(1e-5) == Approx(3));
  CHECK(!report.findExceeding(1e-4));
  REQUIRE(report.findExceeding(1e-5));
  CHECK(report.describeExceeding(1e-5, false)
            .find("'a' has places of scores that are off by 3.0e-05 of the largest one") != std::string::npos);
  report.outputs[0].scoreError = INFINITY;
  CHECK(report.describeExceeding(1e-5, false).find("has places that its scores do not have") != std::string::npos);
  CHECK(report.toJson().find("score_error") != std::string::npos);
}
