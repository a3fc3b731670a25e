//===- PathSelectionTests.cpp - which paths operations took -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/PathSelection.h"
#include <catch2/catch.hpp>

using namespace tenon;

TEST_CASE("a selection knows targets, functions and places apart") {
  PathSelection selection;
  selection.add("v3", "main", 4, {"winograd-4", 1e-7});
  selection.add("v3", "main.N=1", 4, {"direct"});
  REQUIRE(selection.find("v3", "main", 4));
  CHECK(selection.find("v3", "main", 4)->path == "winograd-4");
  CHECK(selection.find("v3", "main", 4)->error == 1e-7);
  CHECK(selection.find("v3", "main.N=1", 4)->path == "direct");
  CHECK(!selection.find("v3", "main", 5));
  CHECK(!selection.find("v4", "main", 4));
  selection.clear();
  CHECK(!selection.find("v3", "main", 4));
}

TEST_CASE("targets whose operations take the same paths have the same description") {
  PathSelection selection;
  for (const char *target : {"v3", "v4", "arm"}) {
    selection.add(target, "main", 7, {"direct"});
    selection.add(target, "main", 3, {"panels"});
  }
  selection.add("arm", "main", 7, {"winograd-2", 1e-7});
  CHECK(selection.describe("v3") == selection.describe("v4"));
  CHECK(selection.describe("v3") != selection.describe("arm"));
  CHECK(selection.describe("none").empty());
}

TEST_CASE("rounded results are part of a selection") {
  PathSelection selection;
  selection.add("v3", "main", 1, {"direct"});
  selection.add("v4", "main", 1, {"direct"});
  selection.addRounded("v4", "main", 2);
  CHECK(selection.isRounded("v4", "main", 2));
  CHECK(!selection.isRounded("v4", "main", 1));
  CHECK(!selection.isRounded("v3", "main", 2));
  CHECK(selection.describe("v3") != selection.describe("v4"));
  selection.clear();
  CHECK(!selection.isRounded("v4", "main", 2));
}

TEST_CASE("forms are part of a selection where they are not the default ones") {
  PathSelection selection;
  CHECK(!selection.findForm("v3", "main", 0));
  for (const char *target : {"v3", "v4"})
    selection.addForm(target, "main", 0, {"0123", {"q", "k"}, 0, 0, {{"separate", 5}, {"merged", 6}}});
  CHECK(selection.describe("v3").empty());
  selection.addForm("v4", "main", 2, {"4567", {}, 1, 0, {{"separate", 5}, {"merged", 4}}});
  selection.addForm("v4", "main late", 2, {"89ab", {}, 1, 1, {{"split", 5}, {"fused", 4}}});
  CHECK(selection.findForm("v4", "main", 2) == 1u);
  CHECK(selection.findForm("v3", "main", 0) == 0u);
  CHECK(!selection.findForm("v3", "main", 2));
  CHECK(selection.describe("v4") == "site main 2 merged\n");
  REQUIRE(selection.listForms("v4").size() == 3);
  CHECK(selection.listForms("v4")[1].fingerprint == "4567");
  CHECK(selection.listForms("none").empty());
  selection.clear();
  CHECK(!selection.findForm("v4", "main", 2));
  CHECK(selection.describe("v4").empty());
}
