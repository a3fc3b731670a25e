//===- BindTests.cpp - shapes that do and do not fit ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/runtime/Runner.h"

#include <catch2/catch.hpp>

using namespace tenon;
using namespace tenon::test;
using Catch::Matchers::Contains;

/// ids i64[N, 2], mask f32[N], wide f32[2 * N]; nothing is computed.
static ArtifactBuilder threeInputs() {
  ArtifactBuilder b;
  uint32_t n = b.symbol("N", 1, 512);
  uint32_t twice = b.expr(fmt::ExprOp::mul, b.constant(2), n);
  b.input("ids", fmt::DType::i64, {n, b.constant(2)});
  b.input("mask", fmt::DType::f32, {n});
  b.input("wide", fmt::DType::f32, {twice});
  b.halt();
  return b;
}

static void bindAll(Runner &r, int64_t ids, int64_t mask, int64_t wide) {
  static double data[2048];
  REQUIRE(r.bind(0, TENON_I64, {ids, 2}, data) == TENON_OK);
  REQUIRE(r.bind(1, TENON_F32, {mask}, data) == TENON_OK);
  REQUIRE(r.bind(2, TENON_F32, {wide}, data) == TENON_OK);
}

TEST_CASE("dimensions of one symbol must agree") {
  Runner r(threeInputs());
  bindAll(r, 4, 4, 8);
  CHECK(r.run() == TENON_OK);
  bindAll(r, 4, 8, 8);
  CHECK(r.run() == TENON_INVALID);
  CHECK(r.message() == "artifact: symbol 'N' is 4 in 'ids' and 8 in 'mask'");
  bindAll(r, 4, 4, 9);
  CHECK(r.run() == TENON_INVALID);
  CHECK(r.message() == "artifact: dimension 0 of input 'wide' is 9, expected 2 * N, which is 8: N is 4 in 'ids'");
  bindAll(r, 5, 5, 10);
  CHECK(r.run() == TENON_OK);
}

TEST_CASE("symbols keep their range") {
  Runner r(threeInputs());
  bindAll(r, 0, 0, 0);
  CHECK(r.run() == TENON_INVALID);
  CHECK(r.message() == "artifact: symbol 'N' is 0 in 'ids', expected 1 to 512");
  bindAll(r, 513, 513, 1026);
  CHECK(r.run() == TENON_INVALID);
  bindAll(r, 512, 512, 1024);
  CHECK(r.run() == TENON_OK);
}

TEST_CASE("what binding itself can see is refused there") {
  Runner r(threeInputs());
  float data[8];
  CHECK(r.bind(0, TENON_F32, {4, 2}, data) == TENON_INVALID);
  CHECK(r.message() == "artifact: input 'ids' has element type f32, expected i64");
  CHECK(r.bind(0, TENON_I64, {4}, data) == TENON_INVALID);
  CHECK(r.message() == "artifact: input 'ids' has 1 dimension, expected 2");
  CHECK(r.bind(1, TENON_F32, {-4}, data) == TENON_INVALID);
  CHECK(r.bind(0, TENON_I64, {INT64_MAX, 2}, data) == TENON_INVALID);
  CHECK_THAT(r.message(), Contains("more elements than any memory holds"));
  CHECK(r.bind(1, TENON_F32, {1}, reinterpret_cast<char *>(data) + 1) == TENON_MISUSE);
  CHECK_THAT(r.message(), Contains("not aligned to 4 bytes"));
  CHECK(r.bind(3, TENON_F32, {1}, data) == TENON_MISUSE);
}

TEST_CASE("a constant dimension must be met") {
  Runner r(threeInputs());
  bindAll(r, 4, 4, 8);
  double data[16];
  REQUIRE(r.bind(0, TENON_I64, {4, 3}, data) == TENON_OK);
  CHECK(r.run() == TENON_INVALID);
  CHECK(r.message() == "artifact: dimension 1 of input 'ids' is 3, expected 2");
}

