//===- PathPinsTests.cpp - paths that are demanded or ruled out -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/PathPins.h"
#include <catch2/catch.hpp>

using namespace tenon;

static const std::vector<llvm::StringRef> kPaths{"direct", "winograd-2", "winograd-4"};
static const PinnedOperation kConv{"0123456789abcdef0123456789abcdef", {"/layer1/conv1/Conv", "/layer1/relu"}};

static PathPin parse(llvm::StringRef text, bool isForced) { return llvm::cantFail(PathPin::parse(text, isForced)); }

static std::string getFault(llvm::StringRef text, bool isForced) {
  llvm::Expected<PathPin> pin = PathPin::parse(text, isForced);
  return pin ? "" : llvm::toString(pin.takeError());
}

TEST_CASE("pins that mean nothing are refused", "[pins]") {
  CHECK(getFault("direct", false).empty());
  CHECK(getFault("*=direct", true).empty());
  // A node's name may have an equals sign.
  CHECK(parse("a=b=direct", true).where == "a=b");
  CHECK(getFault("direct", true) == "expected REGION=PATH, got 'direct'");
  CHECK_THAT(getFault("*=fast", true), Catch::Matchers::StartsWith("there is no path 'fast'; the paths are direct, "));
  CHECK(getFault("=direct", true) == "expected a region or a node before '=', got '=direct'");
  CHECK_THAT(getFault("a[=direct", true), Catch::Matchers::StartsWith("'a[' is no pattern"));
}

TEST_CASE("operations are called by their nodes or their region", "[pins]") {
  for (const char *where : {"*", "012345", "0123456789abcdef0123456789abcdef", "/layer1/*", "/layer?/relu"}) {
    PathPins pins({parse(std::string(where) + "=winograd-2", true)});
    CHECK(pins.filter(kConv, kPaths) == std::vector<bool>{false, true, false});
    CHECK(!llvm::errorToBool(pins.check()));
  }
  // Few digits would match by chance.
  for (const char *where : {"01234", "123456", "layer1", "/layer2/*"}) {
    PathPins pins({parse(std::string(where) + "=winograd-2", true)});
    CHECK(pins.filter(kConv, kPaths) == std::vector<bool>{true, true, true});
    CHECK_THAT(llvm::toString(pins.check()), Catch::Matchers::Contains("is called '" + std::string(where) + "'"));
  }
}

TEST_CASE("the pin that forces last counts, and outweighs those that exclude", "[pins]") {
  PathPins pins({parse("*=direct", true), parse("/layer1/*=winograd-4", true), parse("winograd-4", false)});
  CHECK(pins.filter(kConv, kPaths) == std::vector<bool>{false, false, true});
  CHECK(pins.filter({"ff", {"other"}}, kPaths) == std::vector<bool>{true, false, false});
  CHECK(!llvm::errorToBool(pins.check()));
}

TEST_CASE("excluded paths are left out", "[pins]") {
  PathPins pins({parse("direct", false), parse("/layer1/*=winograd-4", false)});
  CHECK(pins.filter(kConv, kPaths) == std::vector<bool>{false, true, false});
  CHECK(pins.filter({"ff", {}}, kPaths) == std::vector<bool>{false, true, true});
  // Nothing is lost where an operation has no path at all.
  CHECK(pins.filter({"ff", {}}, {}).empty());
  CHECK(!llvm::errorToBool(pins.check()));
}

TEST_CASE("an operation without a path keeps all, and is a fault", "[pins]") {
  PathPins pins({parse("direct", false), parse("winograd-2", false), parse("winograd-4", false)});
  CHECK(pins.filter(kConv, kPaths) == std::vector<bool>{true, true, true});
  CHECK(llvm::toString(pins.check()) ==
        "'/layer1/conv1/Conv' is left without a path: all of direct, winograd-2, winograd-4 are "
        "excluded");
}

TEST_CASE("a path that an operation has not cannot be forced", "[pins]") {
  PathPins insisted({parse("/layer1/*=amx", true)}), recorded({parse("/layer1/*=amx", true)}, /*areInsistedOn=*/false);
  for (PathPins *pins : {&insisted, &recorded})
    CHECK(pins->filter(kConv, kPaths) == std::vector<bool>{true, true, true});
  CHECK(llvm::toString(insisted.check()) ==
        "--force /layer1/*=amx: no operation of that name can be computed so for this target");
  CHECK(!llvm::errorToBool(recorded.check()));
  // What is ruled out need not be there.
  PathPins excluded({parse("amx", false), parse("/layer1/*=amx", false)});
  excluded.filter(kConv, kPaths);
  CHECK(!llvm::errorToBool(excluded.check()));
}

TEST_CASE("activations have pins of their own", "[pins]") {
  CHECK(!PathPins({parse("direct", false)}).findActivationPin());
  CHECK(PathPins({parse("bf16_activation", false)}).findActivationPin() == false);
  CHECK(PathPins({parse("activations=bf16_activation", true)}).findActivationPin() == true);
  CHECK(PathPins({parse("*=bf16_activation", true), parse("bf16_activation", false)}).findActivationPin() == false);
}
