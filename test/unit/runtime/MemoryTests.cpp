//===- MemoryTests.cpp - what the arena holds, and bounds of it -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/Expressions.h"
#include "runtime/plan/Footprint.h"
#include "runtime/plan/Liveness.h"
#include "runtime/plan/ResidentWeights.h"
#include "runtime/plan/Verify.h"
#include "test/unit/runtime/Runner.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace tenon;
using namespace tenon::test;
using Catch::Matchers::Contains;

namespace {
/// Bytes that move within an arena of 256, from and to an input and an output of 64.
struct Moves : ArtifactBuilder {
  uint32_t in, out;

  Moves() {
    uint32_t size = constant(64);
    plan.arena_size = constant(256);
    in = buffer("in", fmt::Storage::input, zero, size, input("x", fmt::DType::u8, {size}));
    out = buffer("out", fmt::Storage::output, zero, size, output("y", fmt::DType::u8, {size}));
  }
  uint32_t place(const std::string &name, int64_t offset, int64_t size) {
    return buffer(name, fmt::Storage::arena, constant(offset), constant(size));
  }
  void copy(uint32_t from, uint32_t to, int64_t bytes = 64) {
    instruction(fmt::Opcode::copy, 0, 0, 0, {from, to}, {constant(bytes)});
  }
};

/// The liveness of a plan, with 0 for all symbols.
struct Lives : rt::Liveness {
  rt::Plan plan;

  explicit Lives(const ArtifactBuilder &builder) {
    std::vector<uint8_t> bytes = builder.planBytes();
    rt::Status status = rt::verifyPlan(bytes.data(), bytes.size(), &plan);
    INFO(status.message());
    REQUIRE(!status.failed());
    std::vector<int64_t> exprs(plan.exprs.size()), symbols(plan.symbols.size());
    std::vector<uint8_t> known(plan.exprs.size(), 1);
    REQUIRE(!rt::evaluate(plan, symbols.data(), 0, uint32_t(exprs.size()), exprs.data()).failed());
    REQUIRE(rt::findLiveness(plan, exprs.data(), known.data(), this));
  }
  std::pair<uint32_t, uint32_t> of(uint32_t buffer) const { return {ranges[buffer].first, ranges[buffer].last}; }
};

/// Sets TENON_DEBUG_ARENA while it lives.
struct DebugArenaOn {
  DebugArenaOn() { setenv("TENON_DEBUG_ARENA", "1", 1); }
  ~DebugArenaOn() { unsetenv("TENON_DEBUG_ARENA"); }
};
} // namespace

using Span = std::pair<uint32_t, uint32_t>;

TEST_CASE("a buffer lives from its first writing to its last reading, and shares its place with none before or after") {
  Moves b;
  uint32_t first = b.place("first", 0, 64), second = b.place("second", 64, 64), third = b.place("third", 0, 64);
  b.copy(b.in, first);
  b.copy(first, second);
  b.copy(second, third);
  b.copy(third, b.out);
  b.halt();
  Lives lives(b);
  CHECK(lives.of(first) == Span(0, 1));
  CHECK(lives.of(second) == Span(1, 2));
  CHECK(lives.of(third) == Span(2, 3));
  CHECK(lives.groups[first] != lives.groups[third]);
  CHECK(lives.liveBytes == std::vector<uint64_t>{64, 128, 128, 64, 0});
  CHECK(lives.peak() == 128);
  CHECK(lives.peakInstruction() == 1);
}

