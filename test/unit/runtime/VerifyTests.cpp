//===- VerifyTests.cpp - plans that must be refused ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/Verify.h"
#include "test/unit/runtime/Runner.h"

#include <catch2/catch.hpp>
#include <functional>

using namespace tenon;
using namespace tenon::test;
using Catch::Matchers::Contains;

/// Loads scaleAndAdd after `damage`, which must be refused with a message that has `text`.
static void refuses(const char *text, const std::function<void(ArtifactBuilder &)> &damage,
                    tenon_status status = TENON_INVALID) {
  ArtifactBuilder b = scaleAndAdd();
  damage(b);
  Loaded loaded(b);
  CHECK(loaded.status == status);
  CHECK_THAT(loaded.error.message, Contains(text));
}

TEST_CASE("the plan that the others are made from is fine") {
  Loaded loaded(scaleAndAdd());
  CHECK(loaded.status == TENON_OK);
  tenon_artifact_info info;
  tenon_artifact_describe(loaded.artifact, &info);
  CHECK(info.weight_bytes == 16384);
  CHECK(info.instruction_count == 3);
  CHECK(info.source_hash == 0x1234);
  CHECK(std::string(info.target) == hostTarget());
}

TEST_CASE("symbols: empty ranges, bound by nothing") {
  refuses("ranges from 5 to 4", [](auto &b) { b.symbol("M", 5, 4); });
  refuses("symbol 'M' is bound by no input", [](auto &b) { b.symbol("M"); });
}

TEST_CASE("expressions: unknown operations, operands that are not earlier") {
  refuses("operation 11", [](auto &b) { b.expr(fmt::ExprOp(11), 0, 0); });
  refuses("names symbol 1 of 1", [](auto &b) { b.expr(fmt::ExprOp::symbol, 1, 0); });
  refuses("names symbol -1", [](auto &b) { b.expr(fmt::ExprOp::symbol, -1, 0); });
  refuses("not both before it", [](auto &b) { b.expr(fmt::ExprOp::add, 0, int64_t(b.plan.exprs.size())); });
  refuses("not both before it", [](auto &b) { b.expr(fmt::ExprOp::add, -1, 0); });
  refuses("not both before it", [](auto &b) { b.expr(fmt::ExprOp::add, int64_t(1) << 40, 0); });
}

TEST_CASE("work of kernels: unknown operations, operands that are not earlier, results that there are not") {
  auto setWork = [](fmt::Expr expr, uint32_t flops, uint32_t bytes) {
    return [=](ArtifactBuilder &b) {
      fmt::KernelT &kernel = *b.plan.kernels[0];
      kernel.work = {{fmt::ExprOp::constant, 1, 0}, expr};
      kernel.work_flops = flops;
      kernel.work_bytes = bytes;
    };
  };
  refuses("is malformed", setWork({fmt::ExprOp(11), 0, 0}, 0, 1));
  refuses("is malformed", setWork({fmt::ExprOp::symbol, -1, 0}, 0, 1));
  refuses("is malformed", setWork({fmt::ExprOp::add, 0, 1}, 0, 1));
  refuses("is malformed", setWork({fmt::ExprOp::add, -1, 0}, 0, 1));
  refuses("is malformed", setWork({fmt::ExprOp::add, 0, 0}, 2, 1));
  refuses("is malformed", setWork({fmt::ExprOp::add, 0, 0}, 0, 2));
}

TEST_CASE("inputs and outputs: types, ranks, dimensions") {
  refuses("element type string", [](auto &b) { b.input("s", fmt::DType::string, {}); }, TENON_UNSUPPORTED);
  refuses("element type unknown", [](auto &b) { b.output("s", fmt::DType(99), {}); }, TENON_UNSUPPORTED);
  refuses("has 65 dimensions", [](auto &b) { b.input("x2", fmt::DType::f32, std::vector<uint32_t>(65)); });
  refuses("is expression 1000 of", [](auto &b) { b.output("y2", fmt::DType::f32, {1000}); });
}

/// Puts an instruction before the final halt.
static void insert(ArtifactBuilder &b, fmt::Opcode op, uint32_t a, uint32_t bb, uint32_t c,
                   std::vector<uint32_t> buffers, std::vector<uint32_t> exprs) {
  b.instruction(op, a, bb, c, std::move(buffers), std::move(exprs), "n");
  b.halt();
}

