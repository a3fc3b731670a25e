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

#include "runtime/plan/ResidentWeights.h"

#include "runtime/format/Kernel.h"

#include <algorithm>
#include <cassert>

namespace tenon::rt {

/// Limit for the steps of the analysis, some milliseconds; beyond it, all weights count as resident.
static constexpr uint64_t kMaxSteps = uint64_t(1) << 24;
/// A part of a page stays where the rest of it does.
static constexpr uint64_t kPage = 4096;

namespace {
/// Bytes from `begin` to `end`.
struct Stretch {
  uint64_t begin, end;

  bool operator<(const Stretch &other) const { return begin < other.begin; }
};
} // namespace

/// Computes the bytes that a buffer occupies; returns false if they are not known before the run.
static bool findStretch(const Plan &plan, const Buffer &buffer, uint64_t weightBytes, Stretch *stretch) {
  const Expr &offset = plan.exprs[buffer.offset], &size = plan.exprs[buffer.size];
  if (offset.op != ExprOp::constant || size.op != ExprOp::constant || offset.a < 0 || size.a < 0)
    return false;
  stretch->begin = std::min(uint64_t(offset.a), weightBytes);
  stretch->end = stretch->begin + std::min(uint64_t(size.a), weightBytes - stretch->begin);
  return true;
}

namespace {
/// The parts of the weights in which a plan has buffers.
class NamedWeights {
public:
  NamedWeights(const Plan &plan, uint64_t weightBytes);
  /// How many of the bytes from `begin` to `end`.
  uint64_t count(uint64_t begin, uint64_t end) const { return countUpTo(end) - countUpTo(begin); }

private:
  uint64_t countUpTo(uint64_t end) const;

  std::vector<Stretch> stretches; // in order, with a gap between them
  std::vector<uint64_t> before;   // bytes in the stretches before each
};
} // namespace

NamedWeights::NamedWeights(const Plan &plan, uint64_t weightBytes) {
  std::vector<Stretch> all;
  for (const Buffer &buffer : plan.buffers) {
    Stretch stretch{0, weightBytes};
    if (buffer.storage != Storage::weight)
      continue;
    findStretch(plan, buffer, weightBytes, &stretch);
    stretch.end = std::min((stretch.end + TENON_BUFFER_ALIGNMENT - 1) / TENON_BUFFER_ALIGNMENT * TENON_BUFFER_ALIGNMENT,
                           weightBytes);
    all.push_back(stretch);
  }
  std::sort(all.begin(), all.end());
  uint64_t bytes = 0;
  for (const Stretch &stretch : all) {
    if (!stretches.empty() && stretch.begin <= stretches.back().end) {
      bytes += std::max(stretch.end, stretches.back().end) - stretches.back().end;
      stretches.back().end = std::max(stretches.back().end, stretch.end);
      continue;
    }
    stretches.push_back(stretch);
    before.push_back(bytes);
    bytes += stretch.end - stretch.begin;
  }
}

uint64_t NamedWeights::countUpTo(uint64_t end) const {
  auto next = std::lower_bound(stretches.begin(), stretches.end(), Stretch{end, end});
  if (next == stretches.begin())
    return 0;
  const Stretch &last = next[-1];
  return before[size_t(next - stretches.begin()) - 1] + std::min(end, last.end) - last.begin;
}

namespace {
/// The use of bytes [begin, end) of the weights by an instruction.
struct WeightUse {
  uint32_t instruction;
  uint64_t begin, end;
  bool isRelease;
};

class Residency {
public:
  Residency(const Plan &plan, uint64_t weightBytes) : plan(plan), weightBytes(weightBytes), named(plan, weightBytes) {}
  uint64_t run();

private:
  void listUses();
  bool isResident(uint64_t begin, uint64_t end);

  const Plan &plan;
  uint64_t weightBytes;
  NamedWeights named;
  std::vector<WeightUse> uses;   // in the order of the instructions
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
      bool isRelease = instruction.op == fmt::Opcode::release;
      Stretch used{0, weightBytes};
      bool isKnown = findStretch(plan, buffer, weightBytes, &used);
      if (isRelease) {
        used.begin = (used.begin + kPage - 1) / kPage * kPage;
        used.end = used.end / kPage * kPage;
      }
      if (used.begin < used.end && (isKnown || !isRelease))
        uses.push_back({i, used.begin, used.end, isRelease});
    }
  }
}

/// Determines where a byte range is resident. Returns false if it is released before the run ends.
bool Residency::isResident(uint64_t begin, uint64_t end) {
  assert(begin < end && resident.size() == plan.instructions.size() &&
         "a stretch has bytes, and is looked at everywhere");
  auto next = uses.begin();
  bool is = false;
  for (uint32_t i = 0; i < plan.instructions.size(); ++i) {
    resident[i] = is;
    for (; next != uses.end() && next->instruction == i; ++next)
      if (next->begin <= begin && end <= next->end) {
        resident[i] = true;
        is = !next->isRelease;
      }
    // What is resident at the end of a loop is resident at the start of the next iteration.
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
  // A use that ends within a range counts as a use of the whole range.
  for (WeightUse &use : uses)
    if (!use.isRelease && !ends.empty()) {
      auto first = std::upper_bound(ends.begin(), ends.end(), use.begin),
           last = std::lower_bound(ends.begin(), ends.end(), use.end);
      use.begin = first == ends.begin() ? 0 : first[-1];
      use.end = last == ends.end() ? weightBytes : *last;
    }
  uint64_t kept = named.count(0, weightBytes);
  if (ends.size() * (uses.size() + plan.instructions.size()) > kMaxSteps)
    return kept;
  std::vector<uint64_t> live(plan.instructions.size());
  resident.resize(plan.instructions.size());
  for (size_t i = 0; i + 1 < ends.size(); ++i) {
    uint64_t bytes = named.count(ends[i], ends[i + 1]);
    if (!bytes || isResident(ends[i], ends[i + 1]))
      continue;
    assert(kept >= bytes && "what is let go of is a part of the weights that the plan names");
    kept -= bytes;
    for (size_t at = 0; at < live.size(); ++at)
      live[at] += resident[at] ? bytes : 0;
  }
  return kept + (live.empty() ? 0 : *std::max_element(live.begin(), live.end()));
}

uint64_t addUpWeights(const Plan &plan, uint64_t weightBytes) {
  return NamedWeights(plan, weightBytes).count(0, weightBytes);
}

uint64_t boundWeights(const Plan &plan, uint64_t weightBytes) { return Residency(plan, weightBytes).run(); }

} // namespace tenon::rt