TEST_CASE("parts of a buffer are one group with it, and its bytes count once") {
  Moves b;
  uint32_t left = b.place("left", 0, 64), right = b.place("right", 64, 64), whole = b.place("whole", 0, 128),
           apart = b.place("apart", 128, 64);
  b.copy(b.in, left);
  b.copy(b.in, right);
  b.copy(whole, apart);
  b.copy(apart, b.out);
  b.halt();
  Lives lives(b);
  // The copy reads the left half alone, but which bytes of a buffer are read nobody says.
  CHECK(lives.of(left) == Span(0, 2));
  CHECK(lives.of(right) == Span(1, 2));
  CHECK(lives.of(whole) == Span(0, 2));
  CHECK(lives.groups[left] == lives.groups[whole]);
  CHECK(lives.groups[right] == lives.groups[whole]);
  CHECK(lives.groups[apart] != lives.groups[whole]);
  CHECK(lives.liveBytes == std::vector<uint64_t>{64, 128, 192, 64, 0});
}

TEST_CASE("what a loop reads again lives until the loop ends") {
  Moves b;
  uint32_t kept = b.place("kept", 0, 64), inside = b.place("inside", 64, 64), flag = b.place("flag", 128, 1);
  b.copy(b.in, kept);                                              // 0
  b.copy(b.in, flag, 1);                                           // 1
  b.instruction(fmt::Opcode::branch_if_zero, 7, 0, 0, {flag}, {}); // 2
  b.copy(kept, inside);                                            // 3
  b.copy(inside, b.out);                                           // 4
  b.copy(b.in, flag, 1);                                           // 5
  b.instruction(fmt::Opcode::jump, 2, 0, 0, {}, {});               // 6
  b.halt();                                                        // 7
  Lives lives(b);
  CHECK(lives.of(kept) == Span(0, 6));
  CHECK(lives.of(inside) == Span(3, 4));
  CHECK(lives.of(flag) == Span(1, 6));
  CHECK(lives.liveBytes == std::vector<uint64_t>{64, 65, 65, 128, 128, 65, 65, 0});
}

TEST_CASE("a copy that is shorter than its buffer leaves the rest") {
  Moves b;
  uint32_t old = b.place("old", 0, 128), fresh = b.place("fresh", 0, 128), to = b.place("to", 128, 128);
  b.instruction(fmt::Opcode::fill, 0, 0, 0, {old}, {b.constant(128)});
  b.copy(b.in, fresh);
  b.copy(fresh, to, 128);
  b.copy(to, b.out);
  b.halt();
  Lives lives(b);
  CHECK(lives.groups[old] == lives.groups[fresh]);
  CHECK(lives.of(old) == Span(0, 2));
}

TEST_CASE("what sizes can come to follows from the ranges of the symbols") {
  ArtifactBuilder b;
  uint32_t n = b.symbol("N", 1, 100), m = b.symbol("M"), four = b.constant(4);
  b.input("x", fmt::DType::u8, {n, m});
  uint32_t bytes = b.expr(fmt::ExprOp::align, b.expr(fmt::ExprOp::mul, n, four), b.constant(64));
  uint32_t difference = b.expr(fmt::ExprOp::sub, four, n),
           half = b.expr(fmt::ExprOp::floordiv, difference, b.constant(2)), rest = b.expr(fmt::ExprOp::mod, m, four),
           open = b.expr(fmt::ExprOp::mul, n, m), cut = b.expr(fmt::ExprOp::min, open, b.constant(7));
  b.halt();
  Lives lives(b);
  std::vector<rt::Interval> bounds = rt::boundExprs(lives.plan, rt::rangesOf(lives.plan));
  auto of = [&](uint32_t expr) { return std::pair(bounds[expr].min, bounds[expr].max); };
  CHECK(of(bytes) == std::pair<int64_t, int64_t>(64, 448));
  CHECK(of(difference) == std::pair<int64_t, int64_t>(-96, 3));
  CHECK(of(half) == std::pair<int64_t, int64_t>(-48, 1));
  CHECK(of(rest) == std::pair<int64_t, int64_t>(0, 3));
  CHECK(!bounds[open].isBounded());
  CHECK(of(cut) == std::pair<int64_t, int64_t>(0, 7));
}