TEST_CASE("buffers: storage, index, expressions") {
  refuses("has storage 6", [](auto &b) { b.buffer("b", fmt::Storage(6), 0, 0); });
  refuses("lies in input 1 of 1", [](auto &b) { b.buffer("b", fmt::Storage::input, 0, 0, 1); });
  refuses("lies in output 7 of 1", [](auto &b) { b.buffer("b", fmt::Storage::output, 0, 0, 7); });
  refuses("names expressions 0 and 1000", [](auto &b) { b.buffer("b", fmt::Storage::arena, 0, 1000); });
  refuses("names expressions 1000 and 0", [](auto &b) { b.buffer("b", fmt::Storage::arena, 1000, 0); });
}

TEST_CASE("buffers: the room in which they lie") {
  auto inRoom = [](fmt::Storage storage, uint32_t start, uint32_t room) {
    return [=](ArtifactBuilder &b) {
      fmt::BufferT &buffer = *b.plan.buffers[b.buffer("b", storage, 0, 0)];
      buffer.start = start;
      buffer.room = room;
    };
  };
  refuses("has expressions 0 and 1000", inRoom(fmt::Storage::arena, 0, 1000));
  refuses("has expressions 1000 and 0", inRoom(fmt::Storage::arena, 1000, 0));
  refuses("has expressions 0 and 4294967295", inRoom(fmt::Storage::arena, 0, UINT32_MAX));
  refuses("has expressions 0 and 0", inRoom(fmt::Storage::weight, 0, 0));
  refuses("the room of buffer 4 ('b') depends on a symbol that instructions bind", [&](auto &b) {
    uint32_t k = b.symbol("K");
    inRoom(fmt::Storage::arena, 0, k)(b);
    insert(b, fmt::Opcode::bind_symbol, 1, k, k + 1, {2}, {});
  });
}

TEST_CASE("memory: sizes and alignment") {
  refuses("sizes of arena and scratch", [](auto &b) { b.plan.arena_size = 1000; });
  refuses("sizes of arena and scratch", [](auto &b) { b.plan.scratch_size = 1000; });
  for (uint32_t alignment : {0, 32, 96, 8192})
    refuses("the arena's alignment is", [=](auto &b) { b.plan.arena_align = alignment; });
}

TEST_CASE("kernels must be in the code") {
  refuses("has no kernel 'missing'", [](auto &b) { b.kernel("missing"); });
  refuses("has no kernel ''", [](auto &b) { b.kernel(""); });
}

TEST_CASE("instructions: opcodes, fields, operand counts") {
  refuses("the last known is", [](auto &b) { insert(b, fmt::Opcode(fmt::kInstructionCount), 0, 0, 0, {}, {}); });
  refuses("(launch 'n'): 'a' is 2, expected less than 2",
          [](auto &b) { insert(b, fmt::Opcode::launch, 2, 0, 0, {}, {}); });
  refuses("'b' is 1000", [](auto &b) { insert(b, fmt::Opcode::launch, 0, 1000, 0, {}, {}); });
  refuses("'c' is 1, expected less than 1", [](auto &b) { insert(b, fmt::Opcode::copy, 0, 0, 1, {}, {}); });
  refuses("'c' is 2, expected less than 2", [](auto &b) { insert(b, fmt::Opcode::launch, 0, 0, 2, {}, {}); });
  refuses("buffer operand 0 is buffer 99", [](auto &b) { insert(b, fmt::Opcode::launch, 0, 0, 0, {99}, {}); });
  refuses("expression operand 0 is expression 1000",
          [](auto &b) { insert(b, fmt::Opcode::launch, 0, 0, 0, {2}, {1000}); });
  refuses("has 1 buffers, its kernel writes 2", [](auto &b) {
    b.plan.kernels[0]->results = 2;
    b.plan.instructions[0]->buffers = {2};
  });
  refuses("writes 'w', which is a weight", [](auto &b) { b.plan.instructions[0]->buffers = {0, 3}; });
  refuses("has 1 buffers, 2 are wanted", [](auto &b) { insert(b, fmt::Opcode::copy, 0, 0, 0, {2}, {0}); });
  refuses("has 0 expressions, 1 are wanted", [](auto &b) { insert(b, fmt::Opcode::copy, 0, 0, 0, {2, 1}, {}); });
  refuses("'a' is 256", [](auto &b) { insert(b, fmt::Opcode::fill, 256, 0, 0, {2}, {0}); });
  refuses("'a' is 5, expected less than 5", [](auto &b) { insert(b, fmt::Opcode::jump, 5, 0, 0, {}, {}); });
  refuses("has 0 buffers, 1 are wanted", [](auto &b) { insert(b, fmt::Opcode::run_seed, 0, 0, 0, {}, {}); });
  refuses("has 1 buffers, 0 are wanted", [](auto &b) { insert(b, fmt::Opcode::halt, 0, 0, 0, {0}, {}); });
}

