//===- StateTests.cpp - what a session keeps from run to run --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/format/Kernel.h"
#include "test/unit/runtime/Runner.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <unistd.h>

using namespace tenon;
using namespace tenon::test;
using Catch::Matchers::Contains;

static constexpr int64_t kCapacity = 8;

/// Appends x, of M elements, to a state of up to 8 and gives all that it has then. The expressions: `n` is how many it
/// has before, `sum` how many after.
struct Appending {
  ArtifactBuilder b;
  uint32_t n, m, sum, state, x, y, end, all;

  Appending() {
    n = b.symbol("N", 0, kCapacity);
    m = b.symbol("M");
    sum = b.expr(fmt::ExprOp::add, n, m);
    uint32_t four = b.constant(4);
    uint32_t bytes = b.expr(fmt::ExprOp::mul, m, four), offset = b.expr(fmt::ExprOp::mul, n, four),
             whole = b.expr(fmt::ExprOp::mul, sum, four);
    state = b.state("k", fmt::DType::f32, {kCapacity}, fmt::StateKind::growing);
    b.plan.states[state]->live = 0;
    b.plan.states[state]->next = sum;
    auto check = std::make_unique<fmt::CheckT>();
    check->expr = b.expr(fmt::ExprOp::sub, b.constant(kCapacity), sum);
    check->text = "needs N + M to be at most 8";
    b.plan.checks.push_back(std::move(check));
    x = b.buffer("x", fmt::Storage::input, b.zero, bytes, b.input("x", fmt::DType::f32, {m}));
    y = b.buffer("y", fmt::Storage::output, b.zero, whole, b.output("y", fmt::DType::f32, {sum}));
    end = b.buffer("end", fmt::Storage::state, offset, bytes, state);
    all = b.buffer("all", fmt::Storage::state, b.zero, whole, state);
    b.instruction(fmt::Opcode::copy, 0, 0, 0, {x, end}, {bytes});
    b.instruction(fmt::Opcode::copy, 0, 0, 0, {all, y}, {whole});
    b.halt();
  }
};

using Floats = std::vector<float>;

/// Runs on these elements; fails the test where that fails.
static Floats append(Runner &runner, const Floats &x) {
  static const float none = 0;
  REQUIRE(runner.bind(0, TENON_F32, {int64_t(x.size())}, x.empty() ? &none : x.data()) == TENON_OK);
  INFO(runner.message());
  REQUIRE(runner.run() == TENON_OK);
  return runner.output<float>(0);
}

static int64_t rowsOf(Runner &runner, uint32_t slot = 0) {
  int64_t rows = -1;
  REQUIRE(tenon_session_state_rows(runner.session, slot, 0, &rows, &runner.error) == TENON_OK);
  return rows;
}

TEST_CASE("a state grows by what each run appends, up to its capacity") {
  Runner runner(Appending().b);
  CHECK(append(runner, {1}) == Floats{1});
  CHECK(append(runner, {2, 3, 4}) == Floats{1, 2, 3, 4});
  CHECK(append(runner, {}) == Floats{1, 2, 3, 4});
  CHECK(append(runner, {5, 6, 7}) == Floats{1, 2, 3, 4, 5, 6, 7});
  CHECK(rowsOf(runner) == 7);
  Floats two{8, 9};
  REQUIRE(runner.bind(0, two) == TENON_OK);
  CHECK(runner.run() == TENON_INVALID);
  CHECK_THAT(runner.message(), Contains("needs N + M to be at most 8; M is 2 in 'x', N is 7 in 'k'"));
  CHECK(append(runner, {8}) == Floats{1, 2, 3, 4, 5, 6, 7, 8});
  REQUIRE(tenon_session_reset_slot(runner.session, 0, nullptr) == TENON_OK);
  CHECK(rowsOf(runner) == 0);
  CHECK(append(runner, {9}) == Floats{9});
}

