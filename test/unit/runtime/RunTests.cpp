//===- RunTests.cpp - models run, with all instructions ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/format/Kernel.h"
#include "test/unit/runtime/Runner.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

using namespace tenon;
using namespace tenon::test;
using Catch::Matchers::Contains;

static std::vector<float> ramp(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = float(i) * 0.37f - 5;
  return values;
}

TEST_CASE("launches read inputs and weights and write outputs") {
  Runner runner(scaleAndAdd());
  for (size_t count : {0, 1, 16, 17, 100, 4096, 5}) {
    std::vector<float> x = ramp(count);
    REQUIRE(runner.bind(0, x) == TENON_OK);
    REQUIRE(runner.run() == TENON_OK);
    std::vector<float> y = runner.output<float>(0);
    REQUIRE(y.size() == count);
    for (size_t i = 0; i < count; ++i)
      CHECK(y[i] == x[i] * 2 + float(i) / 8);
  }
}

TEST_CASE("an output may lie in the caller's memory") {
  Runner runner(scaleAndAdd());
  std::vector<float> x = ramp(40), y(40, -1);
  REQUIRE(runner.bind(0, x) == TENON_OK);
  REQUIRE(tenon_session_bind_output(runner.session, 0, y.data(), y.size() * 4, &runner.error) == TENON_OK);
  REQUIRE(runner.run() == TENON_OK);
  CHECK(y[39] == x[39] * 2 + 39.0f / 8);
  tenon_tensor tensor;
  REQUIRE(tenon_session_output(runner.session, 0, &tensor, nullptr) == TENON_OK);
  CHECK(tensor.data == y.data());

  REQUIRE(tenon_session_bind_output(runner.session, 0, y.data(), 100, &runner.error) == TENON_OK);
  CHECK(runner.run() == TENON_INVALID);
  CHECK_THAT(runner.message(), Contains("output 'y' needs 160 bytes, its memory has 100"));
  REQUIRE(tenon_session_bind_output(runner.session, 0, nullptr, 0, &runner.error) == TENON_OK);
  CHECK(runner.run() == TENON_OK);
}