TEST_CASE("a run needs every input, with data") {
  Runner r(threeInputs());
  CHECK(r.run() == TENON_MISUSE);
  CHECK(r.message() == "artifact: input 'ids' is not bound");
  bindAll(r, 4, 4, 8);
  REQUIRE(r.bind(1, TENON_F32, {4}, nullptr) == TENON_OK);
  tenon_memory memory;
  CHECK(tenon_session_measure(r.session, &memory, &r.error) == TENON_OK);
  CHECK(r.run() == TENON_MISUSE);
  CHECK(r.message() == "artifact: input 'mask' is bound without data");
}

TEST_CASE("memory is known before anything runs, and limited") {
  ArtifactBuilder b = scaleAndAdd();
  b.plan.scratch_size = b.constant(100);
  Runner r(b, 2);
  tenon_memory memory;
  CHECK(tenon_session_measure(r.session, &memory, &r.error) == TENON_MISUSE);
  REQUIRE(r.bind(0, TENON_F32, {100}, nullptr) == TENON_OK);
  REQUIRE(tenon_session_measure(r.session, &memory, &r.error) == TENON_OK);
  CHECK(memory.arena == 448);
  CHECK(memory.scratch == 256);
  CHECK(memory.weights == 16384);
  CHECK(memory.outputs == 400);
  CHECK(memory.state == 0);
  CHECK(memory.total == 448 + 256 + 16384 + 400);

  std::vector<float> x(100), longer(200);
  Runner limited(b, 2, memory.total);
  REQUIRE(limited.bind(0, x) == TENON_OK);
  CHECK(limited.run() == TENON_OK);
  REQUIRE(limited.bind(0, longer) == TENON_OK);
  CHECK(limited.run() == TENON_RESOURCES);
  CHECK_THAT(limited.message(), Contains("the memory limit is 17488; raise it or bind smaller inputs"));
}

TEST_CASE("buffers must lie within their storage") {
  auto messageFor = [](fmt::Storage storage, int64_t offset, int64_t size) {
    ArtifactBuilder b = scaleAndAdd();
    b.state("state", fmt::DType::u8, {128});
    b.buffer("odd", storage, b.constant(offset), b.constant(size));
    Runner r(b);
    std::vector<float> x(16);
    REQUIRE(r.bind(0, x) == TENON_OK);
    return r.run() == TENON_OK ? "fine" : r.message();
  };
  for (fmt::Storage storage :
       {fmt::Storage::arena, fmt::Storage::weight, fmt::Storage::state, fmt::Storage::input, fmt::Storage::output}) {
    CHECK(messageFor(storage, 0, 64) == "fine");
    CHECK_THAT(messageFor(storage, -64, 64), Contains("'odd'"));
    CHECK_THAT(messageFor(storage, 64, -1), Contains("'odd'"));
    CHECK_THAT(messageFor(storage, INT64_MAX, INT64_MAX), Contains("'odd'"));
    // An output is as large as its buffers want; all else has a size of its own.
    if (storage != fmt::Storage::output) {
      CHECK_THAT(messageFor(storage, 1 << 20, 1), Contains("buffer 'odd' has 1 bytes at 1048576, outside of "));
      CHECK_THAT(messageFor(storage, 0, 1 << 20), Contains("outside of "));
    }
  }
}

TEST_CASE("a copy or fill larger than its buffer is refused") {
  for (fmt::Opcode op : {fmt::Opcode::copy, fmt::Opcode::fill}) {
    for (int64_t bytes : {int64_t(65), int64_t(-1), INT64_MAX}) {
      ArtifactBuilder b;
      uint32_t size = b.constant(64);
      b.plan.arena_size = b.constant(128);
      uint32_t from = b.buffer("from", fmt::Storage::arena, b.zero, size);
      uint32_t to = b.buffer("to", fmt::Storage::arena, size, size);
      std::vector<uint32_t> buffers =
          op == fmt::Opcode::copy ? std::vector<uint32_t>{from, to} : std::vector<uint32_t>{to};
      b.instruction(op, 0, 0, 0, buffers, {b.constant(bytes)}, "Pad_3");
      b.halt();
      Runner r(b);
      CHECK(r.run() == TENON_INVALID);
      CHECK_THAT(r.message(), Contains("node 'Pad_3'"));
    }
  }
}

