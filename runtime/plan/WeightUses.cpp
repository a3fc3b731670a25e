//===- WeightUses.cpp - which blocks of the weights instructions read ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/WeightUses.h"

#include <algorithm>

namespace tenon::rt {

uint64_t WeightUses::count(uint32_t instruction) const {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < of[instruction].count; ++i)
    sum += ranges[of[instruction].begin + i].count();
  return sum;
}

uint32_t WeightUses::follow(const Plan &plan, uint32_t instruction) const {
  const Instruction &at = plan.instructions[instruction];
  return at.op == fmt::Opcode::halt ? 0 : at.op == fmt::Opcode::jump ? at.a : instruction + 1;
}

uint32_t WeightUses::findNext(const Plan &plan, uint32_t instruction) const {
  // A walk that comes back to where it was has seen all that it can see.
  for (size_t steps = 0; steps <= of.size(); ++steps) {
    if (has(instruction))
      return instruction;
    instruction = follow(plan, instruction);
  }
  return kNone;
}

uint64_t WeightUses::largest() const {
  uint64_t most = 0;
  for (uint32_t i = 0; i < of.size(); ++i)
    most = std::max(most, count(i));
  return most;
}

std::vector<BlockRange> WeightUses::listByFirstUse() const {
  std::vector<uint8_t> seen(numBlocks);
  std::vector<BlockRange> order;
  for (const BlockRange &range : ranges)
    for (uint64_t block = range.begin; block < range.end; ++block) {
      if (seen[block])
        continue;
      seen[block] = 1;
      if (!order.empty() && order.back().end == block)
        ++order.back().end;
      else
        order.push_back({block, block + 1});
    }
  return order;
}

/// The blocks of one buffer.
static BlockRange findBlocks(const Plan &plan, const Buffer &buffer, uint64_t weightBytes) {
  const Expr &offset = plan.exprs[buffer.offset], &size = plan.exprs[buffer.size];
  if (offset.op != ExprOp::constant || size.op != ExprOp::constant || offset.a < 0 || size.a < 0)
    return {0, countBlocks(weightBytes)};
  uint64_t begin = std::min(uint64_t(offset.a), weightBytes),
           end = begin + std::min(uint64_t(size.a), weightBytes - begin);
  return begin == end ? BlockRange{0, 0} : BlockRange{begin / kWeightBlock, countBlocks(end)};
}

/// Adds what one instruction reads, in ascending order.
static void addRanges(const Plan &plan, const Instruction &instruction, uint64_t weightBytes, WeightUses &uses) {
  std::vector<BlockRange> own;
  for (uint32_t k = 0; k < instruction.buffers.count; ++k) {
    const Buffer &buffer = plan.buffers[plan.operands[instruction.buffers.begin + k]];
    if (buffer.storage != Storage::weight || instruction.op == fmt::Opcode::release)
      continue;
    if (BlockRange range = findBlocks(plan, buffer, weightBytes); range.count())
      own.push_back(range);
  }
  std::sort(own.begin(), own.end(), [](const BlockRange &a, const BlockRange &b) { return a.begin < b.begin; });
  uint32_t first = uint32_t(uses.ranges.size());
  for (const BlockRange &range : own) {
    if (uses.ranges.size() > first && range.begin <= uses.ranges.back().end)
      uses.ranges.back().end = std::max(uses.ranges.back().end, range.end);
    else
      uses.ranges.push_back(range);
  }
  uses.of.push_back({first, uint32_t(uses.ranges.size()) - first});
}

WeightUses listWeightUses(const Plan &plan, uint64_t weightBytes) {
  WeightUses uses;
  uses.numBlocks = countBlocks(weightBytes);
  uses.loops.resize(plan.instructions.size());
  for (uint32_t i = 0; i < plan.instructions.size(); ++i) {
    const Instruction &instruction = plan.instructions[i];
    addRanges(plan, instruction, weightBytes, uses);
    if (instruction.op == fmt::Opcode::jump && instruction.a <= i)
      for (uint32_t k = instruction.a; k <= i; ++k)
        ++uses.loops[k];
  }
  return uses;
}

} // namespace tenon::rt
