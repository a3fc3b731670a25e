//===- SizeProfilesTests.cpp - the text of --specialize ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/errors/CompileError.h"
#include "compiler/pipeline/SizeProfiles.h"
#include <catch2/catch.hpp>

using namespace tenon;
using Texts = std::vector<std::string>;

/// What is wrong with a profile; empty where nothing is.
static std::string add(const std::string &profile, SizePrograms &programs, Texts &symbols) {
  std::string message;
  CompileStatus category = takeError(addProfile(profile, programs, symbols), message);
  CHECK(category == (message.empty() ? CompileStatus::done : CompileStatus::misuse));
  return message;
}

static Texts programsFor(std::initializer_list<const char *> profiles) {
  SizePrograms programs;
  Texts symbols;
  for (const char *profile : profiles) {
    INFO(profile);
    REQUIRE(add(profile, programs, symbols) == "");
  }
  return programs.list();
}

TEST_CASE("the best value has a program before the range that it is of") {
  CHECK(programsFor({"N=1,128,512"}) == Texts{"N=128", "N=1..512@128"});
  CHECK(programsFor({"N=1,4,8;M=2,2,9"}) == Texts{"N=4;M=2", "N=1..8@4;M=2..9@2"});
  CHECK(programsFor({"N=1,4,8", "N=9,16,32"}) == Texts{"N=4", "N=16", "N=1..8@4", "N=9..32@16"});
}

TEST_CASE("each value of a small range has a program") {
  CHECK(programsFor({"N=2..4"}) == Texts{"N=2", "N=3", "N=4"});
  CHECK(programsFor({"N=7"}) == Texts{"N=7"});
  CHECK(programsFor({"N=1..2;M=1,5,9"}) == Texts{"N=1;M=5", "N=2;M=5", "N=1..2;M=1..9@5"});
  CHECK(programsFor({"N=1..2", "N=2..3"}) == Texts{"N=1", "N=2", "N=3"});
}

TEST_CASE("profiles that are none are refused") {
  for (const char *text : {"", "N", "N=", "=1", "N=1,2", "N=1,2,3,4", "N=2,1,3", "N=1,4,3", "N=-1", "N=4..1", "N=0..16",
                           "N=1..4;M=1..5", "N=1;N=2", "N=1;"}) {
    SizePrograms programs;
    Texts symbols;
    INFO(text);
    CHECK(add(text, programs, symbols) != "");
  }
}

TEST_CASE("an artifact has so many programs and no more") {
  SizePrograms programs;
  Texts symbols;
  for (int i = 0; i < 63; ++i)
    REQUIRE(add("N=" + std::to_string(i), programs, symbols) == "");
  CHECK(add("N=1", programs, symbols) == "");
  CHECK(add("N=63", programs, symbols) == "makes more than 63 programs with the profiles before it");
}