TEST_CASE("instructions: nothing writes inputs and weights") {
  refuses("writes 'x', which is an input", [](auto &b) { insert(b, fmt::Opcode::copy, 0, 0, 0, {2, 0}, {0}); });
  refuses("writes 'w', which is a weight", [](auto &b) { insert(b, fmt::Opcode::fill, 0, 0, 0, {3}, {0}); });
}

TEST_CASE("instructions: weights alone are let go of") {
  refuses("releases 'x', which is no weight", [](auto &b) { insert(b, fmt::Opcode::release, 0, 0, 0, {0}, {}); });
}

TEST_CASE("instructions: the list has an end") {
  refuses("the last of 2 instructions must be a halt", [](auto &b) { b.plan.instructions.pop_back(); });
  refuses("the last of 0 instructions must be a halt", [](auto &b) { b.plan.instructions.clear(); });
  refuses("the last of 3 instructions must be a halt", [](auto &b) {
    b.plan.instructions.pop_back();
    b.instruction(fmt::Opcode::jump, 0, 0, 0, {}, {});
  });
}

TEST_CASE("instructions: loops can be left") {
  // if (w) do { doubled = 2 x } while (w): the shape of a loop, but for what each case changes.
  auto withLoop = [](auto change) {
    return [=](ArtifactBuilder &b) {
      uint32_t n = uint32_t(b.plan.instructions.size());
      b.plan.instructions.pop_back();
      b.instruction(fmt::Opcode::branch_if_zero, n + 2, 0, 0, {2}, {}, "begin");
      b.instruction(fmt::Opcode::fill, 1, 0, 0, {2}, {b.zero}, "body");
      b.instruction(fmt::Opcode::jump, n - 1, 0, 0, {}, {}, "end");
      b.halt();
      change(b, n);
    };
  };
  ArtifactBuilder good = scaleAndAdd();
  withLoop([](ArtifactBuilder &, uint32_t) {})(good);
  Loaded loaded(good);
  CHECK(std::string(loaded.error.message) == "");
  refuses("instruction 4 (jump 'end'): goes back to instruction 0, which is no loop's beginning that leaves it",
          withLoop([](ArtifactBuilder &b, uint32_t n) { b.plan.instructions[n + 1]->a = 0; }));
  refuses("instruction 4 (jump 'end'): goes back to instruction 4",
          withLoop([](ArtifactBuilder &b, uint32_t n) { b.plan.instructions[n + 1]->a = n + 1; }));
  refuses("goes back to instruction 2, which is no loop's beginning that leaves it",
          withLoop([](ArtifactBuilder &b, uint32_t n) { b.plan.instructions[n - 1]->a = n; }));
  refuses("instruction 2 (branch_if_zero 'begin'): goes back to instruction 0",
          withLoop([](ArtifactBuilder &b, uint32_t n) { b.plan.instructions[n - 1]->a = 0; }));
  refuses("nothing in the loop from instruction 2 on changes its condition 'w', so it never ends",
          withLoop([](ArtifactBuilder &b, uint32_t n) { b.plan.instructions[n - 1]->buffers = {3}; }));
}

