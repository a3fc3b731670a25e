//===- WeightUses.cpp - which blocks of the weights instructions read ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/WeightUses.h"

#include "runtime/plan/Intervals.h"

#include <algorithm>
#include <cassert>

namespace tenon::rt {

uint64_t WeightUses::count(uint32_t instruction) const {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < of[instruction].count; ++i)
    sum += ranges[of[instruction].begin + i].count();
  return sum;
}

uint32_t WeightUses::follow(const Plan &plan, uint32_t instruction) const {
  assert(instruction < plan.instructions.size() && "no instruction follows the last one, which does not fall through");
  const Instruction &at = plan.instructions[instruction];
  return at.op == fmt::Opcode::halt ? 0 : at.op == fmt::Opcode::jump ? at.a : instruction + 1;
}

uint32_t WeightUses::findNext(const Plan &plan, uint32_t instruction) const {
  // The number of steps is bounded, because a walk that repeats finds nothing new.
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

/// Returns the blocks that one buffer may extend into for all sizes.
static BlockRange findBlocks(const Buffer &buffer, const std::vector<Interval> &bounds, uint64_t weightBytes) {
  const Interval &offset = bounds[buffer.offset], &size = bounds[buffer.size];
  uint64_t begin = std::min(uint64_t(std::max<int64_t>(offset.min, 0)), weightBytes), end = weightBytes;
  if (offset.isBounded() && size.isBounded())
    end = std::min(uint64_t(std::max<int64_t>(offset.max, 0)) + uint64_t(std::max<int64_t>(size.max, 0)), weightBytes);
  return begin >= end ? BlockRange{0, 0} : BlockRange{begin / kWeightBlock, countBlocks(end)};
}

/// Adds the blocks that one instruction reads, in ascending order.
static void addRanges(const Plan &plan, const Instruction &instruction, const std::vector<Interval> &bounds,
                      uint64_t weightBytes, WeightUses &uses) {
  std::vector<BlockRange> own;
  for (uint32_t k = 0; k < instruction.buffers.count; ++k) {
    const Buffer &buffer = plan.buffers[plan.operands[instruction.buffers.begin + k]];
    if (buffer.storage != Storage::weight || instruction.op == fmt::Opcode::release)
      continue;
    if (BlockRange range = findBlocks(buffer, bounds, weightBytes); range.count())
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
  assert(uses.of.size() == static_cast<size_t>(&instruction - plan.instructions.data()) &&
         "instructions are added in their order");
  uses.of.push_back({first, uint32_t(uses.ranges.size()) - first});
}

WeightUses listWeightUses(const Plan &plan, uint64_t weightBytes) {
  WeightUses uses;
  uses.numBlocks = countBlocks(weightBytes);
  uses.loops.resize(plan.instructions.size());
  std::vector<Interval> bounds = boundExprs(plan, rangesOf(plan));
  for (uint32_t i = 0; i < plan.instructions.size(); ++i) {
    const Instruction &instruction = plan.instructions[i];
    addRanges(plan, instruction, bounds, weightBytes, uses);
    if (instruction.op == fmt::Opcode::jump && instruction.a <= i)
      for (uint32_t k = instruction.a; k <= i; ++k)
        ++uses.loops[k];
  }
  return uses;
}

} // namespace tenon::rt