TEST_CASE("slots begin and end independently, and share no memory") {
  Runner runner(Appending().b, 1, 0, 3);
  tenon_memory memory;
  Floats x{1};
  REQUIRE(runner.bind(0, x) == TENON_OK);
  REQUIRE(tenon_session_measure(runner.session, &memory, nullptr) == TENON_OK);
  CHECK(memory.state == 3 * 64);
  Floats expected[3];
  uint32_t order[] = {0, 1, 1, 2, 0, 2, 2, 1, 0, 2};
  float next = 1;
  for (uint32_t slot : order) {
    REQUIRE(tenon_session_use_slot(runner.session, slot, nullptr) == TENON_OK);
    expected[slot].push_back(next);
    CHECK(append(runner, {next++}) == expected[slot]);
    CHECK(rowsOf(runner, slot) == int64_t(expected[slot].size()));
  }
  CHECK_THROWS_WITH(Runner(Appending().b, 1, 0, 70000), Contains("70000 slots, a session has at most 65536"));
  Appending huge;
  huge.b.state("huge", fmt::DType::f32, {int64_t(1) << 58});
  Runner most(huge.b, 1, 0, 65536);
  REQUIRE(most.bind(0, x) == TENON_OK);
  CHECK(most.run() == TENON_RESOURCES);
  CHECK_THAT(most.message(), Contains("needs more bytes than any memory holds"));
  CHECK(tenon_session_use_slot(runner.session, 3, &runner.error) == TENON_MISUSE);
  CHECK_THAT(runner.message(), Contains("slot 3 of 3"));
  CHECK(tenon_session_fork_slot(runner.session, 0, 3, &runner.error) == TENON_MISUSE);
  CHECK(tenon_session_reset_slot(runner.session, 3, &runner.error) == TENON_MISUSE);
}

TEST_CASE("a state whose rows are all live can be set, in each slot, until it is reset") {
  ArtifactBuilder b;
  uint32_t bytes = b.constant(8), state = b.state("k", fmt::DType::f32, {2}, fmt::StateKind::whole);
  uint32_t output = b.output("y", fmt::DType::f32, {b.constant(2)});
  uint32_t all = b.buffer("all", fmt::Storage::state, b.zero, bytes, state);
  b.instruction(fmt::Opcode::copy, 0, 0, 0, {all, b.buffer("y", fmt::Storage::output, b.zero, bytes, output)}, {bytes});
  b.halt();
  Runner runner(b, 1, 0, 2);
  auto set = [](Runner &runner, uint32_t slot, tenon_dtype dtype, std::vector<int64_t> dims, const void *data) {
    tenon_tensor tensor{dtype, uint32_t(dims.size()), dims.data(), const_cast<void *>(data)};
    return tenon_session_set_state(runner.session, slot, 0, &tensor, &runner.error);
  };
  auto read = [&](uint32_t slot) {
    REQUIRE(tenon_session_use_slot(runner.session, slot, nullptr) == TENON_OK);
    REQUIRE(runner.run() == TENON_OK);
    return runner.output<float>(0);
  };
  Floats x{3, 4};
  REQUIRE(set(runner, 1, TENON_F32, {2}, x.data()) == TENON_OK);
  CHECK(read(0) == Floats{0, 0});
  CHECK(read(1) == x);
  CHECK(read(1) == x);
  CHECK(set(runner, 2, TENON_F32, {2}, x.data()) == TENON_MISUSE);
  CHECK(tenon_session_set_state(runner.session, 0, 1, nullptr, &runner.error) == TENON_MISUSE);
  for (tenon_status status : {set(runner, 1, TENON_I32, {2}, x.data()), set(runner, 1, TENON_F32, {1}, x.data()),
                              set(runner, 1, TENON_F32, {1, 2}, x.data())}) {
    CHECK(status == TENON_MISUSE);
    CHECK_THAT(runner.message(), Contains("state 'k' has another type or other dimensions"));
  }
  CHECK(set(runner, 1, TENON_F32, {2}, nullptr) == TENON_MISUSE);
  CHECK(read(1) == x);
  REQUIRE(tenon_session_reset_slot(runner.session, 1, nullptr) == TENON_OK);
  CHECK(read(1) == Floats{0, 0});

  Runner growing(Appending().b);
  CHECK(set(growing, 0, TENON_F32, {kCapacity}, x.data()) == TENON_MISUSE);
  CHECK_THAT(growing.message(), Contains("is written by runs alone"));
}

