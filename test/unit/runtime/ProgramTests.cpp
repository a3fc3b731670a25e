//===- ProgramTests.cpp - several programs in one artifact ----------------===//
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

/// Of scaleAndAdd: one program for 4 elements, one for 1 to 16, and one for all, as the ranges of N tell apart.
static ArtifactBuilder threePrograms() {
  ArtifactBuilder b = scaleAndAdd();
  auto setRange = [&](int64_t min, int64_t max) {
    b.plan.symbols[0]->min = min;
    b.plan.symbols[0]->max = max;
  };
  setRange(4, 4);
  b.makeProgram("N=4");
  setRange(1, 16);
  b.makeProgram("N=1..16");
  setRange(0, 4096);
  return b;
}

static uint32_t programFor(Runner &r, size_t elements) {
  std::vector<float> x(elements, 3);
  REQUIRE(r.bind(0, x) == TENON_OK);
  REQUIRE(r.run() == TENON_OK);
  std::vector<float> y = r.output<float>(0);
  REQUIRE(y.size() == elements);
  for (size_t i = 0; i < elements; ++i)
    REQUIRE(y[i] == 6 + float(i) / 8);
  uint32_t program = 99;
  REQUIRE(tenon_session_program(r.session, &program, &r.error) == TENON_OK);
  return program;
}

TEST_CASE("the first program that the sizes fit is run") {
  Runner r(threePrograms());
  CHECK(programFor(r, 4) == 0);
  CHECK(programFor(r, 5) == 1);
  CHECK(programFor(r, 16) == 1);
  CHECK(programFor(r, 17) == 2);
  CHECK(programFor(r, 0) == 2);
  CHECK(programFor(r, 4) == 0);
}

TEST_CASE("a program may be chosen") {
  Runner r(threePrograms());
  REQUIRE(tenon_session_use_program(r.session, 2, &r.error) == TENON_OK);
  CHECK(programFor(r, 4) == 2);
  REQUIRE(tenon_session_use_program(r.session, 0, &r.error) == TENON_OK);
  CHECK(programFor(r, 4) == 0);
  std::vector<float> x(5);
  REQUIRE(r.bind(0, x) == TENON_OK);
  CHECK(r.run() == TENON_INVALID);
  CHECK(r.message() == "artifact: symbol 'N' is 5 in 'x', expected 4 to 4");
  REQUIRE(tenon_session_use_program(r.session, TENON_ANY_PROGRAM, &r.error) == TENON_OK);
  CHECK(programFor(r, 5) == 1);
  CHECK(tenon_session_use_program(r.session, 3, &r.error) == TENON_MISUSE);
}

TEST_CASE("sizes that no program takes are refused as the last says it") {
  Runner r(threePrograms());
  std::vector<float> x(5000);
  REQUIRE(r.bind(0, x) == TENON_OK);
  CHECK(r.run() == TENON_INVALID);
  CHECK(r.message() == "artifact: symbol 'N' is 5000 in 'x', expected 0 to 4096");
}

TEST_CASE("outputs stay bound from program to program") {
  Runner r(threePrograms());
  alignas(64) float y[32] = {};
  REQUIRE(tenon_session_bind_output(r.session, 0, y, sizeof y, &r.error) == TENON_OK);
  CHECK(programFor(r, 4) == 0);
  CHECK(y[3] == 6 + 3.0f / 8);
  CHECK(programFor(r, 20) == 2);
  CHECK(y[19] == 6 + 19.0f / 8);
}

TEST_CASE("programs are described") {
  Loaded loaded(threePrograms());
  REQUIRE(loaded.status == TENON_OK);
  REQUIRE(tenon_artifact_program_count(loaded.artifact) == 3);
  tenon_program_info info{};
  REQUIRE(tenon_artifact_program(loaded.artifact, 1, &info, nullptr) == TENON_OK);
  CHECK(std::string(info.sizes) == "N=1..16");
  CHECK(info.first_instruction == info.instruction_count);
  CHECK(tenon_artifact_program(loaded.artifact, 3, &info, nullptr) == TENON_MISUSE);
  tenon_artifact_info all{};
  tenon_artifact_describe(loaded.artifact, &all);
  CHECK(all.instruction_count == 3 * info.instruction_count);
  tenon_instruction_info instruction{};
  REQUIRE(tenon_artifact_instruction(loaded.artifact, info.first_instruction + 1, &instruction, nullptr) == TENON_OK);
  CHECK(std::string(instruction.name) == "Add_1");
}

TEST_CASE("programs that differ in inputs or outputs are refused") {
  auto refuses = [](auto change, const char *reason) {
    ArtifactBuilder b = threePrograms();
    change(b);
    Loaded loaded(b);
    CHECK(loaded.status == TENON_INVALID);
    CHECK_THAT(loaded.error.message, Contains(reason));
  };
  refuses([](auto &b) { b.plan.inputs[0]->name = "z"; }, "differ in input 0, 'x' and 'z'");
  refuses([](auto &b) { b.plan.inputs[0]->dtype = fmt::DType::i32; }, "differ in input 0");
  refuses([](auto &b) { b.plan.inputs[0]->dims.push_back(0); }, "differ in input 0");
  refuses([](auto &b) { b.plan.outputs[0]->role = fmt::Role::bytes; }, "differ in output 0");
  refuses([](auto &b) { b.output("more", fmt::DType::f32, {}); }, "have 1 and 2 outputs");
  refuses([](auto &b) { b.state("more", fmt::DType::f32, {4}); }, "have different states, 'more' is not the same");
  refuses([](auto &b) { b.plan.kernels[0]->name = "none"; }, "has no kernel 'none'");
  refuses(
      [](auto &b) {
        while (b.before.size() < fmt::kMaxPlans)
          b.makeProgram("N=4");
      },
      "65 plans");
}