TEST_CASE("any number of threads gives the same bytes") {
  ArtifactBuilder b;
  uint32_t n = b.symbol("N");
  uint32_t bytes = b.expr(fmt::ExprOp::mul, n, b.constant(4));
  uint32_t tiles = b.expr(fmt::ExprOp::ceildiv, n, b.constant(16));
  uint32_t sums = b.expr(fmt::ExprOp::mul, tiles, b.constant(4));
  b.plan.scratch_size = b.constant(64);
  uint32_t x = b.buffer("x", fmt::Storage::input, b.zero, bytes, b.input("x", fmt::DType::f32, {n}));
  uint32_t y = b.buffer("y", fmt::Storage::output, b.zero, sums, b.output("y", fmt::DType::f32, {tiles}));
  b.launch("sum_in_scratch", tiles, {x, y}, {n}, "sum");
  b.halt();
  std::vector<float> values = ramp(100'003);
  std::vector<float> wanted;
  for (uint32_t threads : {1, 2, 3, 7, 16}) {
    Runner runner(b, threads);
    CHECK(tenon_session_threads(runner.session) == threads);
    REQUIRE(runner.bind(0, values) == TENON_OK);
    for (int round = 0; round < 20; ++round) {
      REQUIRE(runner.run() == TENON_OK);
      std::vector<float> got = runner.output<float>(0);
      if (wanted.empty())
        wanted = got;
      REQUIRE(got == wanted);
    }
  }
}

TEST_CASE("a call finds in scratch memory what the one before it in the launch left there") {
  ArtifactBuilder b;
  uint32_t tiles = b.constant(64);
  b.plan.scratch_size = b.constant(64);
  uint32_t y = b.buffer("y", fmt::Storage::output, b.zero, b.constant(512), b.output("y", fmt::DType::i64, {tiles}));
  b.launch("tell_first_calls", tiles, {y}, {}, "tell");
  b.halt();
  for (uint32_t threads : {1, 2, 4}) {
    Runner runner(b, threads);
    for (int round = 0; round < 20; ++round) {
      REQUIRE(runner.run() == TENON_OK);
      std::vector<int64_t> first = runner.output<int64_t>(0);
      // All tiles of one thread are a call; those of several are done in some calls, of which each thread has one
      // first.
      int64_t count = std::accumulate(first.begin(), first.end(), int64_t(0));
      // What takes so little is soon found not to be worth splitting.
      CHECK((threads == 1 ? count == 64 : count > 0 && (count < 64 || round > 0)));
    }
  }
}

TEST_CASE("constant data with pointers is relocated") {
  ArtifactBuilder b;
  uint32_t four = b.constant(4);
  uint32_t x = b.buffer("x", fmt::Storage::input, b.zero, four, b.input("x", fmt::DType::f32, {}));
  uint32_t y = b.buffer("y", fmt::Storage::output, b.zero, four, b.output("y", fmt::DType::f32, {}));
  b.launch("scale_by_table", b.constant(1), {x, y}, {b.constant(2)}, "Scale");
  b.halt();
  Runner runner(b);
  float value = 1.5;
  REQUIRE(runner.bind(0, TENON_F32, {}, &value) == TENON_OK);
  REQUIRE(runner.run() == TENON_OK);
  CHECK(runner.output<float>(0) == std::vector<float>{150});
}

TEST_CASE("a loop of jumps and branches, with copies and fills") {
  // total = 0; counter = start; more = 1; while (more) { total += x; more = --counter > 0 }
  ArtifactBuilder b;
  uint32_t four = b.constant(4), eight = b.constant(8), one = b.constant(1);
  b.plan.arena_size = b.constant(192);
  uint32_t x = b.buffer("x", fmt::Storage::input, b.zero, four, b.input("x", fmt::DType::f32, {}));
  uint32_t start = b.buffer("start", fmt::Storage::input, b.zero, eight, b.input("start", fmt::DType::i64, {}));
  uint32_t y = b.buffer("y", fmt::Storage::output, b.zero, four, b.output("y", fmt::DType::f32, {}));
  uint32_t total = b.buffer("total", fmt::Storage::arena, b.zero, four);
  uint32_t counter = b.buffer("counter", fmt::Storage::arena, b.constant(64), eight);
  uint32_t more = b.buffer("more", fmt::Storage::arena, b.constant(128), one);
  b.instruction(fmt::Opcode::fill, 0, 0, 0, {total}, {four}, "Zero");
  b.instruction(fmt::Opcode::copy, 0, 0, 0, {start, counter}, {eight}, "Identity");
  b.instruction(fmt::Opcode::fill, 1, 0, 0, {more}, {one}, "Loop");
  uint32_t loop = b.instruction(fmt::Opcode::branch_if_zero, 0, 0, 0, {more}, {}, "Loop");
  b.launch("accumulate", one, {x, total}, {}, "Add");
  b.launch("count_down", one, {counter, more}, {}, "Loop");
  b.plan.instructions[loop]->a = b.instruction(fmt::Opcode::jump, loop, 0, 0, {}, {}) + 1;
  b.instruction(fmt::Opcode::copy, 0, 0, 0, {total, y}, {four}, "Identity");
  b.halt();
  Runner runner(b);
  float value = 2.5;
  for (int64_t count : {1, 2, 100}) {
    REQUIRE(runner.bind(0, TENON_F32, {}, &value) == TENON_OK);
    REQUIRE(runner.bind(1, TENON_I64, {}, &count) == TENON_OK);
    REQUIRE(runner.run() == TENON_OK);
    CHECK(runner.output<float>(0) == std::vector<float>{2.5f * float(count)});
  }
}

TEST_CASE("every other time in a loop takes tiles from the last to the first") {
  constexpr int64_t kTimes = 3, kTiles = 40;
  ArtifactBuilder b;
  uint32_t eight = b.constant(8), one = b.constant(1), orderBytes = b.constant(kTimes * kTiles * 8);
  b.plan.arena_size = b.constant(128);
  uint32_t start = b.buffer("start", fmt::Storage::input, b.zero, eight, b.input("start", fmt::DType::i64, {}));
  uint32_t order = b.buffer("order", fmt::Storage::output, b.zero, orderBytes,
                            b.output("order", fmt::DType::i64, {b.constant(kTimes * kTiles)}));
  uint32_t counter = b.buffer("counter", fmt::Storage::arena, b.zero, eight);
  uint32_t more = b.buffer("more", fmt::Storage::arena, b.constant(64), one);
  uint32_t next = b.buffer("next", fmt::Storage::arena, b.constant(72), eight);
  b.instruction(fmt::Opcode::fill, 0, 0, 0, {next}, {eight}, "Zero");
  b.instruction(fmt::Opcode::copy, 0, 0, 0, {start, counter}, {eight}, "Identity");
  b.instruction(fmt::Opcode::fill, 1, 0, 0, {more}, {one}, "Loop");
  uint32_t loop = b.instruction(fmt::Opcode::branch_if_zero, 0, 0, 0, {more}, {}, "Loop");
  b.launch("note_tiles", b.constant(kTiles), {next, order}, {}, "Note");
  b.launch("count_down", one, {counter, more}, {}, "Loop");
  b.plan.instructions[loop]->a = b.instruction(fmt::Opcode::jump, loop, 0, 0, {}, {}) + 1;
  b.halt();
  Runner runner(b, 1);
  REQUIRE(runner.bind(0, TENON_I64, {}, &kTimes) == TENON_OK);
  // In 16 pieces, each of which a call does in order.
  for (int run = 0; run < 2; ++run) {
    REQUIRE(runner.run() == TENON_OK);
    std::vector<int64_t> got = runner.output<int64_t>(0), forward(kTiles), backward;
    std::iota(forward.begin(), forward.end(), 0);
    for (int64_t piece = 16; piece-- > 0;)
      for (int64_t tile = kTiles * piece / 16; tile < kTiles * (piece + 1) / 16; ++tile)
        backward.push_back(tile);
    CHECK(std::vector<int64_t>(got.begin(), got.begin() + kTiles) == forward);
    CHECK(std::vector<int64_t>(got.begin() + kTiles, got.begin() + 2 * kTiles) == backward);
    CHECK(std::vector<int64_t>(got.begin() + 2 * kTiles, got.end()) == forward);
  }
}

TEST_CASE("launches beside each other give what they give one after the other") {
  // y = 2 x + 2 z, where the two products are a group.
  for (uint32_t threads : {1, 2, 8}) {
    ArtifactBuilder b;
    uint32_t n = b.symbol("N"), bytes = b.expr(fmt::ExprOp::mul, n, b.constant(4));
    uint32_t tiles = b.expr(fmt::ExprOp::ceildiv, n, b.constant(16)),
             aligned = b.expr(fmt::ExprOp::align, bytes, b.constant(64));
    b.plan.arena_size = b.expr(fmt::ExprOp::add, aligned, aligned);
    uint32_t x = b.buffer("x", fmt::Storage::input, b.zero, bytes, b.input("x", fmt::DType::f32, {n}));
    uint32_t z = b.buffer("z", fmt::Storage::input, b.zero, bytes, b.input("z", fmt::DType::f32, {n}));
    uint32_t y = b.buffer("y", fmt::Storage::output, b.zero, bytes, b.output("y", fmt::DType::f32, {n}));
    uint32_t first = b.buffer("first", fmt::Storage::arena, b.zero, bytes);
    uint32_t second = b.buffer("second", fmt::Storage::arena, aligned, bytes);
    b.launch("double_f32", tiles, {x, first}, {n}, "first");
    uint32_t beside = b.launch("double_f32", tiles, {z, second}, {n}, "second");
    b.plan.instructions[beside]->c = 1;
    b.launch("add_f32", tiles, {first, second, y}, {n}, "sum");
    b.halt();
    for (const std::unique_ptr<fmt::KernelT> &kernel : b.plan.kernels)
      kernel->results = 1;
    Runner runner(b, threads);
    for (size_t count : {3, 17, 1000, 20'000}) {
      std::vector<float> values = ramp(count), others(count, 0.25f), wanted;
      for (float value : values)
        wanted.push_back(2 * value + 0.5f);
      REQUIRE(runner.bind(0, values) == TENON_OK);
      REQUIRE(runner.bind(1, others) == TENON_OK);
      REQUIRE(runner.run() == TENON_OK);
      CHECK(runner.output<float>(0) == wanted);
    }
  }
}

TEST_CASE("what a thread is kept from is done by the others") {
  // The piece with the first tile waits until all others are done.
  constexpr int64_t kTiles = 32;
  for (uint32_t threads : {2, 4}) {
    ArtifactBuilder b;
    uint32_t eight = b.constant(8), piece = b.constant(kTiles / threads / 4);
    uint32_t done = b.buffer("done", fmt::Storage::output, b.zero, eight, b.output("done", fmt::DType::i64, {}));
    b.instruction(fmt::Opcode::fill, 0, 0, 0, {done}, {eight}, "Zero");
    b.launch("wait_for_others", b.constant(kTiles), {done}, {b.constant(kTiles), piece}, "Wait");
    b.halt();
    // A first run each: how long a launch takes is not known then, so that it is split for certain.
    for (int run = 0; run < 20; ++run) {
      Runner runner(b, threads);
      REQUIRE(runner.run() == TENON_OK);
      CHECK(runner.output<int64_t>(0) == std::vector<int64_t>{kTiles});
    }
  }
}

TEST_CASE("large copies and fills are spread over threads") {
  ArtifactBuilder b;
  constexpr int64_t size = 5'000'001;
  uint32_t n = b.symbol("N");
  b.plan.arena_size = n;
  uint32_t x = b.buffer("x", fmt::Storage::input, b.zero, n, b.input("x", fmt::DType::u8, {n}));
  uint32_t y = b.buffer("y", fmt::Storage::output, b.zero, n, b.output("y", fmt::DType::u8, {n}));
  uint32_t z = b.buffer("z", fmt::Storage::output, b.zero, n, b.output("z", fmt::DType::u8, {n}));
  b.instruction(fmt::Opcode::copy, 0, 0, 0, {x, y}, {n});
  b.instruction(fmt::Opcode::fill, 0xab, 0, 0, {z}, {n});
  b.halt();
  Runner runner(b, 3);
  std::vector<uint8_t> values(size);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = uint8_t(i * 7 + (i >> 9));
  REQUIRE(runner.bind(0, TENON_U8, {size}, values.data()) == TENON_OK);
  REQUIRE(runner.run() == TENON_OK);
  CHECK(runner.output<uint8_t>(0) == values);
  CHECK(runner.output<uint8_t>(1) == std::vector<uint8_t>(size, 0xab));
}

/// y = indices of the elements of x that are not zero: its length is known only during the run. The list
/// goes through a heap block, which gets its memory in the middle of the run.
static ArtifactBuilder nonzero(int64_t maxCount) {
  ArtifactBuilder b;
  uint32_t n = b.symbol("N"), four = b.constant(4), eight = b.constant(8), one = b.constant(1);
  uint32_t bytes = b.expr(fmt::ExprOp::mul, n, four);
  uint32_t k = b.symbol("K", 0, maxCount);
  uint32_t listBytes = b.expr(fmt::ExprOp::mul, k, eight);
  uint32_t end = listBytes + 1;
  b.plan.arena_size = b.constant(64);
  b.plan.heap_blocks = 1;
  uint32_t x = b.buffer("x", fmt::Storage::input, b.zero, bytes, b.input("x", fmt::DType::f32, {n}));
  uint32_t y = b.buffer("y", fmt::Storage::output, b.zero, listBytes, b.output("y", fmt::DType::i64, {k}));
  uint32_t count = b.buffer("count", fmt::Storage::arena, b.zero, eight);
  uint32_t list = b.buffer("list", fmt::Storage::heap, b.zero, listBytes);
  b.launch("count_nonzero", one, {x, count}, {n}, "NonZero");
  b.instruction(fmt::Opcode::bind_symbol, 1, k, end, {count}, {}, "NonZero");
  b.instruction(fmt::Opcode::reserve, 0, 0, 0, {}, {listBytes}, "NonZero");
  b.launch("list_nonzero", one, {x, list}, {n}, "NonZero");
  b.instruction(fmt::Opcode::copy, 0, 0, 0, {list, y}, {listBytes}, "NonZero");
  b.halt();
  return b;
}

TEST_CASE("sizes that depend on data are bound during the run") {
  Runner runner(nonzero(1'000'000));
  for (size_t count : {10, 300'000, 3, 0}) {
    std::vector<float> x(count);
    std::vector<int64_t> wanted;
    for (size_t i = 0; i < count; ++i)
      if ((x[i] = float(i % 3)) != 0)
        wanted.push_back(int64_t(i));
    REQUIRE(runner.bind(0, x) == TENON_OK);
    for (int round = 0; round < 2; ++round) {
      REQUIRE(runner.run() == TENON_OK);
      CHECK(runner.output<int64_t>(0) == wanted);
    }
  }
}

TEST_CASE("a size that depends on data is held to its range and to the memory limit") {
  std::vector<float> x(100'000, 1);
  Runner small(nonzero(10));
  REQUIRE(small.bind(0, x) == TENON_OK);
  CHECK(small.run() == TENON_INVALID);
  CHECK_THAT(small.message(), Contains("symbol 'K' is 100000 in 'NonZero', expected 0 to 10"));

  Runner limited(nonzero(1'000'000), 1, 500'000);
  REQUIRE(limited.bind(0, x) == TENON_OK);
  CHECK(limited.run() == TENON_RESOURCES);
  CHECK_THAT(limited.message(), Contains("the memory limit is 500000"));
}

/// Appends x to a list until there are N of them: the block grows and keeps what it holds.
TEST_CASE("a loop grows a block, which keeps what it holds") {
  ArtifactBuilder b;
  uint32_t four = b.constant(4), one = b.constant(1), n = b.symbol("N"), k = b.symbol("K", 0, 1'000'000);
  uint32_t before = b.expr(fmt::ExprOp::mul, k, four), next = b.expr(fmt::ExprOp::add, k, one);
  uint32_t after = b.expr(fmt::ExprOp::mul, next, four), last = b.expr(fmt::ExprOp::sub, n, next);
  b.plan.heap_blocks = 1;
  b.plan.checks.push_back(std::make_unique<fmt::CheckT>());
  b.plan.checks[0]->expr = last;
  b.plan.checks[0]->text = "the list is longer than N";
  uint32_t x =
      b.buffer("x", fmt::Storage::input, b.zero, b.expr(fmt::ExprOp::mul, n, four), b.input("x", fmt::DType::f32, {n}));
  uint32_t go = b.buffer("go", fmt::Storage::input, k, one, b.input("go", fmt::DType::bool_, {n}));
  uint32_t y = b.buffer("y", fmt::Storage::output, b.zero, before, b.output("y", fmt::DType::f32, {k}));
  uint32_t list = b.buffer("list", fmt::Storage::heap, b.zero, before);
  uint32_t end = b.buffer("end", fmt::Storage::heap, before, four);
  uint32_t element = b.buffer("element", fmt::Storage::input, before, four, 0);
  b.instruction(fmt::Opcode::set_symbol, 1, k, last + 1, {}, {b.zero});
  b.instruction(fmt::Opcode::branch_if_zero, 7, 0, 0, {go}, {});
  b.instruction(fmt::Opcode::check, 0, 0, 0, {}, {}, "Loop");
  b.instruction(fmt::Opcode::reserve, 0, 1, 0, {}, {after});
  b.instruction(fmt::Opcode::copy, 0, 0, 0, {element, end}, {four});
  b.instruction(fmt::Opcode::set_symbol, 1, k, last + 1, {}, {next});
  b.instruction(fmt::Opcode::jump, 1, 0, 0, {}, {});
  b.instruction(fmt::Opcode::copy, 0, 0, 0, {list, y}, {before});
  b.halt();
  (void)x;
  Runner runner(b);
  constexpr int64_t size = 20'000;
  std::vector<float> values(size);
  std::vector<uint8_t> goes(size, 1);
  for (int64_t i = 0; i < size; ++i)
    values[size_t(i)] = float(i);
  REQUIRE(runner.bind(0, values) == TENON_OK);
  for (int64_t count : {size - 1, int64_t(0), int64_t(7)}) {
    goes[size_t(count)] = 0;
    REQUIRE(runner.bind(1, TENON_BOOL, {size}, goes.data()) == TENON_OK);
    REQUIRE(runner.run() == TENON_OK);
    CHECK(runner.output<float>(0) == std::vector<float>(values.begin(), values.begin() + count));
    goes[size_t(count)] = 1;
  }
}

TEST_CASE("a block is not used before it has its memory") {
  ArtifactBuilder b;
  uint32_t four = b.constant(4);
  b.plan.heap_blocks = 1;
  uint32_t y = b.buffer("y", fmt::Storage::output, b.zero, four, b.output("y", fmt::DType::f32, {}));
  uint32_t block = b.buffer("block", fmt::Storage::heap, b.zero, four);
  b.instruction(fmt::Opcode::copy, 0, 0, 0, {block, y}, {four}, "Copy");
  b.halt();
  Runner runner(b);
  CHECK(runner.run() == TENON_INVALID);
  CHECK_THAT(runner.message(), Contains("node 'Copy': buffer 'block' is used before it has its 4 bytes"));
}

/// The first K bytes of x go through the arena, which has room for N of them, and for a byte in front.
static ArtifactBuilder copyInRoom() {
  ArtifactBuilder b;
  uint32_t one = b.constant(1), eight = b.constant(8), n = b.symbol("N"), k = b.symbol("K");
  b.plan.arena_size = b.expr(fmt::ExprOp::add, n, one);
  uint32_t x = b.buffer("x", fmt::Storage::input, b.zero, n, b.input("x", fmt::DType::u8, {n}));
  uint32_t count = b.buffer("count", fmt::Storage::input, b.zero, eight, b.input("count", fmt::DType::i64, {}));
  uint32_t y = b.buffer("y", fmt::Storage::output, b.zero, k, b.output("y", fmt::DType::u8, {k}));
  uint32_t part = b.buffer("part", fmt::Storage::arena, one, k);
  b.plan.buffers[part]->start = one;
  b.plan.buffers[part]->room = n;
  b.instruction(fmt::Opcode::bind_symbol, 1, k, k + 1, {count}, {}, "Bind");
  b.instruction(fmt::Opcode::copy, 0, 0, 0, {x, part}, {k}, "Copy");
  b.instruction(fmt::Opcode::copy, 0, 0, 0, {part, y}, {k}, "Copy");
  b.halt();
  return b;
}

TEST_CASE("a size that depends on data may have room in the arena") {
  Runner runner(copyInRoom());
  std::vector<uint8_t> x{3, 1, 4, 1, 5, 9, 2, 6};
  REQUIRE(runner.bind(0, TENON_U8, {int64_t(x.size())}, x.data()) == TENON_OK);
  for (int64_t count : {5, 0, 8, 1}) {
    REQUIRE(runner.bind(1, TENON_I64, {}, &count) == TENON_OK);
    REQUIRE(runner.run() == TENON_OK);
    CHECK(runner.output<uint8_t>(0) == std::vector<uint8_t>(x.begin(), x.begin() + count));
  }
  int64_t tooMany = 9;
  REQUIRE(runner.bind(1, TENON_I64, {}, &tooMany) == TENON_OK);
  CHECK(runner.run() == TENON_INVALID);
  CHECK_THAT(runner.message(), Contains("node 'Copy': buffer 'part' is used before it has its 9 bytes"));
}

TEST_CASE("state is kept from run to run until it is reset") {
  ArtifactBuilder b;
  uint32_t four = b.constant(4);
  b.state("total", fmt::DType::f32, {16});
  uint32_t x = b.buffer("x", fmt::Storage::input, b.zero, four, b.input("x", fmt::DType::f32, {}));
  uint32_t y = b.buffer("y", fmt::Storage::output, b.zero, four, b.output("y", fmt::DType::f32, {}));
  uint32_t total = b.buffer("total", fmt::Storage::state, b.zero, four);
  b.launch("accumulate", b.constant(1), {x, total}, {}, "Add");
  b.instruction(fmt::Opcode::copy, 0, 0, 0, {total, y}, {four});
  b.halt();
  Runner runner(b);
  float value = 2;
  REQUIRE(runner.bind(0, TENON_F32, {}, &value) == TENON_OK);
  for (float wanted : {2.f, 4.f, 6.f}) {
    REQUIRE(runner.run() == TENON_OK);
    CHECK(runner.output<float>(0)[0] == wanted);
  }
  REQUIRE(tenon_session_reset_slot(runner.session, 0, &runner.error) == TENON_OK);
  REQUIRE(runner.run() == TENON_OK);
  CHECK(runner.output<float>(0)[0] == 2);
}

TEST_CASE("what a kernel reports becomes an error that names the node") {
  ArtifactBuilder b;
  uint32_t four = b.constant(4);
  uint32_t code = b.buffer("code", fmt::Storage::input, b.zero, four, b.input("code", fmt::DType::i32, {}));
  b.launch("fail_with", b.constant(100), {code}, {b.constant(77)}, "Gather_12");
  b.halt();
  Runner runner(b, 4);
  int32_t value = 0;
  REQUIRE(runner.bind(0, TENON_I32, {}, &value) == TENON_OK);
  CHECK(runner.run() == TENON_OK);
  value = TENON_KERNEL_INDEX_OUT_OF_RANGE;
  CHECK(runner.run() == TENON_INVALID);
  CHECK_THAT(runner.message(), Contains("node 'Gather_12': an index that the model computed lies outside"));
  value = TENON_KERNEL_BAD_VALUE;
  CHECK(runner.run() == TENON_INVALID);
  value = 99;
  CHECK(runner.run() == TENON_FAULT);
  CHECK_THAT(runner.message(), Contains("kernel 'fail_with' failed with code 99"));
  tenon_tensor tensor;
  CHECK(tenon_session_output(runner.session, 0, &tensor, nullptr) == TENON_MISUSE);
  value = 0;
  CHECK(runner.run() == TENON_OK);
}

TEST_CASE("an index that a kernel reports is in the error, with its limits") {
  for (int64_t scratchBytes : {int64_t(24), int64_t(0)}) {
    ArtifactBuilder b;
    uint32_t three = b.constant(3), bytes = b.constant(24);
    uint32_t report =
        b.buffer("report", fmt::Storage::input, b.zero, bytes, b.input("report", fmt::DType::i64, {three}));
    b.plan.scratch_size = b.constant(scratchBytes);
    // Without room the kernel that reports nothing is the one that fails.
    b.launch(scratchBytes ? "report_index" : "fail_with", b.constant(100), {report}, {b.constant(77)}, "Gather_12");
    b.halt();
    Runner runner(b, 4);
    int64_t values[3] = {10, -10, 9};
    if (!scratchBytes)
      values[0] = TENON_KERNEL_INDEX_OUT_OF_RANGE;
    REQUIRE(runner.bind(0, TENON_I64, {3}, values) == TENON_OK);
    CHECK(runner.run() == TENON_INVALID);
    if (!scratchBytes) {
      CHECK_THAT(runner.message(), Contains("node 'Gather_12': an index that the model computed lies outside"));
      continue;
    }
    CHECK_THAT(runner.message(), Contains("node 'Gather_12': index 10 is out of range, it has to be from -10 to 9"));
    values[0] = 0;
    values[1] = 0;
    values[2] = -1;
    CHECK(runner.run() == TENON_INVALID);
    CHECK_THAT(runner.message(), Contains("node 'Gather_12': index 0 is out of range, the dimension is empty"));
    // What is in scratch need not be a report.
    values[2] = 1;
    CHECK(runner.run() == TENON_INVALID);
    CHECK_THAT(runner.message(), Contains("node 'Gather_12': an index that the model computed lies outside"));
  }
}

TEST_CASE("a profile has a slice for each instruction and thread that does some of it") {
  Runner runner(scaleAndAdd(), 2);
  std::vector<float> x = ramp(4096);
  REQUIRE(runner.bind(0, x) == TENON_OK);
  static std::atomic<int64_t> tiles[2];
  static std::atomic<int> slices;
  slices = 0;
  tiles[0] = tiles[1] = 0;
  tenon_session_set_profile(
      runner.session,
      [](void *user, const tenon_profile_event *event) {
        ++*static_cast<std::atomic<int> *>(user);
        if (event->instruction < 2 && event->begin_ns <= event->end_ns)
          tiles[event->instruction] += event->tile_end - event->tile_begin;
      },
      &slices);
  REQUIRE(runner.run() == TENON_OK);
  int seen = slices;
  CHECK((seen >= 2 && seen <= 4));
  // Each thread's share is half of the tiles.
  for (int64_t count : {tiles[0].load(), tiles[1].load()})
    CHECK((count == 128 || count == 256));
  tenon_session_set_profile(runner.session, nullptr, nullptr);
  REQUIRE(runner.run() == TENON_OK);
  CHECK(slices == seen);
}

TEST_CASE("run_seed: the sequence that a seed gives, or other numbers each time") {
  ArtifactBuilder b;
  uint32_t two = b.constant(2), eight = b.constant(8), sixteen = b.constant(16);
  uint32_t result = b.output("seeds", fmt::DType::i64, {two});
  uint32_t first = b.buffer("first", fmt::Storage::output, b.zero, eight, result);
  uint32_t second = b.buffer("second", fmt::Storage::output, eight, eight, result);
  b.buffer("both", fmt::Storage::output, b.zero, sixteen, result);
  b.instruction(fmt::Opcode::run_seed, 0, 0, 0, {first}, {}, "one");
  b.instruction(fmt::Opcode::run_seed, 0, 0, 0, {second}, {}, "two");
  b.halt();
  Runner runner(b);
  REQUIRE(runner.run() == TENON_OK);
  std::vector<int64_t> drawn = runner.output<int64_t>(0);
  REQUIRE(runner.run() == TENON_OK);
  CHECK(runner.output<int64_t>(0) != drawn);

  // SplitMix64 from 0, as its authors publish it.
  tenon_session_set_seed(runner.session, 0);
  for (int round = 0; round < 2; ++round) {
    REQUIRE(runner.run() == TENON_OK);
    CHECK(runner.output<int64_t>(0) == std::vector<int64_t>{int64_t(0xE220A8397B1DCDAF), int64_t(0x6E789E6AA1B965F4)});
  }
}