/// Appends an element of x to the state of each of several sequences, and gives all of the first one, then all of the
/// second one...
struct AppendingTogether {
  ArtifactBuilder b;

  explicit AppendingTogether(uint32_t sequences) {
    uint32_t four = b.constant(4), place = b.zero;
    std::vector<uint32_t> before, after;
    for (uint32_t i = 0; i < sequences; ++i) {
      before.push_back(b.symbol(i ? "N." + std::to_string(i) : "N", 0, kCapacity - 1));
      after.push_back(b.expr(fmt::ExprOp::add, before[i], b.constant(1)));
      b.state("k", fmt::DType::f32, {kCapacity}, fmt::StateKind::growing);
      b.plan.states[i]->sequence = i;
      b.plan.states[i]->live = i;
      b.plan.states[i]->next = after[i];
    }
    uint32_t sum = after[0];
    for (uint32_t i = 1; i < sequences; ++i)
      sum = b.expr(fmt::ExprOp::add, sum, after[i]);
    uint32_t input = b.input("x", fmt::DType::f32, {b.constant(sequences)});
    uint32_t output = b.output("y", fmt::DType::f32, {sum});
    for (uint32_t i = 0; i < sequences; ++i) {
      uint32_t bytes = b.expr(fmt::ExprOp::mul, after[i], four);
      uint32_t x = b.buffer("x", fmt::Storage::input, b.constant(4 * i), four, input);
      uint32_t end = b.buffer("end", fmt::Storage::state, b.expr(fmt::ExprOp::mul, before[i], four), four, i);
      uint32_t all = b.buffer("all", fmt::Storage::state, b.zero, bytes, i);
      uint32_t y = b.buffer("y", fmt::Storage::output, place, bytes, output);
      b.instruction(fmt::Opcode::copy, 0, 0, 0, {x, end}, {four});
      b.instruction(fmt::Opcode::copy, 0, 0, 0, {all, y}, {bytes});
      place = b.expr(fmt::ExprOp::add, place, bytes);
    }
    b.halt();
    b.plan.sizes = "sequences=" + std::to_string(sequences);
  }
};

/// The model of Appending, with programs for several sequences.
static ArtifactBuilder appendingTogether(std::initializer_list<uint32_t> sequences) {
  Appending one;
  ArtifactBuilder b = std::move(one.b);
  for (uint32_t count : sequences) {
    b.before.push_back(AppendingTogether(count).b.plan);
    b.targetsBefore.push_back("");
  }
  return b;
}

static tenon_status useSlots(Runner &runner, std::vector<uint32_t> slots) {
  return tenon_session_use_slots(runner.session, slots.data(), uint32_t(slots.size()), &runner.error);
}

TEST_CASE("a run of several sequences goes on with the slot of each") {
  Runner runner(appendingTogether({2, 3}), 1, 0, 4);
  uint32_t counts[3];
  for (uint32_t i = 0; i < 3; ++i) {
    tenon_program_info program;
    REQUIRE(tenon_artifact_program(runner.loaded.artifact, i, &program, nullptr) == TENON_OK);
    counts[i] = program.sequences;
  }
  CHECK(std::vector<uint32_t>(counts, counts + 3) == std::vector<uint32_t>{2, 3, 1});
  REQUIRE(tenon_session_use_slot(runner.session, 3, nullptr) == TENON_OK);
  CHECK(append(runner, {1, 2}) == Floats{1, 2});
  REQUIRE(useSlots(runner, {0, 3}) == TENON_OK);
  CHECK(append(runner, {10, 3}) == Floats{10, 1, 2, 3});
  // Slots may change places, and a session goes on with any number of them that there is a program for.
  REQUIRE(useSlots(runner, {3, 1, 0}) == TENON_OK);
  CHECK(append(runner, {4, 20, 11}) == Floats{1, 2, 3, 4, 20, 10, 11});
  REQUIRE(tenon_session_use_slot(runner.session, 0, nullptr) == TENON_OK);
  CHECK(append(runner, {12}) == Floats{10, 11, 12});
  for (auto [slot, rows] : {std::pair<uint32_t, int64_t>(0, 3), {1, 1}, {2, 0}, {3, 4}})
    CHECK(rowsOf(runner, slot) == rows);
}