TEST_CASE("weights that are let go of are not in memory all the time") {
  ArtifactBuilder b;
  // Another plan of the artifact reads what lies between the second and the third, but for what the second's alignment
  // takes.
  constexpr uint64_t page = 4096, rest = 128 + 3 * page, own = 8 * page + rest;
  auto weight = [&](uint64_t offset, uint64_t size) {
    return b.buffer("w", fmt::Storage::weight, b.constant(int64_t(offset)), b.constant(int64_t(size)));
  };
  uint32_t first = weight(0, 4 * page), second = weight(4 * page, 4 * page + 100), kept = weight(9 * page, 3 * page);
  auto use = [&](uint32_t buffer) { b.instruction(fmt::Opcode::launch, b.kernel("scale"), b.zero, 0, {buffer}, {}); };
  auto release = [&](uint32_t buffer) { b.instruction(fmt::Opcode::release, 0, 0, 0, {buffer}, {}); };
  auto bound = [&] {
    b.halt();
    uint64_t bytes = rt::boundWeights(Lives(b).plan, 12 * page);
    b.plan.instructions.pop_back();
    return bytes;
  };
  use(first);
  CHECK(bound() == own);
  release(first);
  uint32_t go = b.buffer("go", fmt::Storage::arena, b.zero, b.constant(1));
  uint32_t loop = b.instruction(fmt::Opcode::branch_if_zero, 3, 0, 0, {go}, {});
  use(second);
  CHECK(bound() == own);
  // The end of the second shares a page with what follows.
  release(second);
  CHECK(bound() == 4 * page + rest);
  use(kept);
  CHECK(bound() == 4 * page + rest);
  // What comes again is there again, and at the end of a loop also at its start.
  use(first);
  CHECK(bound() == own);
  release(first);
  CHECK(bound() == 4 * page + rest);
  use(first);
  b.instruction(fmt::Opcode::fill, 0, 0, 0, {go}, {b.zero});
  b.plan.instructions[loop]->a = b.instruction(fmt::Opcode::jump, loop, 0, 0, {}, {}) + 1;
  release(first);
  CHECK(bound() == own);
}

TEST_CASE("memory is bounded before anything runs") {
  Runner r(scaleAndAdd());
  REQUIRE(r.bind(0, TENON_F32, {100}, nullptr) == TENON_OK);
  tenon_memory_bounds bounds;
  REQUIRE(tenon_session_bound_memory(r.session, &bounds, &r.error) == TENON_OK);
  CHECK(bounds.arena_least == 400);
  CHECK(bounds.heap_most == 0);
  CHECK(bounds.outputs_most == 400);
}

TEST_CASE("the work of a launch follows from its sizes") {
  ArtifactBuilder b = scaleAndAdd();
  REQUIRE(b.plan.instructions[0]->exprs.size() >= 1);
  fmt::KernelT &kernel = *b.plan.kernels[b.plan.instructions[0]->a];
  // 2 * s0 flops, s0 * s0 bytes.
  kernel.work = {
      {fmt::ExprOp::symbol, 0, 0}, {fmt::ExprOp::constant, 2, 0}, {fmt::ExprOp::mul, 0, 1}, {fmt::ExprOp::mul, 0, 0}};
  kernel.work_flops = 2;
  kernel.work_bytes = 3;
  SECTION("for the sizes that are bound") {
    Runner r(b);
    REQUIRE(r.bind(0, TENON_F32, {100}, nullptr) == TENON_OK);
    uint64_t flops, bytes;
    REQUIRE(tenon_session_work(r.session, 0, &flops, &bytes, &r.error) == TENON_OK);
    CHECK(flops == 200);
    CHECK(bytes == 10000);
    REQUIRE(tenon_session_work(r.session, 1000, &flops, &bytes, &r.error) == TENON_OK);
    CHECK(flops == 0);
    std::vector<uint64_t> live(3);
    REQUIRE(tenon_session_live_bytes(r.session, live.data(), 3, &r.error) == TENON_OK);
    CHECK(live == std::vector<uint64_t>{400, 400, 0});
  }
  SECTION("of a size that there is not, and of an overflow, nothing is known") {
    kernel.work[0] = GENERATE(fmt::Expr(fmt::ExprOp::symbol, 77, 0), fmt::Expr(fmt::ExprOp::constant, INT64_MAX, 0));
    Runner r(b);
    REQUIRE(r.bind(0, TENON_F32, {100}, nullptr) == TENON_OK);
    uint64_t flops, bytes;
    REQUIRE(tenon_session_work(r.session, 0, &flops, &bytes, &r.error) == TENON_OK);
    CHECK(flops == 0);
    CHECK(bytes == 0);
  }
}