TEST_CASE("instructions: a loop ends, or some iteration changes what its condition depends on") {
  const uint32_t x = 0, y = 1, doubled = 2;
  // The condition is the first byte of `doubled`.
  auto runs = [=](auto addBody) {
    ArtifactBuilder b = scaleAndAdd();
    uint32_t begin = uint32_t(b.plan.instructions.size()) - 1, bytes = b.plan.buffers[doubled]->size;
    b.plan.instructions.pop_back();
    b.instruction(fmt::Opcode::branch_if_zero, 0, 0, 0, {doubled}, {}, "Loop_2");
    addBody(b, bytes);
    b.instruction(fmt::Opcode::jump, begin, 0, 0, {}, {}, "Loop_2");
    b.plan.instructions[begin]->a = uint32_t(b.plan.instructions.size());
    b.halt();
    Runner r(b, 2);
    // An odd mantissa: the first byte is 1 until the sum is infinite.
    std::vector<float> one(100, 1 + 0x1p-23f);
    REQUIRE(r.bind(x, one) == TENON_OK);
    tenon_status status = r.run();
    CHECK((status == TENON_OK || status == TENON_INVALID));
    CHECK(status == r.run());
    return status == TENON_OK ? std::string("ends") : r.message();
  };
  auto doubles = [](ArtifactBuilder &b, uint32_t from, uint32_t to) {
    b.instruction(fmt::Opcode::launch, 0, b.plan.instructions[0]->b, 0, {from, to}, b.plan.instructions[0]->exprs,
                  "Mul");
  };
  const std::string never = "artifact: node 'Loop_2': its loop never ends: no iteration changes what the condition "
                            "depends on; check the values "
                            "of the inputs";
  // 127 times, until it is infinite.
  CHECK(runs([=](auto &b, uint32_t) { doubles(b, doubled, doubled); }) == "ends");
  CHECK(runs([=](auto &b, uint32_t bytes) { b.instruction(fmt::Opcode::fill, 0, 0, 0, {doubled}, {bytes}); }) ==
        "ends");
  CHECK(runs([=](auto &b, uint32_t bytes) { b.instruction(fmt::Opcode::fill, 1, 0, 0, {doubled}, {bytes}); }) == never);
  // Part of it stays as it was: nothing is known then.
  CHECK(runs([=](auto &b, uint32_t) { b.instruction(fmt::Opcode::fill, 0, 0, 0, {doubled}, {b.constant(1)}); }) ==
        "ends");
  // The counter begins again in each iteration; so it does by way of another buffer.
  CHECK(runs([=](auto &b, uint32_t bytes) {
          b.instruction(fmt::Opcode::copy, 0, 0, 0, {x, doubled}, {bytes});
          doubles(b, doubled, doubled);
        }) == never);
  CHECK(runs([=](auto &b, uint32_t) {
          doubles(b, y, doubled);
          doubles(b, x, y);
        }) == never);
  // It begins again where the branch does not leave that out.
  CHECK(runs([=](auto &b, uint32_t bytes) {
          uint32_t next = uint32_t(b.plan.instructions.size());
          b.instruction(fmt::Opcode::fill, 0, 0, 0, {y}, {bytes});
          b.instruction(fmt::Opcode::branch_if_zero, next + 3, 0, 0, {y}, {});
          b.instruction(fmt::Opcode::copy, 0, 0, 0, {x, doubled}, {bytes});
          doubles(b, doubled, doubled);
        }) == "ends");
}