TEST_CASE("a sequence without a slot begins each run without rows") {
  Runner runner(appendingTogether({3}), 1, 0, 2);
  REQUIRE(useSlots(runner, {TENON_NO_SLOT, 1, TENON_NO_SLOT}) == TENON_OK);
  CHECK(append(runner, {7, 1, 8}) == Floats{7, 1, 8});
  CHECK(append(runner, {9, 2, 5}) == Floats{9, 1, 2, 5});
  CHECK(rowsOf(runner, 0) == 0);
  CHECK(rowsOf(runner, 1) == 2);
  tenon_memory memory;
  REQUIRE(tenon_session_measure(runner.session, &memory, nullptr) == TENON_OK);
  CHECK(memory.state == 4 * 64);
}

TEST_CASE("slots that a run cannot have are rejected") {
  Runner runner(appendingTogether({2}), 1, 0, 4);
  CHECK(append(runner, {1}) == Floats{1});
  CHECK(useSlots(runner, {}) == TENON_MISUSE);
  CHECK(useSlots(runner, {1, 4}) == TENON_MISUSE);
  CHECK_THAT(runner.message(), Contains("slot 4 of 4"));
  CHECK(useSlots(runner, {2, 2}) == TENON_MISUSE);
  CHECK_THAT(runner.message(), Contains("slot 2 has two sequences of one run"));
  // What is rejected changes nothing.
  CHECK(append(runner, {2}) == Floats{1, 2});
  REQUIRE(useSlots(runner, {0, 1, 2}) == TENON_OK);
  CHECK(runner.run() == TENON_UNSUPPORTED);
  CHECK_THAT(runner.message(), Contains("there is no program for runs of 3 sequences; there are for 1, 2"));
  REQUIRE(useSlots(runner, {0, 1}) == TENON_OK);
  Floats three{1, 2, 3};
  REQUIRE(runner.bind(0, three) == TENON_OK);
  CHECK(runner.run() == TENON_INVALID);
  CHECK_THAT(runner.message(), Contains("dimension 0 of input 'x' is 3, expected 2"));
  REQUIRE(tenon_session_use_program(runner.session, 1, nullptr) == TENON_OK);
  CHECK(runner.run() == TENON_MISUSE);
  CHECK_THAT(runner.message(), Contains("program 1 is for 1 sequences, and 2 slots are in use"));
}

TEST_CASE("a sequence at its capacity refuses the run of all") {
  Runner runner(appendingTogether({2}), 1, 0, 2);
  CHECK(append(runner, {1, 2, 3, 4, 5, 6, 7, 8}).size() == 8);
  REQUIRE(useSlots(runner, {1, 0}) == TENON_OK);
  Floats two{1, 9};
  REQUIRE(runner.bind(0, two) == TENON_OK);
  CHECK(runner.run() == TENON_INVALID);
  CHECK_THAT(runner.message(), Contains("symbol 'N.1' is 8 in 'k', expected 0 to 7"));
  CHECK(rowsOf(runner, 0) == 8);
  CHECK(rowsOf(runner, 1) == 0);
}

TEST_CASE("states that are not those of whole sequences are rejected") {
  auto load = [](const std::function<void(fmt::PlanT & plan)> &change) {
    ArtifactBuilder b = appendingTogether({2});
    change(b.before.front());
    Runner runner(b);
  };
  CHECK_THROWS_WITH(load([](fmt::PlanT &plan) { plan.states[1]->sequence = 2; }),
                    Contains("2 states are not those of 3 sequences"));
  CHECK_THROWS_WITH(load([](fmt::PlanT &plan) { plan.states[0]->sequence = 1; }),
                    Contains("state 'k' is of sequence 1, expected 0"));
  CHECK_THROWS_WITH(load([](fmt::PlanT &plan) { plan.states[1]->sequence = 5000; }),
                    Contains("2 states are not those of 5001 sequences"));
  CHECK_THROWS_WITH(load([](fmt::PlanT &plan) { plan.states[1]->name = "v"; }),
                    Contains("state 'v' is not the same in sequence 1"));
  CHECK_THROWS_WITH(load([](fmt::PlanT &plan) { plan.states[1]->dims = {7}; }),
                    Contains("is not the same in sequence 1"));
  CHECK_THROWS_WITH(Runner(AppendingTogether(2).b), Contains("its last plan is for 2 sequences"));
}

