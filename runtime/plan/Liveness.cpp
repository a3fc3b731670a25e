//===- Liveness.cpp - when the bytes of the arena hold something ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ends of all buffers cut the arena into stretches; within one all bytes share
// their fate. For each stretch: which instructions read and write it, where it is
// live (the usual walk backwards), and what hangs together there.
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/Liveness.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

namespace tenon::rt {

/// Steps that a plan may take, a second or so.
static constexpr uint64_t kMaxSteps = uint64_t(1) << 30;
static constexpr uint32_t kNone = UINT32_MAX;

uint64_t Liveness::peak() const {
  return liveBytes.empty() ? 0 : *std::max_element(liveBytes.begin(), liveBytes.end());
}

uint32_t Liveness::peakInstruction() const {
  assert(!liveBytes.empty() && "a plan has an instruction");
  return uint32_t(std::max_element(liveBytes.begin(), liveBytes.end()) - liveBytes.begin());
}

Extent extentOf(const Plan &plan, const Buffer &buffer, const int64_t *exprs, const uint8_t *exprKnown) {
  uint64_t arena = uint64_t(std::max<int64_t>(exprs[plan.arenaSize], 0));
  // Buffers that are out of bounds are rejected where addresses are computed.
  auto clamp = [&](int64_t offset, int64_t size) {
    uint64_t begin = std::min(arena, uint64_t(std::max<int64_t>(offset, 0)));
    return Extent{begin, begin + std::min(arena - begin, uint64_t(std::max<int64_t>(size, 0)))};
  };
  if (exprKnown[buffer.offset] && exprKnown[buffer.size])
    return clamp(exprs[buffer.offset], exprs[buffer.size]);
  return buffer.hasRoom() ? clamp(exprs[buffer.start], exprs[buffer.room]) : Extent{0, arena};
}

namespace {
/// Disjoint sets (union-find); the smallest member represents its set.
class Sets {
public:
  explicit Sets(size_t count) : parents(count) { clear(); }

  void clear() { std::iota(parents.begin(), parents.end(), 0); }
  uint32_t find(uint32_t member) {
    while (parents[member] != member)
      member = parents[member] = parents[parents[member]];
    return member;
  }
  void join(uint32_t a, uint32_t b) {
    a = find(a);
    b = find(b);
    parents[std::max(a, b)] = std::min(a, b);
  }

private:
  std::vector<uint32_t> parents;
};

/// The use of bytes [begin, end) of the arena by an instruction.
struct Use {
  uint32_t instruction, buffer;
  uint64_t begin, end;
  uint64_t overwritten; // up to where nothing of what was there is left; `begin` where something may be
  bool isRead, isWritten;
};

class Finder {
public:
  Finder(const Plan &plan, const int64_t *exprs, const uint8_t *exprKnown, Liveness &result)
      : plan(plan), exprs(exprs), exprKnown(exprKnown), result(result), count(uint32_t(plan.instructions.size())),
        groups(plan.buffers.size()), isRead(count), isOverwritten(count), isLive(2 * size_t(count)),
        places(2 * size_t(count)), extents(2 * size_t(count)), owners(2 * size_t(count)) {}

  bool run();

private:
  void addUse(uint32_t instruction, uint32_t operand);
  bool readsOperand(const Instruction &instruction, uint32_t operand) const;
  bool writesOperand(const Instruction &instruction, uint32_t operand) const;
  uint64_t overwrittenBy(const Instruction &instruction, const Use &use) const;
  template <typename Each> void forEachNext(uint32_t instruction, Each each) const;
  bool visitStretch(uint64_t begin, uint64_t end);
  bool findLive();
  void joinPlaces();
  void assignLives();

  // A range is live before an instruction, after it, or both: each instruction has two program points.
  static uint32_t before(uint32_t instruction) { return 2 * instruction; }
  static uint32_t after(uint32_t instruction) { return 2 * instruction + 1; }