TEST_CASE("sizes that overflow are refused, and so is memory that no machine has") {
  for (auto [factor, status] : {std::pair{INT64_MAX / 100, TENON_INVALID}, {INT64_MAX / 10'000, TENON_RESOURCES}}) {
    ArtifactBuilder b;
    uint32_t n = b.symbol("N");
    b.input("x", fmt::DType::u8, {n});
    b.plan.arena_size = b.expr(fmt::ExprOp::mul, n, b.constant(factor));
    b.halt();
    Runner r(b);
    std::vector<uint8_t> x(1000);
    REQUIRE(r.bind(0, TENON_U8, {1000}, x.data()) == TENON_OK);
    CHECK(r.run() == status);
  }
}

TEST_CASE("an input's dimensions may be described before sizes are known") {
  Runner r(threeInputs());
  tenon_dim_info dim;
  REQUIRE(tenon_artifact_input_dim(r.loaded.artifact, 0, 0, &dim, nullptr) == TENON_OK);
  CHECK(dim.value == -1);
  CHECK(std::string(dim.text) == "N");
  CHECK(dim.min == 1);
  CHECK(dim.max == 512);
  REQUIRE(tenon_artifact_input_dim(r.loaded.artifact, 0, 1, &dim, nullptr) == TENON_OK);
  CHECK(dim.value == 2);
  REQUIRE(tenon_artifact_input_dim(r.loaded.artifact, 2, 0, &dim, nullptr) == TENON_OK);
  CHECK(std::string(dim.text) == "2 * N");
  CHECK(tenon_artifact_input_dim(r.loaded.artifact, 2, 1, &dim, nullptr) == TENON_MISUSE);
  CHECK(tenon_artifact_input_dim(r.loaded.artifact, 9, 0, &dim, nullptr) == TENON_MISUSE);
}

TEST_CASE("sizes that come back give what they gave before, however many there are in between") {
  Runner r(scaleAndAdd());
  for (int round = 0; round < 3; ++round)
    for (int64_t n : {16, 4000, 17, 1, 33, 100, 16, 2000, 3, 5, 7, 16, 9, 4000}) {
      std::vector<float> x(static_cast<size_t>(n), float(round));
      REQUIRE(r.bind(0, x) == TENON_OK);
      REQUIRE(r.run() == TENON_OK);
      std::vector<float> y = r.output<float>(0);
      REQUIRE(y.size() == x.size());
      for (size_t i = 0; i < y.size(); ++i)
        REQUIRE(y[i] == 2 * x[i] + float(i) / 8);
    }
}

TEST_CASE("preparing reserves memory for the sizes that are bound, and keeps the limit") {
  Runner r(scaleAndAdd(), 1, 16384 + 448 + 400);
  REQUIRE(r.bind(0, TENON_F32, {100}, nullptr) == TENON_OK);
  CHECK(tenon_session_prepare(r.session, &r.error) == TENON_OK);
  CHECK(r.run() == TENON_MISUSE);
  REQUIRE(r.bind(0, TENON_F32, {200}, nullptr) == TENON_OK);
  CHECK(tenon_session_prepare(r.session, &r.error) == TENON_RESOURCES);
  std::vector<float> x(100);
  REQUIRE(r.bind(0, x) == TENON_OK);
  CHECK(r.run() == TENON_OK);
}

TEST_CASE("what a run relies on is refused with the sizes that it depends on") {
  ArtifactBuilder b = threeInputs();
  uint32_t m = b.symbol("M");
  b.input("other", fmt::DType::u8, {m});
  auto check = std::make_unique<fmt::CheckT>();
  uint32_t n = 1; // after the expression that every builder starts with
  check->expr = b.expr(fmt::ExprOp::sub, b.constant(6), b.expr(fmt::ExprOp::add, n, m));
  check->text = "node 'Slice_2' ends after the last element";
  b.plan.checks.push_back(std::move(check));
  Runner r(b);
  bindAll(r, 4, 4, 8);
  char byte = 0;
  REQUIRE(r.bind(3, TENON_U8, {3}, &byte) == TENON_OK);
  CHECK(r.run() == TENON_INVALID);
  CHECK(r.message() == "artifact: the inputs' sizes do not fit the model: node 'Slice_2' ends after the last "
                       "element; M is 3 in 'other', N is 4 in 'ids'");
}
