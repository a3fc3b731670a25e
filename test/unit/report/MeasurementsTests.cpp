//===- MeasurementsTests.cpp - what a file of measurements may hold ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/Measurements.h"
#include <catch2/catch.hpp>

using namespace tenon;

static Measurements parse(const std::string &json) {
  llvm::Expected<Measurements> measured = parseMeasurements(json);
  REQUIRE(bool(measured));
  return *measured;
}

static bool isRefused(const std::string &json) {
  llvm::Expected<Measurements> measured = parseMeasurements(json);
  if (measured)
    return false;
  return llvm::toString(measured.takeError()).find("expected the limits of a machine") == 0;
}

TEST_CASE("limits bound a kernel by its arithmetic for each byte") {
  Measurements measured = parse(R"({"peak_flops_per_second": 100, "read_bytes_per_second": 10, "threads": 3,
                                    "processor": "p\u0001"})");
  CHECK(measured.getLimit(1) == 10);
  CHECK(measured.getLimit(10) == 100);
  CHECK(measured.getLimit(1000) == 100);
  CHECK(measured.threads == 3);
  CHECK(measured.processor == "p?");
  CHECK(measured.kernels.empty());
}

TEST_CASE("kernels without a name or a time are left out, whatever the file holds") {
  Measurements measured = parse(R"({"peak_flops_per_second": 1, "read_bytes_per_second": 1, "kernels": [
    {"kernel": "a", "ms": 2, "flops": 3, "bytes": 4}, {"kernel": "b", "ms": 5}, {"kernel": "c"}, {"ms": 1}, 7, null,
    {"kernel": "d", "ms": -1}, {"kernel": 1, "ms": 1}, {"kernel": "e", "ms": "1"}, {"kernel": "f", "ms": 0},
    {"kernel": "g", "ms": 1, "flops": -3, "bytes": 1e300}]})");
  REQUIRE(measured.kernels.size() == 3);
  CHECK(
      (measured.kernels["a"].seconds == 0.002 && measured.kernels["a"].flops == 3 && measured.kernels["a"].bytes == 4));
  CHECK((measured.kernels["b"].seconds == 0.005 && measured.kernels["b"].flops == 0));
  CHECK((measured.kernels["g"].flops == 0 && measured.kernels["g"].bytes == 0));
}

TEST_CASE("files without limits are refused") {
  for (const char *json : {"", "{", "[]", "{}", "7", "null", "[7]", "[[]]", R"({"peak_flops_per_second": 1})",
                           R"({"peak_flops_per_second": 0, "read_bytes_per_second": 1})",
                           R"({"peak_flops_per_second": "1", "read_bytes_per_second": 1})",
                           R"([{"peak_flops_per_second": 1, "read_bytes_per_second": 1}])",
                           R"([{"flops_per_second": 1e999, "read_bytes_per_second": 1}])"})
    CHECK(isRefused(json));
  CHECK(isRefused(std::string(100'000, '[')));
  CHECK_FALSE(isRefused(R"([{"flops_per_second": 1, "read_bytes_per_second": 1}])"));
}
