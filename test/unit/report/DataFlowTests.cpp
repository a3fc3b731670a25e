//===- DataFlowTests.cpp - who reads what was written --------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/DataFlow.h"
#include <catch2/catch.hpp>

using namespace tenon;
using fmt::Opcode;
using rt::Storage;

namespace {
/// A plan of one input and one output, built by hand. Expressions are the numbers that they are called by, those from
/// kUnknown on have no value.
class PlanBuilder {
public:
  static constexpr uint32_t kUnknown = 1000;

  PlanBuilder() {
    plan.inputs.resize(1);
    plan.outputs.resize(1);
    for (uint32_t results : {0, 1, 2})
      plan.kernels.push_back({"k", "k", 0, results, 0});
  }
  uint32_t addBuffer(Storage storage, uint32_t offset, uint32_t size, uint32_t index = 0) {
    plan.buffers.push_back({"", storage, index, offset, size});
    return plan.buffers.size() - 1;
  }
  /// Returns the number of the instruction's node.
  uint32_t add(Opcode op, std::vector<uint32_t> buffers, uint32_t a = 0, uint32_t b = 0) {
    rt::IndexRange range{uint32_t(plan.operands.size()), uint32_t(buffers.size())};
    plan.operands.insert(plan.operands.end(), buffers.begin(), buffers.end());
    plan.instructions.push_back({op, a, b, 0, range, {}, ""});
    return plan.instructions.size();
  }
  /// Launches a kernel that writes so many of the buffers, the last ones.
  uint32_t launch(std::vector<uint32_t> buffers, uint32_t results = 1) {
    return add(Opcode::launch, std::move(buffers), results);
  }
  DataFlow findFlow() const {
    return findDataFlow(plan,
                        [](uint32_t expr) { return expr < kUnknown ? std::optional<int64_t>(expr) : std::nullopt; });
  }
  std::vector<GraphEdge> find() const { return findFlow().edges; }
  uint32_t getOutput() const { return 1 + plan.instructions.size(); }

private:
  rt::Plan plan;
};
} // namespace

using Edges = std::vector<GraphEdge>;

TEST_CASE("what was written last is read, byte by byte") {
  PlanBuilder b;
  uint32_t in = b.addBuffer(Storage::input, 0, 16), out = b.addBuffer(Storage::output, 0, 16),
           all = b.addBuffer(Storage::arena, 0, 16), left = b.addBuffer(Storage::arena, 0, 8),
           right = b.addBuffer(Storage::arena, 8, 8), middle = b.addBuffer(Storage::arena, 4, 8),
           weight = b.addBuffer(Storage::weight, 0, 16);
  uint32_t first = b.launch({in, weight, all});
  uint32_t second = b.launch({in, left});
  uint32_t third = b.launch({middle, left, weight, right});
  uint32_t last = b.launch({all, out});
  // The third reads both halves of `middle`, the last the left one of the second and the right one of the third.
  CHECK(b.find() == Edges{{0, first},
                          {0, second},
                          {first, third},
                          {second, third},
                          {second, last},
                          {third, last},
                          {last, b.getOutput()}});
}

TEST_CASE("instructions read what the table says, and kernels that say nothing read and write all") {
  PlanBuilder b;
  uint32_t in = b.addBuffer(Storage::input, 0, 8), out = b.addBuffer(Storage::output, 0, 8),
           x = b.addBuffer(Storage::arena, 0, 8), y = b.addBuffer(Storage::arena, 8, 8);
  uint32_t fill = b.add(Opcode::fill, {x});
  uint32_t copy = b.add(Opcode::copy, {in, y});
  uint32_t unknown = b.launch({x, y}, /*results=*/0);
  uint32_t two = b.launch({in, x, y}, /*results=*/2);
  uint32_t branch = b.add(Opcode::branch_if_zero, {x}, 6);
  uint32_t write = b.add(Opcode::copy, {y, out});
  CHECK(
      b.find() ==
      Edges{
          {0, copy}, {0, two}, {fill, unknown}, {copy, unknown}, {two, branch}, {two, write}, {write, b.getOutput()}});
}

TEST_CASE("buffers of unknown places are connected with themselves, or within their heap block") {
  constexpr uint32_t kUnknown = PlanBuilder::kUnknown;
  PlanBuilder b;
  uint32_t in = b.addBuffer(Storage::input, 0, kUnknown), out = b.addBuffer(Storage::output, 0, kUnknown),
           x = b.addBuffer(Storage::arena, kUnknown, kUnknown), y = b.addBuffer(Storage::arena, kUnknown, kUnknown),
           part = b.addBuffer(Storage::heap, kUnknown, 4, 7), block = b.addBuffer(Storage::heap, 0, kUnknown, 7),
           other = b.addBuffer(Storage::heap, 0, kUnknown, 8);
  uint32_t first = b.launch({in, x});
  uint32_t second = b.launch({in, y});
  uint32_t third = b.launch({x, part});
  uint32_t fourth = b.launch({y, part});
  uint32_t fifth = b.launch({block, other});
  // The block begins again, unless it keeps what it holds.
  b.add(Opcode::reserve, {}, 7, 1);
  uint32_t sixth = b.launch({block, x});
  b.add(Opcode::reserve, {}, 7, 0);
  uint32_t last = b.launch({block, other, out});
  CHECK(b.find() == Edges{{0, first},
                          {0, second},
                          {first, third},
                          {second, fourth},
                          {third, fifth},
                          {third, sixth},
                          {fourth, fifth},
                          {fourth, sixth},
                          {fifth, last},
                          {last, b.getOutput()}});
}

TEST_CASE("the work is bounded where everything reads everything") {
  PlanBuilder small, large;
  for (auto [builder, count] : {std::pair(&small, 100), std::pair(&large, 4000)}) {
    uint32_t all = builder->addBuffer(Storage::heap, 0, PlanBuilder::kUnknown, 1);
    for (int i = 0; i < count; ++i)
      builder->launch({all, all});
  }
  DataFlow complete = small.findFlow(), partial = large.findFlow();
  CHECK(complete.isComplete);
  CHECK(complete.edges.size() == 100 * 99 / 2);
  CHECK_FALSE(partial.isComplete);
  CHECK(partial.edges.size() < 1'010'000);
}
