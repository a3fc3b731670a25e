//===- CompareTests.cpp - elements, comparisons, arguments, JSON ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Compare.h"
#include "tools/tenon-run/Element.h"
#include "tools/tenon-run/Inputs.h"
#include "tools/tenon-run/Json.h"
#include "tools/tenon-run/Options.h"
#include "tools/tenon-run/Outputs.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

using namespace tenon::run;
using Catch::Matchers::Contains;

template <typename T>
static Status compareVectors(tenon_dtype dtype, std::vector<T> got, std::vector<T> want, const Tolerance &tolerance) {
  int64_t dims[] = {int64_t(got.size())}, wantDims[] = {int64_t(want.size())};
  return compare("y", {dtype, 1, dims, got.data()}, {dtype, 1, wantDims, want.data()}, tolerance);
}

static Tolerance byElement(double relative, double absolute) {
  Tolerance tolerance;
  tolerance.rule = Tolerance::byElement;
  tolerance.relative = relative;
  tolerance.absolute = absolute;
  return tolerance;
}

TEST_CASE("an output's error is its largest difference over its largest element") {
  Tolerance t;
  t.ofLargest = 1e-2;
  auto measure = [&](std::vector<float> got, std::vector<float> want) {
    int64_t dims[] = {int64_t(got.size())};
    Difference difference;
    Status status = compare("y", {TENON_F32, 1, dims, got.data()}, {TENON_F32, 1, dims, want.data()}, t, &difference);
    CHECK(difference.isMeasured);
    // Also of a NaN.
    CHECK(status.failed() == !(difference.error <= 1e-2));
    return difference.error;
  };
  CHECK(measure({1, 2, -8}, {1, 2, -8}) == 0);
  CHECK(measure({1, 2.0625f, -8}, {1, 2, -8}) == 0.0625 / 8);
  CHECK(measure({1, 2.125f, -8}, {1, 2, -8}) == 0.125 / 8);
  // Beside a large element, a small one may be wrong as a whole; of zeros the difference itself counts.
  CHECK(measure({0, 100}, {0.5f, 100}) == 0.005);
  CHECK(measure({0.0078125f, 0}, {0, 0}) == 0.0078125);
  CHECK(measure({}, {}) == 0);
  // Infinities have no size to be measured by.
  CHECK(measure({INFINITY, 4, NAN}, {INFINITY, 4, NAN}) == 0);
  CHECK(measure({INFINITY, 4.25f}, {INFINITY, 4}) == 0.0625);
  CHECK(std::isnan(measure({INFINITY, 4}, {-INFINITY, 4})));
  CHECK(std::isnan(measure({NAN, 4}, {1, 4})));
  CHECK(std::isnan(measure({1, 4}, {1, NAN})));
}

TEST_CASE("types of few bits are allowed their rounding") {
  Tolerance t;
  t.ofLargest = 0;
  CHECK(getAllowedError(TENON_F64, t) == 0);
  CHECK(getAllowedError(TENON_F32, t) == 1e-4);
  CHECK(getAllowedError(TENON_F16, t) == 1e-2);
  CHECK(getAllowedError(TENON_F8E4M3FN, t) == 0.125);
  t.ofLargest = 0.02;
  CHECK(getAllowedError(TENON_F16, t) == 0.02);
  CHECK(getAllowedError(TENON_BF16, t) == 0.05);
}

TEST_CASE("numbers are compared as ONNX does") {
  Tolerance t = byElement(0.1, 0.01);
  auto equal = [&](float got, float want) { return !compareVectors<float>(TENON_F32, {got}, {want}, t).failed(); };
  CHECK(equal(1.10f, 1.0f));
  CHECK_FALSE(equal(1.12f, 1.0f));
  CHECK(equal(0.009f, 0));
  CHECK_FALSE(equal(0.011f, 0));
  CHECK(equal(NAN, NAN));
  CHECK(equal(INFINITY, INFINITY));
  CHECK_FALSE(equal(INFINITY, -INFINITY));
  CHECK_FALSE(equal(1e30f, INFINITY));
  CHECK_FALSE(equal(INFINITY, 1e30f));
  CHECK_FALSE(equal(NAN, 1));
  CHECK_FALSE(equal(1, NAN));
  CHECK(equal(-0.0f, 0.0f));
}

