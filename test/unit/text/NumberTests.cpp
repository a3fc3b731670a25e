//===- NumberTests.cpp - numbers as text ----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/format/Kernel.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>
#include <string>

extern "C" {
#define KERNEL(name) int32_t name(void *const *, const int64_t *, int64_t, int64_t, void *, int64_t);
KERNEL(tenon_read_integers)
KERNEL(tenon_read_numbers)
KERNEL(tenon_write_integers)
KERNEL(tenon_write_numbers)
}

template <typename T> static std::optional<T> read(tenon_kernel_fn kernel, std::string text) {
  int64_t end = int64_t(text.size());
  T value = 0;
  void *buffers[] = {text.data(), &end, &value};
  int64_t sizes[] = {end, 1, 1};
  return kernel(buffers, sizes, 0, 1, nullptr, -1) == TENON_KERNEL_OK ? std::optional<T>(value) : std::nullopt;
}

template <typename T> static std::string written(tenon_kernel_fn kernel, T value, int64_t flag) {
  char slot[32];
  int64_t length = 0;
  void *buffers[] = {&value, &flag, slot, &length};
  int64_t sizes[] = {1, 1, 32, 1};
  CHECK(kernel(buffers, sizes, 0, 1, nullptr, -1) == TENON_KERNEL_OK);
  return std::string(slot, size_t(length));
}

static std::optional<double> number(const std::string &text) { return read<double>(tenon_read_numbers, text); }
static std::optional<int64_t> integer(const std::string &text) { return read<int64_t>(tenon_read_integers, text); }
static std::string text(double value) { return written(tenon_write_numbers, value, 0); }
static std::string shortText(float value) { return written(tenon_write_numbers, double(value), 1); }

TEST_CASE("numbers are read as the C library reads them") {
  for (const char *each : {"0",
                           "-0",
                           "1",
                           "+1.5",
                           "3.14159",
                           "1e5",
                           "1E-5",
                           ".5",
                           "5.",
                           "0.000001",
                           "123456789012345678901234567890",
                           "1.7976931348623157e308",
                           "1.7976931348623159e308",
                           "1e400",
                           "-1e400",
                           "4.9406564584124654e-324",
                           "2.4703282292062327e-324",
                           "2.4703282292062328e-324",
                           "2.2250738585072011e-308",
                           "1e-400",
                           "1e999999999999",
                           "9007199254740993",
                           "9007199254740992.999999999999999999999",
                           "0e99999",
                           "0.0000000000000000000000000000001"}) {
    INFO(each);
    std::optional<double> value = number(each);
    REQUIRE(value);
    double wanted = strtod(each, nullptr);
    CHECK(memcmp(&*value, &wanted, 8) == 0);
  }
  // A tie that the 801st digit breaks.
  std::string tie = "9007199254740993." + std::string(900, '0');
  CHECK(number(tie) == 9007199254740992.0);
  CHECK(number(tie + "1") == 9007199254740994.0);
  CHECK(number("INF") == INFINITY);
  CHECK(number("-inf") == -INFINITY);
  CHECK(std::isnan(*number("NaN")));
  for (const char *bad : {"", ".", "-", "1e", "1e+", "1.2.3", "a", "1a", " 1", "infx", "--1"})
    CHECK_FALSE(number(bad));
}

TEST_CASE("random numbers survive as text") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20'000; ++round) {
    uint64_t bits = random();
    double value;
    memcpy(&value, &bits, 8);
    if (!std::isfinite(value))
      continue;
    INFO(text(value));
    CHECK(number(text(value)) == value);
    CHECK(strtod(text(value).c_str(), nullptr) == value);
    float small;
    memcpy(&small, &bits, 4);
    if (std::isfinite(small))
      CHECK(strtof(shortText(small).c_str(), nullptr) == small);
  }
}

TEST_CASE("numbers are written as Python writes them") {
  CHECK(text(0.1) == "0.1");
  CHECK(text(-1) == "-1.0");
  CHECK(text(314.15926) == "314.15926");
  CHECK(text(1e15) == "1000000000000000.0");
  CHECK(text(1e16) == "1e+16");
  CHECK(text(1.5e300) == "1.5e+300");
  CHECK(text(0.0001) == "0.0001");
  CHECK(text(0.00001) == "1e-05");
  CHECK(text(5e-324) == "5e-324");
  CHECK(text(9.5) == "9.5");
  CHECK(text(0.3) == "0.3");
  CHECK(text(1.7976931348623157e308) == "1.7976931348623157e+308");
  CHECK(text(-0.0) == "-0.0");
  CHECK(text(INFINITY) == "INF");
  CHECK(text(-INFINITY) == "-INF");
  CHECK(text(NAN) == "NaN");
  CHECK(shortText(0.1f) == "0.1");
  CHECK(shortText(0.97134984f) == "0.97134984");
  CHECK(shortText(16777216.0f) == "16777216.0");
}

TEST_CASE("integers") {
  CHECK(integer("-42") == -42);
  CHECK(integer("9223372036854775807") == INT64_MAX);
  CHECK(integer("-9223372036854775808") == INT64_MIN);
  CHECK(uint64_t(*integer("18446744073709551615")) == UINT64_MAX);
  CHECK(integer("100.5") == 100);
  CHECK(integer("-1e3") == -1000);
  for (const char *bad : {"", "x", "18446744073709551616", "-9223372036854775809", "1e30", "nan", "1 "})
    CHECK_FALSE(integer(bad));
  CHECK(written<int64_t>(tenon_write_integers, INT64_MIN, 0) == "-9223372036854775808");
  CHECK(written<int64_t>(tenon_write_integers, -1, 1) == "18446744073709551615");
  CHECK(written<int64_t>(tenon_write_integers, 0, 0) == "0");
}