TEST_CASE("buffers that lie apart give the same outputs") {
  DebugArenaOn on;
  Runner r(scaleAndAdd(), 2);
  for (size_t n : {size_t(100), size_t(4000), size_t(0), size_t(100)}) {
    std::vector<float> x(n, 1);
    REQUIRE(r.bind(0, x) == TENON_OK);
    REQUIRE(r.run() == TENON_OK);
    std::vector<float> y = r.output<float>(0);
    REQUIRE(y.size() == n);
    for (size_t i = 0; i < n; ++i)
      REQUIRE(y[i] == 2 + float(i) / 8);
  }
}

TEST_CASE("parts of a buffer stay parts of it when buffers lie apart") {
  DebugArenaOn on;
  Moves b;
  uint32_t left = b.place("left", 0, 32), right = b.place("right", 32, 32), whole = b.place("whole", 0, 64),
           reused = b.place("reused", 0, 64);
  b.copy(b.in, left, 32);
  b.instruction(fmt::Opcode::fill, 7, 0, 0, {right}, {b.constant(32)});
  b.copy(whole, b.out);
  b.instruction(fmt::Opcode::fill, 9, 0, 0, {reused}, {b.constant(64)});
  b.halt();
  Runner r(b);
  std::vector<uint8_t> x(64, 1);
  REQUIRE(r.bind(0, TENON_U8, {64}, x.data()) == TENON_OK);
  for (int round = 0; round < 2; ++round) {
    REQUIRE(r.run() == TENON_OK);
    std::vector<uint8_t> y = r.output<uint8_t>(0);
    CHECK(std::vector<uint8_t>(y.begin(), y.begin() + 32) == std::vector<uint8_t>(32, 1));
    CHECK(std::vector<uint8_t>(y.begin() + 32, y.end()) == std::vector<uint8_t>(32, 7));
  }
}

TEST_CASE("a kernel that writes behind its buffer is found") {
  DebugArenaOn on;
  ArtifactBuilder b = scaleAndAdd();
  const uint32_t doubled = 2, w = 3;
  b.plan.instructions[0]->buffers = {w, doubled};
  b.plan.instructions[0]->exprs = {b.constant(104)};
  b.plan.kernels[0]->name = "careless_double_f32";
  Runner r(b);
  std::vector<float> x(100, 1);
  REQUIRE(r.bind(0, x) == TENON_OK);
  CHECK(r.run() == TENON_FAULT);
  CHECK(r.message() == "artifact: instruction 0 (launch 'Mul_0') has written 0 bytes behind the end of buffer "
                       "'doubled' of 400 bytes; compile the model again");
}

TEST_CASE("what is read before it is written is NaN") {
  DebugArenaOn on;
  ArtifactBuilder b = scaleAndAdd();
  b.plan.instructions[0]->b = b.zero; // no tiles
  b.plan.kernels[0]->name = "careless_double_f32";
  Runner r(b);
  std::vector<float> x(16, 1);
  REQUIRE(r.bind(0, x) == TENON_OK);
  REQUIRE(r.run() == TENON_OK);
  CHECK(std::isnan(r.output<float>(0)[3]));
}