TEST_CASE("integers are compared exactly unless told otherwise") {
  Tolerance t;
  CHECK_FALSE(compareVectors<int64_t>(TENON_I64, {INT64_MAX}, {INT64_MAX}, t).failed());
  Status status = compareVectors<int64_t>(TENON_I64, {5, INT64_MAX}, {5, INT64_MAX - 1}, t);
  CHECK(status.code() == kMismatch);
  CHECK_THAT(status.message(), Contains("at [1]: got 9223372036854775807, want 9223372036854775806; 1 of 2"));
  CHECK(compareVectors<uint8_t>(TENON_U8, {100}, {101}, t).failed());
  t.forIntegers = true;
  t.absolute = 1;
  t.relative = 0;
  CHECK_FALSE(compareVectors<uint8_t>(TENON_U8, {100}, {101}, t).failed());
  CHECK(compareVectors<uint8_t>(TENON_U8, {100}, {102}, t).failed());
}

TEST_CASE("a mismatch says where, what and how much") {
  std::vector<float> got{1, 2, 3, 4, 5, 6}, want{1, 2, 3, 4, 4, 8};
  int64_t dims[] = {2, 3};
  Status status =
      compare("y", {TENON_F32, 2, dims, got.data()}, {TENON_F32, 2, dims, want.data()}, byElement(1e-3, 1e-7));
  CHECK(status.code() == kMismatch);
  CHECK(std::string(status.message()) == "output 'y' at [1,1]: got 5, want 4; 2 of 6 elements differ, largest error 2 "
                                         "(allowed 1e-07 + 0.001 * |want|)");
  status = compareVectors<float>(TENON_F32, {1, 2}, {1}, {});
  CHECK(std::string(status.message()) == "output 'y' is f32[2], want f32[1]");
}

TEST_CASE("small floats decode and encode") {
  struct Case {
    tenon_dtype dtype;
    unsigned code;
    double value;
  };
  for (Case c : {Case{TENON_F16, 0x3c00, 1},
                 {TENON_F16, 0x0001, 5.9604644775390625e-8},
                 {TENON_F16, 0x7bff, 65504},
                 {TENON_F16, 0xfc00, -INFINITY},
                 {TENON_BF16, 0x4049, 3.140625},
                 {TENON_F8E4M3FN, 0x7e, 448},
                 {TENON_F8E4M3FN, 0x01, 0.001953125},
                 {TENON_F8E4M3FNUZ, 0x7f, 240},
                 {TENON_F8E5M2, 0x7b, 57344},
                 {TENON_F8E5M2, 0x7c, INFINITY},
                 {TENON_F8E5M2FNUZ, 0x7f, 57344},
                 {TENON_F8E8M0, 127, 1},
                 {TENON_F8E8M0, 0, 5.877471754111438e-39},
                 {TENON_F4E2M1, 7, 6},
                 {TENON_F4E2M1, 1, 0.5}}) {
    uint16_t code = uint16_t(c.code);
    CHECK(elementAt(c.dtype, &code, 0) == c.value);
  }
  for (auto [dtype, code] : {std::pair{TENON_F8E4M3FN, 0x7f},
                             {TENON_F8E4M3FN, 0xff},
                             {TENON_F8E4M3FNUZ, 0x80},
                             {TENON_F8E5M2FNUZ, 0x80},
                             {TENON_F8E5M2, 0x7d},
                             {TENON_F8E8M0, 0xff},
                             {TENON_F16, 0x7c01}}) {
    uint16_t bits = uint16_t(code);
    CHECK(std::isnan(elementAt(dtype, &bits, 0)));
  }
  // Every value of a type is encoded as itself.
  for (tenon_dtype dtype : {TENON_F16, TENON_BF16, TENON_F8E4M3FN, TENON_F8E4M3FNUZ, TENON_F8E5M2, TENON_F8E5M2FNUZ,
                            TENON_F8E8M0, TENON_F4E2M1})
    for (uint32_t code = 0; code < 1u << tenon_dtype_bits(dtype); code += 1 + (code > 512) * 6) {
      uint16_t bits = uint16_t(code), back = 0;
      double value = elementAt(dtype, &bits, 0);
      if (std::isnan(value) || std::isinf(value))
        continue;
      setElement(dtype, &back, 0, value);
      REQUIRE(back == bits);
    }
  uint16_t rounded = 0;
  setElement(TENON_F16, &rounded, 0, 1e9);
  CHECK(rounded == 0x7bff);
}

