//===- ResidentWeights.cpp - how much of the weights a run has in memory --===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ends of what is let go of cut the weights into stretches, whose bytes share
// their fate.
//
//===----------------------------------------------------------------------===//

#include "runtime/core/ResidentWeights.h"

#include <algorithm>

namespace tenon::rt {

/// Steps that a plan may take, some milliseconds; one that takes more counts as keeping all weights.
static constexpr uint64_t kMaxSteps = uint64_t(1) << 24;
/// A part of a page stays where the rest of it does.
static constexpr uint64_t kPage = 4096;

namespace {
/// One instruction's use of weights, [begin, end) in bytes.
struct WeightUse {
  uint32_t instruction;
  uint64_t begin, end;
  bool isRelease;
};

class Residency {
public:
  Residency(const Plan &plan, uint64_t weightBytes) : plan(plan), weightBytes(weightBytes) {}
  uint64_t run();

private:
  void listUses();
  bool isResident(uint64_t begin, uint64_t end);

  const Plan &plan;
  uint64_t weightBytes;
  std::vector<WeightUse> uses; // in the order of the instructions
  std::vector<uint8_t> resident; // at each instruction, of the stretch at hand
};
} // namespace

void Residency::listUses() {
  for (uint32_t i = 0; i < plan.instructions.size(); ++i) {
    const Instruction &instruction = plan.instructions[i];
    for (uint32_t k = 0; k < instruction.buffers.count; ++k) {
      const Buffer &buffer = plan.buffers[plan.operands[instruction.buffers.begin + k]];
      if (buffer.storage != Storage::weight)
        continue;
      const Expr &offset = plan.exprs[buffer.offset], &size = plan.exprs[buffer.size];
      bool isRelease = instruction.op == fmt::Opcode::release;
      bool isKnown = offset.op == ExprOp::constant && size.op == ExprOp::constant && offset.a >= 0 && size.a >= 0;
      uint64_t begin = isKnown ? std::min(uint64_t(offset.a), weightBytes) : 0;
      uint64_t end = isKnown ? begin + std::min(uint64_t(size.a), weightBytes - begin) : weightBytes;
      if (isRelease) {
        begin = (begin + kPage - 1) / kPage * kPage;
        end = end / kPage * kPage;
      }
      if (begin < end && (isKnown || !isRelease))
        uses.push_back({i, begin, end, isRelease});
    }
  }
}

/// Finds where a stretch is in memory. False where it is let go of before the run ends.
bool Residency::isResident(uint64_t begin, uint64_t end) {
  auto next = uses.begin();
  bool is = false;
  for (uint32_t i = 0; i < plan.instructions.size(); ++i) {
    resident[i] = is;
    for (; next != uses.end() && next->instruction == i; ++next)
      if (next->begin <= begin && end <= next->end) {
        resident[i] = true;
        is = !next->isRelease;
      }
    // What is there at the end of a loop is there when it comes around.
    const Instruction &instruction = plan.instructions[i];
    bool jumps = instruction.op == fmt::Opcode::jump || instruction.op == fmt::Opcode::branch_if_zero;
    if (jumps && instruction.a <= i && is)
      std::fill(resident.begin() + instruction.a, resident.begin() + i, 1);
  }
  return is;
}

uint64_t Residency::run() {
  listUses();
  std::vector<uint64_t> ends;
  for (const WeightUse &use : uses)
    if (use.isRelease)
      ends.insert(ends.end(), {use.begin, use.end});
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  // Uses that end in a stretch count as uses of all of it.
  for (WeightUse &use : uses)
    if (!use.isRelease && !ends.empty()) {
      auto first = std::upper_bound(ends.begin(), ends.end(), use.begin), last = std::lower_bound(ends.begin(), ends.end(), use.end);
      use.begin = first == ends.begin() ? 0 : first[-1];
      use.end = last == ends.end() ? weightBytes : *last;
    }
  if (ends.size() * (uses.size() + plan.instructions.size()) > kMaxSteps)
    return weightBytes;
  std::vector<uint64_t> live(plan.instructions.size());
  resident.resize(plan.instructions.size());
  uint64_t kept = weightBytes;
  for (size_t i = 0; i + 1 < ends.size(); ++i) {
    if (isResident(ends[i], ends[i + 1]))
      continue;
    kept -= ends[i + 1] - ends[i];
    for (size_t at = 0; at < live.size(); ++at)
      live[at] += resident[at] ? ends[i + 1] - ends[i] : 0;
  }
  return kept + (live.empty() ? 0 : *std::max_element(live.begin(), live.end()));
}

uint64_t boundWeights(const Plan &plan, uint64_t weightBytes) { return Residency(plan, weightBytes).run(); }

} // namespace tenon::rt