TEST_CASE("a fork goes on from a shared prefix") {
  Runner runner(Appending().b, 1, 0, 2);
  append(runner, {1, 2, 3});
  REQUIRE(tenon_session_fork_slot(runner.session, 0, 1, nullptr) == TENON_OK);
  CHECK(append(runner, {4}) == Floats{1, 2, 3, 4});
  REQUIRE(tenon_session_use_slot(runner.session, 1, nullptr) == TENON_OK);
  CHECK(append(runner, {5, 6}) == Floats{1, 2, 3, 5, 6});
  REQUIRE(tenon_session_use_slot(runner.session, 0, nullptr) == TENON_OK);
  CHECK(append(runner, {7}) == Floats{1, 2, 3, 4, 7});
}

TEST_CASE("programs go on with the states of each other") {
  Appending model;
  model.b.plan.symbols[0]->max = 2;
  model.b.makeProgram("N=0..2");
  model.b.plan.symbols[0]->max = kCapacity;
  Runner runner(model.b, 1, 0, 2);
  auto programNow = [&] {
    uint32_t program = 99;
    REQUIRE(tenon_session_program(runner.session, &program, nullptr) == TENON_OK);
    return program;
  };
  // An output is that of the run, though what the states have grown to is another program's.
  CHECK(append(runner, {1, 2}) == Floats{1, 2});
  CHECK(programNow() == 0);
  CHECK(append(runner, {3}) == Floats{1, 2, 3});
  CHECK(programNow() == 1);
  CHECK(append(runner, {4}) == Floats{1, 2, 3, 4});
  REQUIRE(tenon_session_use_slot(runner.session, 1, nullptr) == TENON_OK);
  CHECK(programNow() == 0);
  CHECK(append(runner, {5}) == Floats{5});
  REQUIRE(tenon_session_use_slot(runner.session, 0, nullptr) == TENON_OK);
  CHECK(append(runner, {6}) == Floats{1, 2, 3, 4, 6});
  CHECK(programNow() == 1);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

namespace {
/// The name of a file that is gone after the test.
struct TemporaryFile {
  std::string path = "/tmp/tenon-state-XXXXXX";
  TemporaryFile() { close(mkstemp(path.data())); }
  ~TemporaryFile() { unlink(path.c_str()); }
  std::string read() const {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string &bytes) const { std::ofstream(path, std::ios::binary) << bytes; }
};
} // namespace

TEST_CASE("a slot goes on from a file, in another session") {
  TemporaryFile file;
  Appending model;
  Runner first(model.b);
  append(first, {1, 2, 3});
  REQUIRE(tenon_session_save_slot(first.session, 0, file.path.c_str(), &first.error) == TENON_OK);
  append(first, {9});
  Runner second(model.b, 1, 0, 2);
  REQUIRE(tenon_session_restore_slot(second.session, 1, file.path.c_str(), &second.error) == TENON_OK);
  CHECK(rowsOf(second, 0) == 0);
  CHECK(rowsOf(second, 1) == 3);
  REQUIRE(tenon_session_use_slot(second.session, 1, nullptr) == TENON_OK);
  CHECK(append(second, {4}) == Floats{1, 2, 3, 4});
  REQUIRE(tenon_session_restore_slot(second.session, 1, file.path.c_str(), &second.error) == TENON_OK);
  CHECK(append(second, {5}) == Floats{1, 2, 3, 5});
  CHECK(tenon_session_save_slot(first.session, 0, "/nowhere/at/all", &first.error) == TENON_RESOURCES);
  CHECK_THAT(first.message(), Contains("cannot write '/nowhere/at/all'"));
}

TEST_CASE("a damaged state file changes nothing") {
  TemporaryFile file;
  Appending model;
  Runner runner(model.b, 1, 0, 2);
  append(runner, {1, 2, 3});
  REQUIRE(tenon_session_save_slot(runner.session, 0, file.path.c_str(), nullptr) == TENON_OK);
  const std::string whole = file.read();
  REQUIRE(whole.size() == 40 + 8 + 12);
  auto refuses = [&](const std::string &bytes) {
    file.write(bytes);
    bool isRefused = tenon_session_restore_slot(runner.session, 0, file.path.c_str(), &runner.error) == TENON_INVALID;
    return isRefused && rowsOf(runner) == 3;
  };
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string bytes = whole;
    bytes[i] ^= 0x41;
    INFO("byte " << i);
    CHECK(refuses(bytes));
    CHECK(refuses(whole.substr(0, i)));
  }
  CHECK(refuses(whole + "x"));
  CHECK(refuses(whole + std::string(4096, 'x')));
  CHECK_THAT(runner.message(), Contains("is larger than the states of this model"));
  CHECK(append(runner, {4}) == Floats{1, 2, 3, 4});
  CHECK(tenon_session_restore_slot(runner.session, 0, "/nowhere", &runner.error) == TENON_INVALID);
  CHECK_THAT(runner.message(), Contains("state file '/nowhere' cannot be opened"));
  CHECK(tenon_session_restore_slot(runner.session, 0, "/tmp", &runner.error) == TENON_INVALID);
  CHECK_THAT(runner.message(), Contains("not a regular file"));
}