TEST_CASE("a launch fits what its kernel says of itself") {
  const uint32_t x = 0, y = 1, doubled = 2;
  refuses("node 'Mul_0': its kernel 'double_f32' takes 2 buffers and 1 sizes, and is launched with 3 and 1",
          [=](auto &b) { b.plan.instructions[0]->buffers = {x, doubled, doubled}; });
  refuses("takes 2 buffers and 1 sizes, and is launched with 2 and 0",
          [](auto &b) { b.plan.instructions[0]->exprs.clear(); });
  // The plan does not say that the kernel writes anything.
  refuses("its kernel 'double_f32' writes 'x', which is an input", [=](auto &b) {
    b.plan.kernels[0]->results = 0;
    b.plan.instructions[0]->buffers = {doubled, x};
  });
  auto fails = [](const char *text, auto damage) {
    ArtifactBuilder b = scaleAndAdd();
    damage(b);
    Runner r(b, 2);
    std::vector<float> values(100, 1);
    REQUIRE(r.bind(0, values) == TENON_OK);
    CHECK(r.run() == TENON_INVALID);
    CHECK_THAT(r.message(), Contains(text));
  };
  fails("has 7 tiles for these sizes, and is launched with 8",
        [](auto &b) { b.plan.instructions[0]->b = b.constant(8); });
  fails("needs 400 bytes of buffer 'doubled', which has 396",
        [=](auto &b) { b.plan.buffers[doubled]->size = b.constant(396); });
  fails("needs 1600 bytes of buffer 'x', which has 400", [=](auto &b) {
    b.plan.instructions[0]->exprs = {b.constant(400)};
    b.plan.instructions[0]->b = b.constant(25);
  });
  // As many tiles as it says, of more bytes than there can be.
  fails("does not take these 1 sizes", [=](auto &b) {
    b.plan.instructions[0]->exprs = {b.constant(INT64_MAX)};
    b.plan.instructions[0]->b = b.constant(INT64_MAX / 16 + 1);
  });
  fails("does not take these 1 sizes", [=](auto &b) { b.plan.instructions[0]->exprs = {b.constant(-16)}; });
  fails("needs 64 bytes of scratch, the plan has 0", [=](auto &b) {
    b.plan.kernels[0]->name = "sum_in_scratch";
    b.plan.instructions[0]->buffers = {x, y};
  });
}

TEST_CASE("a launch whose sizes data decides is compared when they are known") {
  ArtifactBuilder b;
  uint32_t k = b.symbol("K", 0, 1000), bytes = b.expr(fmt::ExprOp::mul, k, b.constant(4)), eight = b.constant(8);
  uint32_t tiles = b.expr(fmt::ExprOp::ceildiv, k, b.constant(16));
  uint32_t count = b.buffer("count", fmt::Storage::input, b.zero, eight, b.input("count", fmt::DType::i64, {}));
  uint32_t x =
      b.buffer("x", fmt::Storage::input, b.zero, b.constant(400), b.input("x", fmt::DType::f32, {b.constant(100)}));
  uint32_t y = b.buffer("y", fmt::Storage::output, b.zero, bytes, b.output("y", fmt::DType::f32, {k}));
  b.instruction(fmt::Opcode::bind_symbol, 0, k, tiles + 1, {count}, {}, "Count");
  b.launch("double_f32", tiles, {x, y}, {k}, "Mul");
  b.halt();
  Runner r(b);
  std::vector<float> values(100, 1);
  int64_t wanted = 100;
  REQUIRE(r.bind(1, values) == TENON_OK);
  REQUIRE(r.bind(0, TENON_I64, {}, &wanted) == TENON_OK);
  CHECK(r.run() == TENON_OK);
  CHECK(r.output<float>(0) == std::vector<float>(100, 2));
  wanted = 101;
  CHECK(r.run() == TENON_INVALID);
  CHECK_THAT(r.message(), Contains("needs 404 bytes of buffer 'x', which has 400"));
}

TEST_CASE("kernels have facts") {
  ArtifactBuilder b = scaleAndAdd();
  b.plan.kernels[0]->name = "without_facts";
  Loaded loaded(b);
  CHECK(loaded.status == TENON_INVALID);
  CHECK_THAT(loaded.error.message, Contains("has no facts of kernel 'without_facts'"));
  b.plan.kernels[0]->name = "with_bad_facts";
  CHECK(Loaded(b).status == TENON_INVALID);
  // Those of earlier versions have none.
  b.plan.kernels[0]->name = "without_facts";
  b.version = 2;
  CHECK(Loaded(b).status == TENON_OK);
}

TEST_CASE("expressions must be aligned") {
  std::vector<uint8_t> plan = scaleAndAdd().planBytes();
  // All of a plan four bytes further on, which FlatBuffers' offsets do not notice.
  std::vector<uint8_t> moved(plan.size() + 4);
  uint32_t root;
  memcpy(&root, plan.data(), 4);
  root += 4;
  memcpy(moved.data(), &root, 4);
  memcpy(moved.data() + 4, plan.data() + 4, 4);
  memcpy(moved.data() + 8, plan.data() + 4, plan.size() - 4);
  rt::Plan out;
  rt::Status status = rt::verifyPlan(moved.data(), moved.size(), &out);
  CHECK(status.failed());
  CHECK_THAT(status.message(), Contains("plan: "));
}

