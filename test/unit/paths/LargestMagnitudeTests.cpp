//===- LargestMagnitudeTests.cpp - parts whose largest magnitude is found --===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/LargestMagnitude.h"

#include <catch2/catch.hpp>

using namespace tenon;

TEST_CASE("parts of an image are as large as divisors allow") {
  CHECK(chooseMagnitudePart(3 * 640 * 640, 1024, 8192) == 8192);
  CHECK(chooseMagnitudePart(28 * 28 * 48, 1024, 8192) == 6272);
  CHECK(chooseMagnitudePart(4096, 1024, 8192) == 4096);
  // A prime has no parts, and neither have few elements.
  CHECK(chooseMagnitudePart(10007, 1024, 8192) == 0);
  CHECK(chooseMagnitudePart(1000, 1024, 8192) == 0);
  CHECK(chooseMagnitudePart(0, 1024, 8192) == 0);
}