TEST_CASE("a state file of other capacities is refused") {
  TemporaryFile file;
  Appending model;
  Runner runner(model.b);
  append(runner, {1});
  REQUIRE(tenon_session_save_slot(runner.session, 0, file.path.c_str(), nullptr) == TENON_OK);
  model.b.plan.states[0]->dims = {kCapacity + 1};
  Runner other(model.b);
  CHECK(tenon_session_restore_slot(other.session, 0, file.path.c_str(), &other.error) == TENON_INVALID);
  CHECK_THAT(other.message(), Contains("is of another model, or of other capacities"));
}

//===----------------------------------------------------------------------===//
// Kinds of states
//===----------------------------------------------------------------------===//

/// Writes x, of two elements, to a ring of eight, and gives the ones that are live then, in the order of memory.
static ArtifactBuilder makeRing() {
  ArtifactBuilder b;
  uint32_t kept = b.symbol("kept", 0, 7), slot = b.symbol("slot", 0, 7), four = b.constant(4), two = b.constant(2);
  uint32_t live = b.expr(fmt::ExprOp::add, kept, two), bytes = b.expr(fmt::ExprOp::mul, live, four);
  uint32_t state = b.state("ring", fmt::DType::f32, {8}, fmt::StateKind::ring), eight = b.constant(8);
  b.plan.states[state]->live = 0;
  b.plan.states[state]->slot = 1;
  b.plan.states[state]->next = two;
  uint32_t x = b.buffer("x", fmt::Storage::input, b.zero, eight, b.input("x", fmt::DType::f32, {two}));
  uint32_t y = b.buffer("y", fmt::Storage::output, b.zero, bytes, b.output("y", fmt::DType::f32, {live}));
  uint32_t part = b.buffer("part", fmt::Storage::state, b.expr(fmt::ExprOp::mul, slot, four), eight, state);
  uint32_t all = b.buffer("all", fmt::Storage::state, b.zero, bytes, state);
  b.instruction(fmt::Opcode::copy, 0, 0, 0, {x, part}, {eight});
  b.instruction(fmt::Opcode::copy, 0, 0, 0, {all, y}, {bytes});
  b.halt();
  return b;
}

TEST_CASE("a ring forgets its oldest rows") {
  TemporaryFile file;
  Runner runner(makeRing());
  Floats expected;
  for (int step = 0; step < 40; ++step) {
    float value = float(2 * step);
    size_t at = size_t(2 * step % 8);
    expected.resize(std::max(expected.size(), at + 2));
    expected[at] = value;
    expected[at + 1] = value + 1;
    CHECK(append(runner, {value, value + 1}) == expected);
    CHECK(rowsOf(runner) == int64_t(expected.size()));
    if (step == 17) {
      REQUIRE(tenon_session_save_slot(runner.session, 0, file.path.c_str(), nullptr) == TENON_OK);
      REQUIRE(tenon_session_reset_slot(runner.session, 0, nullptr) == TENON_OK);
      REQUIRE(tenon_session_restore_slot(runner.session, 0, file.path.c_str(), nullptr) == TENON_OK);
    }
  }
}

