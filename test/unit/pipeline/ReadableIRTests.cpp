//===- ReadableIRTests.cpp - locations in printed IR -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/ReadableIR.h"
#include <catch2/catch.hpp>

using namespace tenon;

TEST_CASE("locations of nodes stay") {
  CHECK(keepNodeLocations("%a = x.y : i1 loc(\"conv1\")\n") == "%a = x.y : i1 loc(\"conv1\")\n");
  CHECK(keepNodeLocations("} loc(fused[\"conv1\", \"norm)1\"])\n") == "} loc(fused[\"conv1\", \"norm)1\"])\n");
  CHECK(keepNodeLocations("} loc(fused[\"a.mlir\":1:2, \"conv1\"])\n") == "} loc(fused[\"a.mlir\":1:2, \"conv1\"])\n");
  // A name that looks like a place in a file.
  CHECK(keepNodeLocations("x.y loc(\"a\"(\"b.mlir\":1:2))\n") == "x.y loc(\"a\"(\"b.mlir\":1:2))\n");
}

TEST_CASE("locations without a node go") {
  CHECK(keepNodeLocations("x.y loc(unknown)\n} loc(unknown)\n") == "x.y\n}\n");
  CHECK(keepNodeLocations("x.y loc(\"a \\\" b.mlir\":12:3)\n") == "x.y\n");
  CHECK(keepNodeLocations("x.y loc(\"a.mlir\":12:3 to :14)\n") == "x.y\n");
  CHECK(keepNodeLocations("x.y loc(fused[\"a.mlir\":1:2, \"b.mlir\":3:4])\n") == "x.y\n");
  CHECK(keepNodeLocations("^bb0(%in: f32 loc(\"conv1\"), %out: f32 loc(\"conv1\")):\n") ==
        "^bb0(%in: f32, %out: f32):\n");
}

TEST_CASE("what is quoted is no location") {
  CHECK(keepNodeLocations("x.y {name = \"a loc(unknown)\"} loc(unknown)\n") == "x.y {name = \"a loc(unknown)\"}\n");
  CHECK(keepNodeLocations("x.y {name = \"a\\\" loc(unknown)\"}\n") == "x.y {name = \"a\\\" loc(unknown)\"}\n");
}

TEST_CASE("text that ends early ends") {
  CHECK(keepNodeLocations("x.y loc(\"conv1") == "x.y");
  CHECK(keepNodeLocations("x.y \"conv1\\") == "x.y \"conv1\\");
}