TEST_CASE("bind_symbol: the symbol and all that depends on it") {
  auto bind = [](uint32_t symbol, uint32_t begin, uint32_t end) {
    return [=](ArtifactBuilder &b) { insert(b, fmt::Opcode::bind_symbol, symbol, begin, end, {2}, {}); };
  };
  refuses("binds symbol 'N', which an input binds already", bind(0, 0, 0));
  refuses("'a' is 1, expected less than 1", bind(1, 0, 0));
  auto withSymbol = [](uint32_t symbolRange[2], bool deep) {
    return [=](ArtifactBuilder &b) {
      uint32_t k = b.symbol("K");
      uint32_t user = b.expr(fmt::ExprOp::add, k, 0);
      if (deep)
        b.expr(fmt::ExprOp::add, user, user);
      insert(b, fmt::Opcode::bind_symbol, 1, k + symbolRange[0], k + symbolRange[1], {2}, {});
    };
  };
  uint32_t late[] = {1, 2}, early[] = {0, 1}, shallow[] = {0, 2}, backwards[] = {2, 0}, right[] = {0, 3};
  refuses("depend on symbol 'K'", withSymbol(late, false));
  refuses("depend on symbol 'K'", withSymbol(early, false));
  refuses("depend on symbol 'K'", withSymbol(shallow, true));
  refuses("which is no range", withSymbol(backwards, false));
  ArtifactBuilder b = scaleAndAdd();
  withSymbol(right, true)(b);
  CHECK(Loaded(b).status == TENON_OK);
}

TEST_CASE("a name in a message cannot break its line") {
  ArtifactBuilder b = scaleAndAdd();
  b.symbol("evil\n\x1b[31mname", 5, 4);
  Loaded loaded(b);
  CHECK_THAT(loaded.error.message, Contains("evil??[31mname"));
}

TEST_CASE("operands that tables share do not multiply") {
  // A thousand instructions with one list of a thousand operands: four kilobytes that stand for a million.
  flatbuffers::FlatBufferBuilder f;
  auto list = f.CreateVector(std::vector<uint32_t>(1000, 0));
  std::vector<flatbuffers::Offset<fmt::Instruction>> instructions;
  for (int i = 0; i < 1000; ++i)
    instructions.push_back(fmt::CreateInstruction(f, 0, 0, 0, 0, list, 0, 0));
  std::vector<fmt::Expr> exprs{fmt::Expr(fmt::ExprOp::constant, 0, 0)};
  auto exprVector = f.CreateVectorOfStructs(exprs);
  auto buffers = f.CreateVector(std::vector{fmt::CreateBuffer(f)});
  auto kernels = f.CreateVector(std::vector{fmt::CreateKernelDirect(f, "double_f32")});
  auto instructionVector = f.CreateVector(instructions);
  fmt::PlanBuilder plan(f);
  plan.add_exprs(exprVector);
  plan.add_buffers(buffers);
  plan.add_kernels(kernels);
  plan.add_instructions(instructionVector);
  f.Finish(plan.Finish(), fmt::PlanIdentifier());

  rt::Plan out;
  rt::Status status = rt::verifyPlan(f.GetBufferPointer(), f.GetSize(), &out);
  CHECK(status.code() == TENON_INVALID);
  CHECK_THAT(status.message(), Contains("shares its 1000 buffers with too many others"));
}

TEST_CASE("launches beside each other share nothing that one writes") {
  // The first launch writes what the second one reads.
  refuses("is beside the instruction before it, which is no launch", [](auto &b) {
    b.plan.instructions[1]->op = uint8_t(fmt::Opcode::halt);
    b.plan.instructions[1]->a = b.plan.instructions[1]->b = 0;
    b.plan.instructions[1]->buffers.clear();
    b.plan.instructions[1]->exprs.clear();
    b.launch("double_f32", b.zero, {0, 1}, {0}, "n");
    b.plan.instructions.back()->c = 1;
    b.halt();
  });
  refuses("beside a launch that uses it, and one of the two writes it", [](auto &b) { b.plan.instructions[1]->c = 1; });
  refuses("is beside nothing, which is no launch", [](auto &b) { b.plan.instructions[0]->c = 1; });
}