  const Plan &plan;
  const int64_t *exprs;
  const uint8_t *exprKnown;
  Liveness &result;
  uint32_t count; // of instructions
  bool jumpsBack = false;
  uint64_t steps = 0;
  std::vector<Use> uses; // in the order of the instructions
  Sets groups;           // of buffers

  // Of the stretch at hand.
  std::vector<const Use *> here;
  std::vector<uint8_t> isRead, isOverwritten, isLive; // isLive: by place
  Sets places;
  // For each representative of a set: its live range, and one of its buffers.
  std::vector<LiveRange> extents;
  std::vector<uint32_t> owners;
};
} // namespace

bool Finder::readsOperand(const Instruction &instruction, uint32_t operand) const {
  const char *buffers = fmt::kInstructions[uint32_t(instruction.op)].buffers;
  if (*buffers != '*')
    return buffers[operand] == 'r';
  uint32_t results = plan.resultsOf(instruction);
  return !results || operand < instruction.buffers.count - results;
}

bool Finder::writesOperand(const Instruction &instruction, uint32_t operand) const {
  const char *buffers = fmt::kInstructions[uint32_t(instruction.op)].buffers;
  if (*buffers != '*')
    return buffers[operand] == 'w';
  uint32_t results = plan.resultsOf(instruction);
  return !results || operand >= instruction.buffers.count - results;
}

/// Kernels write all of their results; a copy or a fill may be shorter than its buffer.
uint64_t Finder::overwrittenBy(const Instruction &instruction, const Use &use) const {
  if (!use.isWritten || use.isRead)
    return use.begin;
  if (instruction.op != fmt::Opcode::copy && instruction.op != fmt::Opcode::fill)
    return use.end;
  uint32_t size = plan.sizes[instruction.exprs.begin];
  if (size == plan.buffers[use.buffer].size)
    return use.end;
  if (!exprKnown[size] || exprs[size] < 0)
    return use.begin;
  return use.begin + std::min(use.end - use.begin, uint64_t(exprs[size]));
}

void Finder::addUse(uint32_t index, uint32_t operand) {
  const Instruction &instruction = plan.instructions[index];
  uint32_t buffer = plan.operands[instruction.buffers.begin + operand];
  const Buffer &where = plan.buffers[buffer];
  if (where.storage != Storage::arena)
    return;
  auto [begin, end] = extentOf(plan, where, exprs, exprKnown);
  assert(begin <= end && "an extent is clamped to the arena");
  Use use{index, buffer, begin, end, begin, readsOperand(instruction, operand), writesOperand(instruction, operand)};
  // A write at the start of a room invalidates the rest of it, because parts are written in order.
  bool isAtStart = where.hasRoom() && exprKnown[where.offset] && exprs[where.offset] == exprs[where.start];
  if ((exprKnown[where.offset] && exprKnown[where.size]) || isAtStart)
    use.overwritten = overwrittenBy(instruction, use);
  if (use.begin < use.end)
    uses.push_back(use);
}

template <typename Each> void Finder::forEachNext(uint32_t index, Each each) const {
  const Instruction &instruction = plan.instructions[index];
  if (instruction.op == fmt::Opcode::jump || instruction.op == fmt::Opcode::branch_if_zero)
    each(instruction.a);
  if (instruction.op != fmt::Opcode::jump && instruction.op != fmt::Opcode::halt)
    each(index + 1);
}

/// Backward data-flow analysis, repeated until a fixed point because of backward jumps. Returns false if that takes too
/// long: the number of iterations may be that of the instructions.
bool Finder::findLive() {
  std::fill(isLive.begin(), isLive.end(), 0);
  bool changed;
  do {
    changed = false;
    steps += count;
    for (uint32_t i = count; i-- > 0;) {
      uint8_t live = 0;
      forEachNext(i, [&](uint32_t next) { live |= isLive[before(next)]; });
      isLive[after(i)] = live;
      uint8_t liveBefore = isRead[i] || (live && !isOverwritten[i]);
      changed |= liveBefore != isLive[before(i)];
      isLive[before(i)] = liveBefore;
    }
  } while (changed && jumpsBack && steps <= kMaxSteps);
  return steps <= kMaxSteps;
}

/// Places that one value passes are one set.
void Finder::joinPlaces() {
  places.clear();
  for (uint32_t i = 0; i < count; ++i) {
    if (isLive[before(i)] && isLive[after(i)] && !isOverwritten[i])
      places.join(before(i), after(i));
    forEachNext(i, [&](uint32_t next) {
      if (isLive[after(i)] && isLive[before(next)])
        places.join(after(i), before(next));
    });
  }
  std::fill(extents.begin(), extents.end(), LiveRange());
  for (uint32_t place = 0; place < 2 * count; ++place)
    if (isLive[place])
      extents[places.find(place)].add(place / 2);
}

/// Assigns this byte range to the buffers that hold one value, or that one instruction uses.
void Finder::assignLives() {
  std::fill(owners.begin(), owners.end(), kNone);
  uint32_t instruction = kNone, first = kNone;
  for (const Use *use : here) {
    if (use->instruction == instruction)
      groups.join(first, use->buffer);
    else
      first = use->buffer;
    instruction = use->instruction;
    LiveRange &range = result.ranges[use->buffer];
    range.add(instruction);
    for (auto [place, isUsed] : {std::pair(before(instruction), use->isRead), {after(instruction), use->isWritten}}) {
      if (!isUsed || !isLive[place])
        continue;
      uint32_t set = places.find(place);
      range.add(extents[set].first);
      range.add(extents[set].last);
      if (owners[set] == kNone)
        owners[set] = use->buffer;
      groups.join(owners[set], use->buffer);
    }
  }
}

bool Finder::visitStretch(uint64_t begin, uint64_t end) {
  assert(begin < end && "a stretch is between two different ends");
  here.clear();
  std::fill(isRead.begin(), isRead.end(), 0);
  std::fill(isOverwritten.begin(), isOverwritten.end(), 0);
  for (const Use &use : uses)
    if (use.begin <= begin && end <= use.end) {
      here.push_back(&use);
      isRead[use.instruction] |= use.isRead;
      isOverwritten[use.instruction] |= end <= use.overwritten;
    }
  if (here.empty())
    return true;
  if (!findLive())
    return false;
  joinPlaces();
  assignLives();
  auto next = here.begin();
  for (uint32_t i = 0; i < count; ++i) {
    while (next != here.end() && (*next)->instruction < i)
      ++next;
    bool isUsed = next != here.end() && (*next)->instruction == i;
    if (isUsed || isLive[before(i)] || isLive[after(i)])
      result.liveBytes[i] += end - begin;
  }
  return true;
}

bool Finder::run() {
  for (uint32_t i = 0; i < count; ++i) {
    const Instruction &instruction = plan.instructions[i];
    for (uint32_t operand = 0; operand < instruction.buffers.count; ++operand)
      addUse(i, operand);
    jumpsBack |=
        (instruction.op == fmt::Opcode::jump || instruction.op == fmt::Opcode::branch_if_zero) && instruction.a <= i;
  }
  std::vector<uint64_t> ends;
  for (const Use &use : uses)
    ends.insert(ends.end(), {use.begin, use.overwritten, use.end});
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  steps = ends.size() * (uint64_t(count) + uses.size());
  if (steps > kMaxSteps)
    return false;
  result.ranges.assign(plan.buffers.size(), LiveRange());
  result.liveBytes.assign(count, 0);
  for (size_t i = 0; i + 1 < ends.size(); ++i)
    if (!visitStretch(ends[i], ends[i + 1]))
      return false;
  result.groups.resize(plan.buffers.size());
  for (uint32_t i = 0; i < plan.buffers.size(); ++i)
    result.groups[i] = groups.find(i);
  return true;
}

bool findLiveness(const Plan &plan, const int64_t *exprs, const uint8_t *exprKnown, Liveness *result) {
  return Finder(plan, exprs, exprKnown, *result).run();
}

} // namespace tenon::rt
