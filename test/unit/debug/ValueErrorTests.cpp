//===- ValueErrorTests.cpp - how far a value is off --------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/debug/ValueError.h"
#include "tools/tenon/debug/Workspace.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace tenon;
using namespace tenon::debug;

namespace {
/// Tensors in the captures of a workspace.
class Captures {
public:
  Captures() : workspace(llvm::cantFail(Workspace::create())) {}

  template <typename T> CapturedTensor make(tenon_dtype dtype, std::vector<T> elements) {
    std::string folder = workspace->makeFolder("capture");
    CaptureWriter writer(folder);
    int64_t count = elements.size();
    llvm::cantFail(writer.add("x", TENON_ROLE_VALUE, {dtype, 1, &count, elements.data()}));
    llvm::cantFail(writer.finish());
    return llvm::cantFail(readCapture(folder)).front();
  }

  ValueError compare(std::vector<float> got, std::vector<double> want) {
    return llvm::cantFail(compareTensors(make(TENON_F32, std::move(got)), make(TENON_F64, std::move(want))));
  }

private:
  std::unique_ptr<Workspace> workspace;
};
} // namespace

static constexpr float kInfinity = std::numeric_limits<float>::infinity();
static constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST_CASE("the error of floats is relative to the largest element") {
  Captures captures;
  ValueError error = captures.compare({1, 2, -4.5}, {1, 2, -4});
  CHECK(error.error == Approx(0.125));
  CHECK(error.differing == 1);
  CHECK(error.count == 3);
  CHECK(captures.compare({1, 2}, {1, 2}).error == 0);
  CHECK(captures.compare({}, {}).error == 0);
  CHECK(captures.compare({1e-20f, 0}, {0, 0}).error == INFINITY);
}

TEST_CASE("elements can be compared whatever their layout is") {
  Captures captures;
  auto compare = [&](std::vector<float> got, std::vector<double> want) {
    return llvm::cantFail(
        compareElements(captures.make(TENON_F32, std::move(got)), captures.make(TENON_F64, std::move(want))));
  };
  CHECK(compare({3, 1, 2}, {1, 2, 3}).error == 0);
  CHECK(compare({3, 1, 2}, {1, 2, 4}).error == Approx(0.25));
  CHECK(compare({kNaN, 1, kNaN}, {1, NAN, NAN}).error == 0);
  CHECK(compare({kNaN, 1, 2}, {1, NAN, NAN}).error == INFINITY);
  CHECK(compare({kInfinity, -kInfinity, 0}, {0, 1e40, -1e40}).error == 0);
  CHECK(compare({1, 2}, {1, 2, 3}).mismatch == "f32[2], want f64[3]");
}

TEST_CASE("numbers and NaN, or infinities of two signs, are infinitely far apart") {
  Captures captures;
  CHECK(captures.compare({kNaN, kInfinity}, {NAN, INFINITY}).error == 0);
  CHECK(captures.compare({kNaN, 1}, {1, 1}).error == INFINITY);
  CHECK(captures.compare({1, 1}, {NAN, 1}).error == INFINITY);
  CHECK(captures.compare({kInfinity, 1}, {-INFINITY, 1}).error == INFINITY);
}

TEST_CASE("what the type cannot hold is infinite") {
  Captures captures;
  CHECK(captures.compare({kInfinity, 1}, {1e40, 1}).error == 0);
  CHECK(captures.compare({1, 1}, {-1e40, 1}).error == INFINITY);
}

TEST_CASE("integers have to be equal, but those that quantization rounds to") {
  Captures captures;
  auto compare = [&](tenon_dtype dtype, std::vector<uint8_t> got, std::vector<uint8_t> want) {
    return llvm::cantFail(compareTensors(captures.make(dtype, std::move(got)), captures.make(dtype, std::move(want))));
  };
  ErrorLimit limit;
  CHECK(limit.allows(compare(TENON_U8, {7, 255}, {8, 255}), TENON_U8));
  CHECK_FALSE(limit.allows(compare(TENON_U8, {7, 255}, {9, 255}), TENON_U8));
  ValueError booleans = compare(TENON_BOOL, {1, 0, 1}, {1, 1, 1});
  CHECK(booleans.describe() == "1 of 3 differ");
  CHECK_FALSE(limit.allows(booleans, TENON_BOOL));
}

TEST_CASE("other shapes and types cannot be compared, and are wrong") {
  Captures captures;
  ValueError error = captures.compare({1, 2}, {1, 2, 3});
  CHECK(error.mismatch == "f32[2], want f64[3]");
  CHECK_FALSE(ErrorLimit().allows(error, TENON_F32));
}

TEST_CASE("what is allowed depends on the type and on the reference") {
  ErrorLimit limit;
  CHECK(limit.getAllowed(TENON_F32) == 1e-5);
  CHECK(limit.getAllowed(TENON_F16) == 1e-2);
  limit.isExact = false;
  CHECK(limit.getAllowed(TENON_F32) == 1e-4);
  limit.maxError = 1e-7;
  CHECK(limit.getAllowed(TENON_F32) == 1e-7);
  CHECK(limit.getAllowed(TENON_F16) == 1e-7);
  CHECK(limit.getAllowed(TENON_I64) == 0);
}

TEST_CASE("a capture that is cut short is an error") {
  Captures captures;
  CapturedTensor tensor = captures.make<float>(TENON_F32, {1, 2, 3});
  tensor.dims = {4};
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> elements = tensor.readElements();
  REQUIRE_FALSE(static_cast<bool>(elements));
  CHECK(llvm::StringRef(llvm::toString(elements.takeError())).ends_with("has 12 bytes, and should have 16"));
}