/// A host call of one operand and one result, f32 [1] each, which reads the input and writes the output of scaleAndAdd.
static fmt::HostCallT &addHostCall(ArtifactBuilder &b) {
  auto call = std::make_unique<fmt::HostCallT>();
  call->plugin = "example";
  call->operator_name = "Scale";
  for (auto *list : {&call->inputs, &call->results}) {
    list->push_back(std::make_unique<fmt::HostOperandT>());
    list->back()->dtype = fmt::DType::f32;
    list->back()->rank = 1;
  }
  b.plan.host_calls.push_back(std::move(call));
  return *b.plan.host_calls.back();
}

/// A plan with `change` made to it and to the call, which must be refused with a message that has `text`.
static void refusesCall(const char *text, const std::function<void(ArtifactBuilder &, fmt::HostCallT &)> &change,
                        std::vector<uint32_t> buffers = {0, 1}, size_t numExtents = 2) {
  refuses(text, [&](ArtifactBuilder &b) {
    fmt::HostCallT &call = addHostCall(b);
    change(b, call);
    insert(b, fmt::Opcode::host_call, uint32_t(b.plan.host_calls.size() - 1), 0, 0, buffers,
           std::vector<uint32_t>(numExtents, b.zero));
  });
}

TEST_CASE("host calls: names, operands, attributes") {
  auto nothing = [](ArtifactBuilder &, fmt::HostCallT &) {};
  for (const std::string &name :
       std::vector<std::string>{"", "../example", "a/b", "a b", "libx.so", std::string(65, 'x')})
    refusesCall("is of a plug-in with an invalid name", [&](auto &, auto &call) { call.plugin = name; });
  refusesCall("operand 0 of operator 'Scale' has 17 dimensions", [](auto &, auto &call) { call.inputs[0]->rank = 17; });
  refusesCall("has 1 dimensions and element type string",
              [](auto &, auto &call) { call.results[0]->dtype = fmt::DType::string; });
  refusesCall("has 1 dimensions and element type unknown",
              [](auto &, auto &call) { call.results[0]->dtype = fmt::DType(99); });
  refusesCall("lacks results", [](auto &, auto &call) { call.results.clear(); }, {0}, 1);
  refusesCall("lacks results", [](auto &, auto &call) { call.results[0]->present = false; }, {0}, 1);
  refusesCall("attribute 'by' of operator 'Scale' has kind 9", [](auto &, auto &call) {
    call.attributes.push_back(std::make_unique<fmt::HostAttributeT>());
    call.attributes[0]->name = "by";
    call.attributes[0]->kind = fmt::HostAttributeKind(9);
  });
  refusesCall("has 1 buffers and 2 expressions, its operands want 2 and 2", nothing, {1});
  refusesCall("has 2 buffers and 3 expressions, its operands want 2 and 2", nothing, {0, 1}, 3);
  refusesCall("has 2 buffers and 2 expressions, its operands want 2 and 1",
              [](auto &, auto &call) { call.infers = true; });
  refusesCall("has 2 buffers and 2 expressions, its operands want 1 and 1",
              [](auto &, auto &call) { call.inputs[0]->present = false; });
  refusesCall("writes 'x', which is an input", nothing, {1, 0});
  refuses("(host_call 'n'): 'a' is 0, expected less than 0",
          [](auto &b) { insert(b, fmt::Opcode::host_call, 0, 0, 0, {0, 1}, {}); });
}

TEST_CASE("a plug-in that there is not is told by its name") {
  ArtifactBuilder b = scaleAndAdd();
  addHostCall(b).plugin = "there-is-none";
  Loaded loaded(b);
  CHECK(loaded.status == TENON_UNSUPPORTED);
  CHECK_THAT(loaded.error.message,
             Contains("needs plug-in 'there-is-none', and there is no libtenon-plugin-there-is-none.so in "));
}