/// Adds x to a state that begins as a weight.
static ArtifactBuilder makeCounter(float initial) {
  ArtifactBuilder b;
  uint32_t four = b.constant(4);
  b.weights.resize(128);
  memcpy(b.weights.data() + 64, &initial, sizeof initial);
  uint32_t state = b.state("total", fmt::DType::f32, {});
  b.plan.states[state]->has_initial = true;
  b.plan.states[state]->initial = 64;
  uint32_t x = b.buffer("x", fmt::Storage::input, b.zero, four, b.input("x", fmt::DType::f32, {}));
  uint32_t y = b.buffer("y", fmt::Storage::output, b.zero, four, b.output("y", fmt::DType::f32, {}));
  uint32_t total = b.buffer("total", fmt::Storage::state, b.zero, four, state);
  b.launch("accumulate", b.constant(1), {x, total}, {}, "Add");
  b.instruction(fmt::Opcode::copy, 0, 0, 0, {total, y}, {four});
  b.halt();
  return b;
}

TEST_CASE("a state begins as a weight says") {
  Runner runner(makeCounter(100), 1, 0, 2);
  float x = 1;
  REQUIRE(runner.bind(0, TENON_F32, {}, &x) == TENON_OK);
  for (float wanted : {101.f, 102.f}) {
    REQUIRE(runner.run() == TENON_OK);
    CHECK(runner.output<float>(0)[0] == wanted);
  }
  REQUIRE(tenon_session_use_slot(runner.session, 1, nullptr) == TENON_OK);
  REQUIRE(runner.run() == TENON_OK);
  CHECK(runner.output<float>(0)[0] == 101);
  REQUIRE(tenon_session_reset_slot(runner.session, 0, nullptr) == TENON_OK);
  REQUIRE(tenon_session_use_slot(runner.session, 0, nullptr) == TENON_OK);
  REQUIRE(runner.run() == TENON_OK);
  CHECK(runner.output<float>(0)[0] == 101);
}

TEST_CASE("a state that begins outside of the weights, or with damaged ones, is refused before it is used") {
  for (uint64_t initial : {uint64_t(125), uint64_t(128), UINT64_MAX - 1}) {
    ArtifactBuilder b = makeCounter(1);
    b.plan.states[0]->initial = initial;
    Runner runner(b);
    float x = 1;
    REQUIRE(runner.bind(0, TENON_F32, {}, &x) == TENON_OK);
    CHECK(runner.run() == TENON_INVALID);
    CHECK_THAT(runner.message(), Contains("damaged: state 'total' begins as 4 bytes at"));
  }
}

TEST_CASE("a run that fails in its midst leaves a slot that nobody uses") {
  Appending model;
  model.b.plan.instructions.pop_back();
  uint32_t code = model.b.buffer("code", fmt::Storage::input, model.b.zero, model.b.constant(4),
                                 model.b.input("code", fmt::DType::i32, {}));
  model.b.launch("fail_with", model.b.constant(100), {code}, {model.b.constant(77)}, "Gather");
  model.b.halt();
  Runner runner(model.b, 1, 0, 2);
  int32_t value = 0;
  REQUIRE(runner.bind(1, TENON_I32, {}, &value) == TENON_OK);
  append(runner, {1});
  Floats x{2};
  REQUIRE(runner.bind(0, x) == TENON_OK);
  value = TENON_KERNEL_BAD_VALUE;
  CHECK(runner.run() == TENON_INVALID);
  value = 0;
  CHECK(runner.run() == TENON_MISUSE);
  CHECK_THAT(runner.message(), Contains("has left the states of slot 0 half written"));
  CHECK(tenon_session_fork_slot(runner.session, 0, 1, nullptr) == TENON_MISUSE);
  CHECK(tenon_session_save_slot(runner.session, 0, "/nowhere", nullptr) == TENON_MISUSE);
  REQUIRE(tenon_session_reset_slot(runner.session, 0, nullptr) == TENON_OK);
  CHECK(append(runner, {2}) == Floats{2});
}