TEST_CASE("integers saturate") {
  int64_t word = 0;
  setElement(TENON_I64, &word, 0, 1e300);
  CHECK(word == INT64_MAX);
  setElement(TENON_I64, &word, 0, -1e300);
  CHECK(word == INT64_MIN);
  uint8_t byte = 0;
  setElement(TENON_U8, &byte, 0, -5);
  CHECK(byte == 0);
  setElement(TENON_U8, &byte, 0, 2.5);
  CHECK(byte == 2);
}

TEST_CASE("random tensors depend on the seed alone") {
  auto make = [](tenon_dtype dtype, uint64_t seed) {
    HostTensor tensor;
    tensor.dtype = dtype;
    tensor.dims = {100};
    REQUIRE_FALSE(tensor.allocate().failed());
    fillRandom(tensor, seed);
    return tensor;
  };
  HostTensor a = make(TENON_F32, 1), b = make(TENON_F32, 1), c = make(TENON_F32, 2), i = make(TENON_I64, 1);
  CHECK(memcmp(a.data(), b.data(), a.bytes) == 0);
  CHECK(memcmp(a.data(), c.data(), a.bytes) != 0);
  for (uint64_t k = 0; k < 100; ++k) {
    CHECK(std::fabs(elementAt(TENON_F32, a.data(), k)) <= 1);
    double integer = elementAt(TENON_I64, i.data(), k);
    CHECK((integer == 0 || integer == 1));
  }
}

TEST_CASE("names of arguments are found, those with '=' too") {
  size_t index;
  std::string value;
  std::vector<std::string> names{"x", "x=1", "y"};
  REQUIRE(splitNamed("x=a=b", names, &index, &value));
  CHECK((index == 0 && value == "a=b"));
  REQUIRE(splitNamed("x=1=b", names, &index, &value));
  CHECK((index == 1 && value == "b"));
  CHECK_FALSE(splitNamed("z=1", names, &index, &value));
  CHECK_FALSE(splitNamed("file.npy", names, &index, &value));
  REQUIRE(splitNamed("file.npy", {"x"}, &index, &value));
  CHECK((index == 0 && value == "file.npy"));
  CHECK_FALSE(splitNamed("X=file.npy", {"x"}, &index, &value));
}

TEST_CASE("shapes and numbers of arguments") {
  std::vector<int64_t> dims;
  REQUIRE(parseShape("1x3x32", &dims));
  CHECK(dims == std::vector<int64_t>{1, 3, 32});
  REQUIRE(parseShape("scalar", &dims));
  CHECK(dims.empty());
  for (const char *bad : {"", "x", "1x", "x1", "-1", "1,2", "99999999999999999999", "9223372036854775808"})
    CHECK_FALSE(parseShape(bad, &dims));
}

TEST_CASE("JSON text") {
  CHECK(jsonString("a\"b\\c\n") == "\"a\\\"b\\\\c\\u000a\"");
  CHECK(jsonString("gr\xc3\xbc\xc3\x9f") == "\"gr\xc3\xbc\xc3\x9f\"");
  CHECK(jsonString("\xff\xc0\x80x") == "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx\"");
  CHECK(jsonString("\xed\xa0\x80") == "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
  CHECK(jsonNumber(NAN) == "null");
  CHECK(jsonNumber(0.5) == "0.5");
}

TEST_CASE("an output's name cannot leave its folder") {
  CHECK(fileName("y") == "y");
  CHECK(fileName("../../etc/passwd") == "_.._.._etc_passwd");
  CHECK(fileName("") == "_");
  CHECK(fileName(".") == "_.");
  CHECK(fileName("a/b:0") == "a_b_0");
}