//===----------------------------------------------------------------------===//
// Plans that nobody can run
//===----------------------------------------------------------------------===//

static void refuses(const char *reason, ArtifactBuilder b, const std::function<void(ArtifactBuilder &)> &damage) {
  damage(b);
  Loaded loaded(b);
  CHECK(loaded.status == TENON_INVALID);
  CHECK_THAT(loaded.error.message, Contains(reason));
}

TEST_CASE("states that do not hold together are refused at load") {
  auto damage = [](const char *reason, const std::function<void(fmt::StateT &)> &change) {
    refuses(reason, Appending().b, [&](ArtifactBuilder &b) { change(*b.plan.states[0]); });
  };
  damage("is of kind 3, the last known is 2", [](auto &s) { s.kind = fmt::StateKind(3); });
  damage("has 1 dimensions and element type string", [](auto &s) { s.dtype = fmt::DType::string; });
  damage("has more bytes than can be addressed", [](auto &s) { s.dims = {INT64_MAX, 2}; });
  damage("has more bytes than can be addressed", [](auto &s) { s.dims = {-1}; });
  damage("has 65 dimensions", [](auto &s) { s.dims.assign(65, 1); });
  damage("no memory for any", [](auto &s) { s.dims = {0}; });
  damage("no memory for any", [](auto &s) { s.dims = {}; });
  damage("no memory for any or an initial value", [](auto &s) { s.has_initial = true; });
  damage("does not have the symbols of its kind", [](auto &s) { s.live = UINT32_MAX; });
  damage("does not have the symbols of its kind", [](auto &s) { s.slot = 1; });
  damage("does not have the symbols of its kind", [](auto &s) { s.kind = fmt::StateKind::whole; });
  damage("does not have the symbols of its kind", [](auto &s) { s.kind = fmt::StateKind::ring; });
  damage("binds symbol 7 of 2", [](auto &s) { s.live = 7; });
  damage("beyond its 7 rows", [](auto &s) { s.dims = {7}; });
  damage("names expression 1000 of", [](auto &s) { s.next = 1000; });
  refuses("lies in state 1 of 1", Appending().b,
          [](ArtifactBuilder &b) { b.buffer("odd", fmt::Storage::state, 0, 0, 1); });
  refuses("binds symbol 'N', which a state binds already", Appending().b, [](ArtifactBuilder &b) {
    auto bind = std::make_unique<fmt::InstructionT>();
    bind->op = uint8_t(fmt::Opcode::set_symbol);
    bind->c = uint32_t(b.plan.exprs.size());
    bind->exprs = {0};
    b.plan.instructions.insert(b.plan.instructions.begin(), std::move(bind));
  });
  auto damageRing = [](const char *reason, const std::function<void(ArtifactBuilder &)> &change) {
    refuses(reason, makeRing(), change);
  };
  damageRing("does not divide its 8", [](auto &b) { b.plan.states[0]->next = b.constant(3); });
  damageRing("does not divide its 8", [](auto &b) { b.plan.states[0]->next = b.constant(0); });
  damageRing("does not divide its 8", [](auto &b) { b.plan.states[0]->next = b.expr(fmt::ExprOp::symbol, 0, 0); });
  damageRing("beyond its 4 rows", [](auto &b) { b.plan.states[0]->dims = {4}; });
}

TEST_CASE("a plan whose state would outgrow its memory ends with an error") {
  Appending model;
  model.b.plan.checks.clear();
  model.b.plan.states[0]->next = model.b.constant(kCapacity + 1);
  Runner runner(model.b);
  Floats x{1};
  REQUIRE(runner.bind(0, x) == TENON_OK);
  CHECK(runner.run() == TENON_INVALID);
  CHECK_THAT(runner.message(), Contains("state 'k' has 9 rows after the run, and memory for 8"));
}
